"""`handoff inbox`: what waits for a person; with `--as`, be that person, at a terminal or in one stroke."""

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable
from typing import TypedDict, Unpack

import click

from actors.bus.jetstream import JetStreamBus
from actors.cli.exit_code import COMPLETE
from actors.cli.failure import CommandError
from actors.cli.given import read_text
from actors.cli.inbox_talk import Talk
from actors.cli.inbox_words import as_data, left
from actors.cli.interrupt import Interrupt, interruptible
from actors.cli.looking import look
from actors.cli.options import Place, json_option, placed
from actors.cli.paper import Paper
from actors.cli.review import change_in_editor
from actors.cli.terminal import table, tell, write_json
from actors.cli.typed_lines import TypedLines, typed_lines
from actors.cli.waiting import tell_waiting
from actors.cli.who import who
from actors.cli.wording import age
from actors.clock import SystemClock
from actors.launcher.finding import find_team, is_defined
from actors.launcher.roles import instance_name
from actors.launcher.session import open_bus
from actors.people.inbox import ASKS, Inbox
from actors.people.person import PersonProcess
from actors.settings import Settings
from actors.supervisor.roster import read_cards
from actors.worker.definition import Worker
from protocol import streams
from protocol.errors import InvalidError
from protocol.ids import token_fault
from protocol.messages import ResultStatus

HEADERS = ["ref", "since", "left", "intent"]
Given = tuple[str, str] | None


class Options(TypedDict):
    """What can be said beside the place."""

    name: str | None
    summary: str | None
    listing: bool
    answer: Given
    decline: Given
    ask: Given
    by: str | None
    as_json: bool


@click.command()
@click.option("--as", "name", metavar="WORKER", help="Be this person: the planner may hand out work to you.")
@click.option("--summary", metavar="TEXT", help="What you are good for; the planner chooses by it.")
@click.option("--list", "listing", is_flag=True, help="Only list what is open.")
@click.option("--answer", nargs=2, metavar="REF TEXT", help="Answer one handoff (- for standard input).")
@click.option("--decline", nargs=2, metavar="REF REASON", help="Decline one; the planner is told the reason.")
@click.option("--ask", nargs=2, metavar="REF QUESTION", help="Give one back with a question; it is planned anew.")
@click.option("--by", metavar="NAME", help="Who answers, if not the user of this process.")
@json_option
@placed
def inbox(place: Place, **options: Unpack[Options]) -> int:
    """Everything that waits for a person: plans, tools, handoffs. With --as, be one, until you leave.

    REF is what --list shows: the beginning of the run, a slash, the task. --list, --answer, --decline and --ask work
    whether or not somebody has the inbox open; the first answer counts.
    """
    if options["name"] is None:
        _check_alone(options)
        team = place.settings().team if place.given("team") else ""

        async def show(bus: JetStreamBus) -> int:
            await tell_waiting(bus, team, as_json=options["as_json"])
            return COMPLETE

        return look(place, show)
    settings = place.settings()
    name = _check(options["name"], options)
    given, as_json = _given(options), options["as_json"]
    if given is not None:
        by = who(options["by"])

        async def answer(inbox: Inbox) -> int:
            return await _give(inbox, given, by, as_json=as_json)

        return look(place, lambda bus: _checked(bus, settings, name, answer))
    if options["listing"] or as_json:
        return look(place, lambda bus: _checked(bus, settings, name, lambda inbox: _list(inbox, as_json=as_json)))
    return interruptible(lambda interrupt: _attend(place, settings, options, interrupt))


def _check_alone(options: Options) -> None:
    own = ("summary", "listing", "answer", "decline", "ask")
    if any(options[name] for name in own):
        raise click.UsageError("Say with --as whose inbox is meant.")


def _check(name: str, options: Options) -> str:
    if fault := token_fault("worker", name):
        raise InvalidError([fault])
    strokes = [word for word in ("listing", "answer", "decline", "ask") if options[word]]
    if len(strokes) > 1:
        raise click.UsageError("Only one of --list, --answer, --decline and --ask at a time.")
    return name


def _inbox(bus: JetStreamBus, settings: Settings, name: str) -> Inbox:
    return Inbox(bus, settings.team, name)


