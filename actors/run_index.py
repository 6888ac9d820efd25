"""The index of runs: one entry for each run, written by its supervisor, read by every list of runs.

Reading the newest 20 of 100,000 runs costs as much as reading 20 of 100: the entries that changed last stand at the
end of the stream HANDOFF_INDEX. A request that no supervisor has taken yet is in no index, but in HANDOFF_REQUESTS.
"""

from typing import Literal

import msgspec

from actors.bus.port import Bus, Stored
from observability.wording import about
from protocol import codec, streams, subjects
from protocol.errors import InvalidError, UndecodableError
from protocol.events import Event, Finished
from protocol.ids import derived_run_id, is_run_id
from protocol.messages import Answer, Request, RunEntry

SHORTEST = 4
LAST = "last"
RECENT = 20
"""Among how many runs that changed last the one that was asked last is looked for."""

HEX = frozenset("0123456789abcdef")

RunStatus = Literal["waiting", "planning", "review", "running", "complete", "partial", "failed", "cancelled"]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One run on one line. `began` is a Unix time; `seconds` is None while it goes on, `usd` if a price is unknown.

    `status` is a RunStatus, or one that a newer supervisor wrote. `waiting` counts what waits for a person.
    """

    run: str
    status: str
    team: str
    began: float
    seconds: float | None = None
    tasks: int = 0
    done: int = 0
    text: str = ""
    usd: float | None = 0.0
    waiting: int = 0


async def newest(bus: Bus, limit: int, team: str = "") -> list[Summary]:
    """The runs that changed last and the newest requests that wait, of one team or of all; the newest first."""
    entries = await _newest_entries(bus, limit, team)
    waiting = await _newest_waiting(bus, limit, team)
    found = [*map(_summary, entries), *waiting]
    return sorted(found, key=lambda summary: summary.began, reverse=True)[:limit]


async def waiting_requests(bus: Bus) -> dict[str, Summary]:
    """Every request that is not finished, by its run, as if no supervisor had taken it."""
    return _as_waiting(await bus.read(streams.REQUESTS, subjects.REQUESTS))


async def find_run(bus: Bus, given: str) -> str:
    """The run with this id or these first digits, or the one asked last; InvalidError if there is none, or several."""
    start = given.strip().lower()
    if start == LAST:
        return await _last_run(bus)
    if not set(start) <= HEX or not SHORTEST <= len(start) <= 32:
        raise InvalidError(
            [f"{given[:64]!r} is not the id of a run: give 32 hex digits, the first {SHORTEST} or more, or {LAST}"]
        )
    if is_run_id(start) and await is_known(bus, start):
        return start
    indexed = await bus.counts(streams.INDEX, subjects.INDEX)
    runs = {subjects.indexed_run(subject) for subject in indexed} | set(await waiting_requests(bus))
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


async def is_known(bus: Bus, run: str) -> bool:
    """True if the run has a log, or a request that waits for a supervisor."""
    log = [subjects.log(run)]
    if await bus.last(streams.RUNS, log) or run in await waiting_requests(bus):
        return True
    return bool(await bus.last(streams.RUNS, log))  # it may have begun and ended between the two reads


async def answer_of(bus: Bus, run: str) -> Answer | None:
    """The answer of a run, if it has ended."""
    last = await bus.last(streams.RUNS, [subjects.log(run)])
    event = _event(last[0]) if last else None
    return event.answer if isinstance(event, Finished) else None


async def open_runs(bus: Bus) -> list[str]:
    """The runs that a supervisor has begun and not ended, the oldest request first.

    The request of a run stays in its stream until the run has ended, so only unfinished requests are read.
    """
    requested = list(await waiting_requests(bus))
    logs = await bus.last(streams.RUNS, [subjects.log(run) for run in requested])
    begun = {subjects.run_of(stored.subject) for stored in logs if not isinstance(_event(stored), Finished)}
    return [run for run in requested if run in begun]


async def _newest_entries(bus: Bus, limit: int, team: str) -> list[RunEntry]:
    """The entries that changed last. Runs inside another run are not listed, so more may have to be read."""
    pattern = subjects.index_of(team) if team else subjects.INDEX
    wanted = limit
    while True:
        stored = await bus.newest(streams.INDEX, pattern, wanted)
        listed = [entry for message in stored if (entry := _entry(message)) and entry.parent is None]
        if len(listed) >= limit or len(stored) < wanted:
            return listed[-limit:]
        wanted *= 4


async def _newest_waiting(bus: Bus, limit: int, team: str) -> list[Summary]:
    """The newest requests without an entry: no supervisor has taken them."""
    pattern = subjects.request(team) if team else subjects.REQUESTS
    requested = _as_waiting(await bus.newest(streams.REQUESTS, pattern, limit))
    entries = [subjects.index(summary.team, run) for run, summary in requested.items()]
    taken = {subjects.indexed_run(stored.subject) for stored in await bus.last(streams.INDEX, entries)}
    return [summary for run, summary in requested.items() if run not in taken]


def _as_waiting(requests: list[Stored]) -> dict[str, Summary]:
    found: dict[str, Summary] = {}
    for stored in requests:
        try:
            request = codec.decode(stored.data, Request)
        except UndecodableError:
            continue  # a supervisor dead-letters it
        run = request.id or derived_run_id(streams.REQUESTS, stored.seq, stored.time_ns)
        team = subjects.request_team(stored.subject)
        found[run] = Summary(run=run, status="waiting", team=team, began=stored.time, text=about(request, None))
    return found


def _entry(stored: Stored) -> RunEntry | None:
    """The entry of the run in the subject: the server checked the subject against the rights of the writer."""
    try:
        entry = codec.decode(stored.data, RunEntry)
    except UndecodableError:
        return None
    run, team = subjects.indexed_run(stored.subject), subjects.indexed_team(stored.subject)
    return msgspec.structs.replace(entry, run=run, team=team)


def _summary(entry: RunEntry) -> Summary:
    return Summary(
        run=entry.run,
        status=entry.status,
        team=entry.team,
        began=entry.started,
        seconds=None if entry.finished is None else entry.finished - entry.started,
        tasks=entry.tasks,
        done=entry.done,
        text=entry.text,
        usd=entry.usd,
        waiting=entry.waiting,
    )


def _event(stored: Stored) -> Event | None:
    try:
        return codec.decode_event(stored.data)
    except UndecodableError:
        return None
