"""`handoff approve`: say yes or no to a plan that waits, or give another one; or to a tool that waits."""

import asyncio
from typing import TypedDict, Unpack

import click
import msgspec

from actors.bus.jetstream import JetStreamBus
from actors.cli.answer import SHORT
from actors.cli.confirm import how_to_confirm
from actors.cli.exit_code import COMPLETE, FAILED, USAGE
from actors.cli.failure import CommandError
from actors.cli.given import read_plan
from actors.cli.looking import look
from actors.cli.options import Place, json_option, placed
from actors.cli.progress import Progress
from actors.cli.review import how_to_approve
from actors.cli.sent_control import SentControl
from actors.cli.settling import Word, settle
from actors.cli.terminal import tell, write_json
from actors.cli.who import who
from actors.cli.wording import count
from actors.client import Client
from actors.people.waits import Waits
from actors.remote_run import Run
from actors.run.limits import Limits
from actors.run.plan_review import PlanControl
from actors.run.state import RunState
from actors.run_index import find_run
from protocol.controls import Approve, Edit, Reject
from protocol.errors import InvalidError
from protocol.events import PlanRejected, Waiting


class Options(TypedDict):
    """What can be said beside the run."""

    reject: str | None
    file: str | None
    task: str | None
    call: str | None
    asked: int | None
    deny: str | None
    by: str | None
    as_json: bool


@click.command()
@click.argument("run")
@click.option("--reject", metavar="COMMENT", help="Refuse the plan; the planner is told the comment.")
@click.option("--edit", "--plan", "file", metavar="FILE", help="Run this plan (JSON, - for standard input) instead.")
@click.option("--task", metavar="TASK", help="Not the plan: a tool that this task waits to run.")
@click.option("--call", metavar="CALL", help="Which call of the task, where several wait.")
@click.option("--asked", metavar="NUMBER", type=click.IntRange(min=1), help="Which plan or call you saw, as shown.")
@click.option("--deny", is_flag=False, flag_value="", metavar="[COMMENT]", help="Do not let the tool run.")
@click.option("--by", metavar="NAME", help="Who says so, if not the user of this process.")
@json_option
@placed
def approve(place: Place, run: str, **options: Unpack[Options]) -> int:
    """Approve the plan of RUN (its id, its first 4 digits or more, or `last`), which waits because of `--review`.

    With --asked, nothing is sent if another plan waits by now than the one that you saw (`handoff show` and `handoff
    inbox` print its number); without it, the plan that waits at this moment is meant.

    With --task, let the tool run that the worker of that task waits with (`handoff inbox` shows it), or --deny it.

    Waits for what comes of it as long as for the bus (--timeout).
    """
    _check(options)
    task = options["task"]
    control = _control(options["reject"], options["file"], who(options["by"]))
    settings = place.reading_settings()

    async def work(bus: JetStreamBus) -> int:
        name = await find_run(bus, run)
        async with Client(bus, settings=settings) as client:
            if task is None:
                sent = await _decide(client.run(name), control, options["asked"], place.patience_s)
                _write(sent, options)
                return COMPLETE
            word = Word(
                task=task,
                call=options["call"],
                asked=options["asked"],
                denied=options["deny"],
                by=who(options["by"]),
            )
            _write(await settle(client.run(name), word, place.patience_s), options)
            return COMPLETE

    return look(place, work)


def _write(sent: SentControl, options: Options) -> None:
    """Write what was sent as JSON if that is wanted; the words for a person are on standard error already."""
    if options["as_json"]:
        write_json(sent)


def _check(options: Options) -> None:
    if options["reject"] is not None and options["file"] is not None:
        raise click.UsageError("Either --reject or --edit, not both.")
    if options["reject"] is not None and not options["reject"].strip():
        raise click.UsageError("Say what should be different: --reject COMMENT. The planner reads the comment.")
    about_plan = options["reject"] is not None or options["file"] is not None
    about_tool = options["call"] is not None or options["deny"] is not None
    if options["task"] is None and about_tool:
        raise click.UsageError("--call and --deny are about a tool: say with --task which task waits.")
    if options["task"] is not None and about_plan:
        raise click.UsageError("--reject and --edit are about the plan, --task about a tool: --deny refuses it.")


