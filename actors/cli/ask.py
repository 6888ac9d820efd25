"""`handoff ask`: one request, from its text to its answer."""

import asyncio
import contextlib
import os
import sys
from pathlib import Path
from typing import TypedDict, Unpack

import click
import msgspec

from actors.cli.answer import tell_summary, write_markdown
from actors.cli.exit_code import INTERRUPTED, OF_STATUS
from actors.cli.failure import CommandError
from actors.cli.follow import CANCEL_S, follow, view_of
from actors.cli.given import STDIN, read_plan, read_request, read_text
from actors.cli.interrupt import Interrupt, interruptible
from actors.cli.opening import Wanted, opened
from actors.cli.options import POSITIVE, Place, json_option, placed
from actors.cli.storage_check import busy_reason
from actors.cli.terminal import tell, write, write_json
from actors.cli.wording import about, cache_hit_rate
from actors.client import Client, checked
from actors.launcher.embedded import find
from actors.remote_run import Run
from actors.settings import Settings
from protocol.messages import Budget, Request


class Options(TypedDict):
    """What can be said beside the text."""

    data: Path | None
    plan: str | None
    no_synthesis: bool
    deadline: float | None
    budget_usd: float | None
    budget_tokens: int | None
    as_json: bool
    review: bool
    detach: bool
    no_start: bool


@click.command()
@click.argument("text", required=False)
@click.option("--data", type=click.Path(path_type=Path), help="Folder that the team's tools work on.")
@click.option("--plan", metavar="FILE", help="Run this plan (JSON, - for standard input) instead of planning.")
@click.option("--no-synthesis", is_flag=True, help="The results as they are, without a text made of them.")
@click.option("--deadline", type=POSITIVE, metavar="S", help="After that the best partial answer counts.")
@click.option("--budget-usd", type=POSITIVE, metavar="USD", help="The run may cost so many dollars.")
@click.option("--budget-tokens", type=click.IntRange(min=1), metavar="N", help="The run may spend so many tokens.")
@click.option("--review", is_flag=True, help="Wait after planning until a person approves the plan.")
@click.option("--detach", is_flag=True, help="Print the id of the run and leave; a team must be running.")
@click.option("--no-start", is_flag=True, help="Use only what is running; start nothing.")
@json_option
@placed
def ask(place: Place, text: str | None, **options: Unpack[Options]) -> int:
    """Ask TEXT, watch the work, and get one answer. TEXT comes from standard input if it is - or left out.

    Starts an embedded bus and the team if none is running, and stops them at the end. On a bus that is named (NATS_URL,
    --nats) it starts nothing: a supervisor of the team must be running there. Ctrl-C cancels the run.
    """
    data = options["data"]
    settings = place.settings(data=str(data.absolute()) if data else None)
    request = checked(_request(text, settings, options), settings)
    wanted = Wanted(
        settings=settings,
        plan=request.plan,
        budget=request.budget,
        start=not (options["no_start"] or options["detach"]),
        own_data=data is not None,
        timeout_s=place.patience_s,
    )
    return interruptible(lambda interrupt: _ask(wanted, request, options, Asking(interrupt, place.verbose)))


class Asking(msgspec.Struct, frozen=True):
    """How one request is followed."""

    interrupt: Interrupt
    verbose: bool


def _request(text: str | None, settings: Settings, options: Options) -> Request:
    plan = options["plan"]
    if text == STDIN and plan == STDIN:
        raise click.UsageError("The text and the plan cannot both come from standard input.")
    request = Request(
        text=read_text(text or "") if plan else read_request(text),
        team=settings.team,
        plan=read_plan(plan) if plan else None,
        synthesis=not options["no_synthesis"],
        budget=Budget(tokens=options["budget_tokens"], usd=options["budget_usd"]),
        deadline_s=options["deadline"],
        review=options["review"],
    )
    if not request.text.strip() and not plan:
        nothing = "Nothing came on standard input. " if text == STDIN else ""
        raise click.UsageError(f'{nothing}Say what you want: handoff ask "Which region grew fastest?"')
    return request


async def _ask(wanted: Wanted, request: Request, options: Options, asking: Asking) -> int:
    async with opened(wanted, asking.interrupt) as (bus, settings), Client(bus, settings=settings) as client:
        if busy := await asking.interrupt.guard(busy_reason(bus)):
            tell(busy)
        run = await asking.interrupt.guard(client.submit(request))
        if options["detach"]:
            if options["as_json"]:
                write_json({"run": run.id})
            else:
                write(run.id)
            return 0
        view = view_of(settings, about(request, None), plain=asking.verbose)
        try:
            answer = await follow(run, bus, view, asking.interrupt)
        except BrokenPipeError:
            await _nobody_listens(run)
            raise
        if answer is None:
            raise CommandError([f"run {run.id} has not ended yet: see handoff show {run.id[:8]}"], INTERRUPTED)
        if options["as_json"]:
            write_json({**answer.to_dict(), "cache_hit_rate": cache_hit_rate(answer.usage)})
        else:
            write_markdown(answer.text)
        sys.stdout.flush()
        tell_summary(answer, ends_with_us=await asyncio.to_thread(_is_our_bus, settings))
    return INTERRUPTED if asking.interrupt.wished else OF_STATUS[answer.status]


async def _nobody_listens(run: Run) -> None:
    """The reader of our output is gone: a run that nobody waits for is not paid for."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(CANCEL_S):
            await run.cancel("nobody reads the output any more")


def _is_our_bus(settings: Settings) -> bool:
    """Whether the embedded bus was started by this command, and stops with it."""
    address = find(settings.home_dir)
    return address is not None and address.owner == os.getpid()
