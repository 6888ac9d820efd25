"""The history of runs, read from the bus: which there are, and what became of each."""

import asyncio
from typing import Literal

import msgspec

from actors.bus.port import Bus, Stored
from observability.wording import about
from protocol import codec, streams, subjects
from protocol.errors import InvalidError, UndecodableError
from protocol.events import Approved, Event, Finished, Planned, PlanRejected, Replanned, Started
from protocol.ids import derived_run_id, is_run_id
from protocol.messages import Answer, Plan, Request, Result

SHORTEST = 4
LAST = "last"
RECENT = 20
"""Among how many runs with the newest messages the one that was asked last is looked for."""

HEX = frozenset("0123456789abcdef")

RunStatus = Literal["waiting", "planning", "review", "running", "complete", "partial", "failed", "cancelled"]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One run on one line. `began` is a Unix time; `seconds` is None while it goes on."""

    run: str
    status: RunStatus
    team: str
    began: float
    seconds: float | None = None
    tasks: int = 0
    done: int = 0
    text: str = ""


async def newest(bus: Bus, limit: int) -> list[Summary]:
    """The runs that something happened in last, and the requests nobody has taken yet; the newest first."""
    logs = await _last_logs(bus)
    recent = sorted(logs.values(), key=lambda stored: stored.seq)[-limit:]
    found = await asyncio.gather(*(_summary(bus, subjects.run_of(stored.subject)) for stored in recent))
    waiting = [summary for run, summary in (await waiting_requests(bus)).items() if run not in logs]
    known = [summary for summary in found if summary]
    return sorted(known + waiting, key=lambda summary: summary.began, reverse=True)[:limit]


async def waiting_requests(bus: Bus) -> dict[str, Summary]:
    """Every request that is not finished, by its run, as if nobody had taken it."""
    found: dict[str, Summary] = {}
    for stored in await bus.read(streams.REQUESTS, subjects.REQUESTS):
        try:
            request = codec.decode(stored.data, Request)
        except UndecodableError:
            continue  # a supervisor will bury it
        run = request.id or derived_run_id(streams.REQUESTS, stored.seq, stored.time_ns)
        team = subjects.request_team(stored.subject)
        found[run] = Summary(run=run, status="waiting", team=team, began=stored.time, text=about(request, None))
    return found


async def find_run(bus: Bus, given: str) -> str:
    """The run with this id or these first digits, or the one asked last; InvalidError if there is none, or several."""
    start = given.strip().lower()
    if start == LAST:
        return await _last_run(bus)
    if not set(start) <= HEX or not SHORTEST <= len(start) <= 32:
        raise InvalidError(
            [f"{given[:64]!r} is not the id of a run: give 32 hex digits, the first {SHORTEST} or more, or {LAST}"]
        )
    if is_run_id(start) and await bus.last(streams.RUNS, [subjects.log(start)]):
        return start
    runs = set(await _last_logs(bus)) | set(await waiting_requests(bus))
    matching = sorted(run for run in runs if run.startswith(start))
    if len(matching) == 1:
        return matching[0]
    if not matching:
        raise InvalidError([f"there is no run {start}: see `handoff runs`"])
    raise InvalidError([f"{start} may be any of {len(matching)} runs: {', '.join(matching[:5])}"])


async def _last_run(bus: Bus) -> str:
    recent = await newest(bus, RECENT)
    if not recent:
        raise InvalidError(['there is no run yet: begin with handoff ask "..."'])
    return recent[0].run


async def answer_of(bus: Bus, run: str) -> Answer | None:
    """The answer of a run, if it has ended."""
    last = await bus.last(streams.RUNS, [subjects.log(run)])
    event = _event(last[0]) if last else None
    return event.answer if isinstance(event, Finished) else None


async def _last_logs(bus: Bus) -> dict[str, Stored]:
    """The last event of each run."""
    found = await bus.last(streams.RUNS, [subjects.log("*")])
    return {subjects.run_of(stored.subject): stored for stored in found}


async def _summary(bus: Bus, run: str) -> Summary | None:
    log = await bus.read(streams.RUNS, subjects.log(run))
    events = [(event, stored.time) for stored in log if (event := _event(stored))]
    started = next(((event, at) for event, at in events if isinstance(event, Started)), None)
    if started is None:
        return None
    plan = _plan([event for event, _ in events])
    answer = next((event.answer for event, _ in events if isinstance(event, Finished)), None)
    results = await bus.last(streams.RUNS, [subjects.run_work(run, "result")]) if plan else []
    done = {subjects.address_of(stored.subject).task for stored in results if _completed(stored)}
    return Summary(
        run=run,
        status=answer.status if answer else _stage([event for event, _ in events]),
        team=started[0].request.team,
        began=started[1],
        seconds=answer.timing.wall_s if answer else None,
        tasks=len(plan.tasks) if plan else 0,
        done=len(done & {task.id for task in plan.tasks}) if plan else 0,
        text=about(started[0].request, plan),
    )


def _plan(events: list[Event]) -> Plan | None:
    """The newest plan."""
    found: Plan | None = None
    for event in events:
        if isinstance(event, Planned | Replanned | Approved):
            found = event.plan or found
    return found


def _stage(events: list[Event]) -> RunStatus:
    """Where a run stands that has not ended."""
    stage: RunStatus = "planning"
    review = False
    for event in events:
        match event:
            case Started(request=request):
                review = request.review
            case Planned():
                stage = "review" if review else "running"
            case Approved():
                stage = "running"
            case PlanRejected(reviewed=True):
                stage = "planning"
            case _:
                pass
    return stage


def _event(stored: Stored) -> Event | None:
    try:
        return codec.decode_event(stored.data)
    except UndecodableError:
        return None


def _completed(stored: Stored) -> bool:
    try:
        return codec.decode(stored.data, Result).status == "completed"
    except UndecodableError:
        return False
