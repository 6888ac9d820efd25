"""`handoff approve`: say yes or no to a plan that waits, or give another one."""

import asyncio

import click

from actors.bus.jetstream import JetStreamBus
from actors.cli.answer import SHORT
from actors.cli.exit_code import USAGE
from actors.cli.given import read_plan
from actors.cli.history import find_run
from actors.cli.looking import look
from actors.cli.options import Place, placed
from actors.cli.progress import Progress
from actors.cli.terminal import tell
from actors.cli.wording import count
from actors.client import Client, Run
from actors.run.state import Limits, RunState
from protocol.controls import Approve, Control, Edit, Reject
from protocol.errors import InvalidError
from protocol.events import PlanRejected, Waiting

WAIT_S = 5.0


@click.command()
@click.argument("run")
@click.option("--reject", metavar="COMMENT", help="Refuse the plan; the planner is told the comment.")
@click.option("--plan", "file", metavar="FILE", help="Run this plan (JSON, - for standard input) instead.")
@placed
def approve(place: Place, run: str, reject: str | None, file: str | None) -> int:
    """Approve the plan of RUN (its id, or the first 6 characters or more), which waits because of `--review`."""
    if reject is not None and file is not None:
        raise click.UsageError("Either --reject or --plan, not both.")
    control = _control(reject, file)
    settings = place.settings()

    async def work(bus: JetStreamBus) -> int:
        name = await find_run(bus, run)
        async with Client(bus, settings=settings) as client:
            return await _decide(client.run(name), control)

    return look(place, work)


def _control(reject: str | None, file: str | None) -> Control:
    if file is not None:
        return Edit(plan=read_plan(file))
    return Approve() if reject is None else Reject(comment=reject)


async def _decide(run: Run, control: Control) -> int:
    progress = Progress(Limits())
    for entry in await run.past():
        progress.take(entry, 0.0)
    if progress.proposed is None:
        raise InvalidError([f"run {run.id[:SHORT]} {_why_not(progress.state)}"])
    await run.control(control)
    try:
        async with asyncio.timeout(WAIT_S):
            said, code = await _outcome(run, control, progress.state)
    except TimeoutError:
        said, code = f"was told; nothing has come of it yet: see handoff show {run.id[:SHORT]}", 0
    tell(f"run {run.id[:SHORT]} {said}")
    return code


def _why_not(state: RunState) -> str:
    if state.answer:
        return f"has ended already: {state.answer.status}"
    if state.request is None:
        return "is not taken up yet: there is no plan to approve"
    if state.plan is not None:
        return "does not wait for approval: its plan is being run"
    return "does not wait for approval: " + ("somebody has decided" if state.proposed else "there is no plan yet")


async def _outcome(run: Run, control: Control, before: RunState) -> tuple[str, int]:
    """What the run did about a control, in words, and the exit code for it."""
    progress = Progress(Limits())
    refused = False
    async for entry in run.record():
        progress.take(entry, 0.0)
        state = progress.state
        new = len(state.rejections) > len(before.rejections)
        refused = refused or (new and state.rejections[-1].reviewed)
        match entry.message:
            case Waiting(reason=reason, control=heard) if heard > before.controls_done and isinstance(control, Edit):
                return f"still waits: {reason}", USAGE
            case PlanRejected(faults=faults, reviewed=False) if refused:
                tell(f"no plan yet: {'; '.join(faults)}")
            case _:
                pass
        if state.answer is not None:
            return f"has ended: {state.answer.status}", 0
        if state.plan is not None:
            own = "another plan is" if isinstance(control, Edit) else "its plan is"
            return f"goes on: {own} approved ({count(len(state.plan.tasks), 'task')})", 0
        if refused and progress.proposed is not None:
            return f"has planned anew ({count(len(progress.proposed.plan.tasks), 'task')}), and waits for approval", 0
    return "has ended", 0