def _control(reject: str | None, file: str | None, by: str) -> PlanControl:
    if file is not None:
        return Edit(plan=read_plan(file), by=by)
    return Approve(by=by) if reject is None else Reject(comment=reject, by=by)


async def _decide(run: Run, control: PlanControl, asked: int | None, within_s: float) -> SentControl:
    """Send the control about the plan that waits, unless it is not the one that the person saw.

    Waits for what comes of it; CommandError if the control had no effect.
    """
    progress, waits = Progress(Limits()), Waits()
    for entry in await run.past():
        progress.take(entry, 0.0)
        waits.take(entry)
    if progress.proposed is None:
        tools = "".join(f"; a tool waits: {how_to_confirm(call)}" for call in waits.calls(run.now()))
        raise InvalidError([f"run {run.id[:SHORT]} {_why_not(progress.state)}{tools}"])
    proposed = progress.state.review.proposed_seq
    if asked not in (None, proposed):
        raise InvalidError([f"run {run.id[:SHORT]}: {_stale(run, asked, proposed)}"])
    control = msgspec.structs.replace(control, asked=proposed)
    sequence = await run.control(control)
    sent = SentControl.of(run.id, control, sequence)
    try:
        async with asyncio.timeout(within_s):
            said, code = await outcome(run, control, sequence)
    except TimeoutError:
        tell(f"run {run.id[:SHORT]} was told; nothing has come of it yet: see handoff show {run.id[:SHORT]}")
        return sent
    if code != COMPLETE:
        raise CommandError([f"run {run.id[:SHORT]} {said}"], code)
    tell(f"run {run.id[:SHORT]} {said}")
    return msgspec.structs.replace(sent, outcome=said)


def _stale(run: Run, asked: int | None, proposed: int) -> str:
    look = f"look at it (handoff show {run.id[:SHORT]}), then: {how_to_approve(run.id, proposed)}"
    return f"plan {asked} does not wait any more, plan {proposed} does: nothing was sent; {look}"


def _why_not(state: RunState) -> str:
    if state.answer:
        return f"has ended already: {state.answer.status}"
    if state.request is None:
        return "is not taken up yet: there is no plan to approve"
    if state.plan is not None:
        return "does not wait for approval: its plan is being run"
    return "does not wait for approval: " + ("somebody has decided" if state.proposed else "there is no plan yet")


async def outcome(run: Run, control: PlanControl, sent: int) -> tuple[str, int]:
    """What the run did about the control that is stored at `sent`, in words, and the exit code for it."""
    progress = Progress(Limits())
    async for entry in run.record():
        progress.take(entry, 0.0)
        state = progress.state
        match state.review.effects.get(sent), entry.message:
            case "ignored", _:
                return "did not wait for this any more: another decision came first, see handoff show", FAILED
            case "refused", Waiting(reason=reason):
                return f"still waits: {reason}", USAGE
            case "applied", PlanRejected(faults=faults, reviewed=False):
                tell(f"no plan yet: {'; '.join(faults)}")
            case "applied", _ if state.plan is not None:
                own = "another plan is" if isinstance(control, Edit) else "its plan is"
                return f"goes on: {own} approved ({count(len(state.plan.tasks), 'task')})", COMPLETE
            case "applied", _ if progress.proposed is not None:
                tasks = count(len(progress.proposed.plan.tasks), "task")
                return f"has planned anew ({tasks}), and waits for approval", COMPLETE
            case _:
                pass
        if state.answer is not None:
            return f"has ended: {state.answer.status}", COMPLETE
    return "has ended", COMPLETE
