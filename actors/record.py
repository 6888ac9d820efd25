"""The record of a run: its messages as they stand in the stream, read back and understood."""

import asyncio
from collections.abc import Iterable, Mapping

import msgspec

from actors.artifacts import whole_answer
from actors.bus.port import Bus, Stored
from actors.by_reference import whole
from observability.logger import get_logger
from observability.redaction import redacted
from protocol import codec, streams, subjects
from protocol.controls import Control
from protocol.errors import UndecodableError
from protocol.events import Event, Finished
from protocol.messages import Fault, Handoff, Result, Usage
from protocol.steps import Step

MOST_SPENT = 10**12

log = get_logger()

Entry = Event | Handoff | Step | Result | Control


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a run, with its place and time."""

    seq: int
    time: float
    subject: str
    message: Entry


def understand(stored: Stored) -> Recorded | None:
    """What a stored message of a run says; None for what nobody can read.

    An unreadable Result is a failed one: its subject is written once, so nothing better will ever stand there.
    """
    kind = subjects.kind_of(stored.subject)
    try:
        message = _decode(kind, stored)
    except UndecodableError as error:
        message = _unreadable(stored, error) if kind == "result" else None
        if message is None:
            log.warning("message.unreadable", subject=stored.subject, seq=stored.seq, error=str(error))
            return None
    return Recorded(seq=stored.seq, time=stored.time, subject=stored.subject, message=message)


async def understand_whole(bus: Bus, stored: Iterable[Stored]) -> list[Recorded]:
    """What stored messages of a run say. Events and Steps that were sent by reference are loaded."""
    return [entry for one in await whole(bus, stored) if (entry := understand(one))]


async def read_run(bus: Bus, run: str) -> list[Recorded]:
    """Everything that is stored of a run, in order."""
    return await understand_whole(bus, await bus.read(streams.RUNS, subjects.run_tree(run)))


async def read_whole_run(bus: Bus, run: str) -> list[Recorded]:
    """The same, with the text of the answer whole, even if that was too long for a message."""
    record = await read_run(bus, run)
    if not record or not isinstance(last := record[-1].message, Finished):
        return record
    finished = Finished(answer=await whole_answer(bus, last.answer))
    return [*record[:-1], msgspec.structs.replace(record[-1], message=finished)]


async def complete_run(bus: Bus, run: str, results: Mapping[str, Recorded]) -> list[Recorded]:
    """Everything that is stored of a run, in order; `results` were heard, by subject, and are not read again.

    Each is written once, so what was heard is what is stored. If one is missing, all are read.
    """
    trees = (subjects.log(run), subjects.run_work(run, "task"), subjects.run_work(run, "step"), subjects.control(run))
    parts = await asyncio.gather(*(bus.read(streams.RUNS, tree) for tree in trees))
    try:
        heard = [results[subjects.address_of(stored.subject).result] for stored in parts[1]]
    except (KeyError, UndecodableError):
        parts.append(await bus.read(streams.RUNS, subjects.run_work(run, "result")))
        heard = []
    found = await understand_whole(bus, [stored for part in parts for stored in part])
    return sorted(found + heard, key=lambda entry: entry.seq)


def _decode(kind: str, stored: Stored) -> Entry:
    match kind:
        case "log":
            return codec.decode_event(stored.data)
        case "task":
            return codec.decode(stored.data, Handoff)
        case "step":
            return codec.decode_step(stored.data)
        case "result":
            return _own(codec.decode(stored.data, Result), stored)
        case "control":
            return codec.decode_control(stored.data)
        case _:
            raise UndecodableError(f"nothing of a run is called {kind!r}")


def _own(result: Result, stored: Stored) -> Result:
    """The subject says whose result it is: it was checked against the writer's rights, the body was not."""
    run, _, worker, task, attempt = subjects.address_of(stored.subject)
    if result.error:
        # A worker in another language may have looked after no secret; reasons in events are made of this.
        fault = msgspec.structs.replace(result.error, message=redacted(result.error.message))
        result = msgspec.structs.replace(result, error=fault)
    if not _is_possible(result.usage):
        log.warning("usage.impossible", subject=stored.subject)
        result = msgspec.structs.replace(result, usage=Usage(usd=None))
    if (result.run, result.worker, result.task, result.attempt) == (run, worker, task, attempt):
        return result
    return msgspec.structs.replace(result, run=run, worker=worker, task=task, attempt=attempt)


def _is_possible(usage: Usage) -> bool:
    """Whether so much can have been spent: less than nothing would give a run more budget than it has."""
    told = msgspec.structs.astuple(usage)
    return all(value is None or 0 <= value <= MOST_SPENT for value in told)


def _unreadable(stored: Stored, error: UndecodableError) -> Result | None:
    try:
        run, _, worker, task, attempt = subjects.address_of(stored.subject)
    except UndecodableError:
        return None  # nobody's result
    fault = Fault(kind="undecodable", message=f"the worker's result cannot be read: {error}", retryable=True)
    return Result(run=run, task=task, attempt=attempt, worker=worker, status="failed", error=fault)