async def _checked(bus: JetStreamBus, settings: Settings, name: str, work: Callable[[Inbox], Awaitable[int]]) -> int:
    """Do something with the inbox of a person that the team has; InvalidError with its persons if it has no such."""
    cards = await read_cards(bus, settings.team)
    defined = find_team(settings).workers if is_defined(settings) else ()
    people = {card.worker for _, card in cards if card.person} | {worker.name for worker in defined if worker.person}
    if name not in people:
        programs = {card.worker for _, card in cards} | {worker.name for worker in defined}
        queue = streams.task_queue(settings.team, name, settings.ack_wait)
        if name in programs or await bus.queue_state(queue) is None:
            known = ", ".join(sorted(people)) or "none"
            fault = f"team {settings.team!r} has no person {name!r} (persons: {known})"
            raise InvalidError([f"{fault}: `handoff inbox --as {name}` without further options makes you one"])
    return await work(_inbox(bus, settings, name))


def _given(options: Options) -> tuple[str, ResultStatus, str] | None:
    """The handoff, status and text of an answer in one stroke."""
    strokes: list[tuple[Given, ResultStatus, str]] = [
        (options["answer"], "completed", ""),
        (options["decline"], "declined", ""),
        (options["ask"], "declined", ASKS),
    ]
    for given, status, before in strokes:
        if given is not None:
            text = read_text(given[1]).strip()
            if not text:
                raise InvalidError([f"{given[0]}: say something"])
            return given[0], status, before + text
    return None


async def _give(inbox: Inbox, given: tuple[str, ResultStatus, str], by: str, *, as_json: bool) -> int:
    """Give an answer in one stroke; CommandError if another one came first."""
    ref, status, text = given
    item = await inbox.find(ref)
    if await inbox.give(item, status, text, by) is not None:
        raise CommandError([f"{item.ref}: another answer came first, {await inbox.fate(item.address)}"])
    tell(f"{item.ref}: {status}")
    if as_json:
        address = item.address
        write_json({"run": address.run, "task": address.task, "status": status, "by": by})
    return COMPLETE


async def _list(inbox: Inbox, *, as_json: bool) -> int:
    items, now = await inbox.open(), inbox.now()
    if as_json:
        write_json([as_data(item, now) for item in items])
    elif items:
        table(HEADERS, [[i.ref, age(now - i.since), left(i, now), i.handoff.intent] for i in items])
    else:
        tell("nothing is open")
    return COMPLETE


async def _attend(place: Place, settings: Settings, options: Options, interrupt: Interrupt) -> int:
    """Be the person until they leave: hold what is handed out, show it, and take what they type."""
    name, clock = options["name"] or "", SystemClock()
    async with open_bus(settings, timeout_s=place.patience_s, waiting=tell) as bus:
        worker = await _person(bus, settings, name, options["summary"])
        process = PersonProcess(worker, bus, clock, settings, instance=instance_name())
        is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        paper = Paper(is_terminal=is_terminal)
        talk = Talk(_inbox(bus, settings, name), paper, clock, who(options["by"]))
        stop = asyncio.Event()
        hint = ": type a number to read one, ? for help, q to leave" if is_terminal else ""
        tell(f"inbox of {name} in team {settings.team!r}{hint}")
        with typed_lines(is_terminal=is_terminal) as lines:
            async with asyncio.TaskGroup() as group:
                group.create_task(process.run(stop))
                await talk.begin()
                watch = group.create_task(talk.watch(bus, settings, name))
                serve = group.create_task(_serve(talk, lines, is_terminal=is_terminal))
                await interrupt.before(serve)
                for task in (watch, serve):
                    task.cancel()
                stop.set()
    return COMPLETE


async def _serve(talk: Talk, lines: TypedLines, *, is_terminal: bool) -> None:
    """Take what is typed; where nobody types any more, but at no terminal, the inbox stays open."""

    async def change(data: bytes) -> bytes:
        return await change_in_editor(data, "answer.md")

    with contextlib.suppress(EOFError):
        await talk.serve(lines, change)
        return
    if not is_terminal:
        await asyncio.Event().wait()


async def _person(bus: JetStreamBus, settings: Settings, name: str, summary: str | None) -> Worker:
    """The person as a worker; what they are good for is told by them, by the team, or by who was there before."""
    cards = [card for _, card in await read_cards(bus, settings.team) if card.worker == name]
    if any(not card.person for card in cards):
        raise InvalidError([f"{name} of team {settings.team!r} is not a person: its handoffs are done by a program"])
    if summary is None and is_defined(settings):
        known = find_team(settings).worker(name)
        if known is not None and not known.person:
            raise InvalidError([f"{name} of team {settings.team!r} is not a person: choose another name"])
        summary = known.summary if known else None
    told = summary or next((card.summary for card in cards if card.summary), f"{name.replace('-', ' ')}, a person")
    return Worker(name, summary=told, person=True)
