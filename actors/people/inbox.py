"""The inbox of a person: the handoffs that wait for them, read from the stream, and the results they give back.

What always holds: the list does not depend on who holds the deliveries, so any number of inboxes show the same; a
result is written once, and whoever comes second is told what the first one said.
"""

import asyncio
import contextlib
from collections.abc import Sequence

import msgspec

from actors.artifacts import keep_text
from actors.bus.port import Bus
from actors.people.waits import OpenHandoff, Waits
from actors.record import read_run
from actors.run_index import open_runs
from actors.worker.run_end import ends_run
from protocol import codec, streams, subjects
from protocol.errors import ConflictError, HandoffError, InvalidError, TooLargeError, UndecodableError
from protocol.messages import Result, ResultStatus, Usage
from protocol.subjects import TaskAddress

ASKS = "asks for more: "
"""How the result of a person begins who asks for more: it is a declined one, so that the run is planned anew."""

AT_ONCE = 500


class Inbox:
    """What one kind of person is asked."""

    def __init__(self, bus: Bus, team: str, worker: str) -> None:
        self._bus = bus
        self._team = team
        self._worker = worker

    def now(self) -> float:
        """The server's time, which deadlines are compared with."""
        return self._bus.now()

    async def open(self) -> list[OpenHandoff]:
        """What waits now, the oldest first."""
        handed, done = await self._last("task"), await self._last("result")
        runs = sorted({address.run for address in set(handed) - set(done)})
        found = await asyncio.gather(*(waits_of(self._bus, run) for run in await _unfinished(self._bus, runs)))
        items = [item for waits in found for item in waits.handoffs(self._bus.now()) if self._is_ours(item.address)]
        return sorted(items, key=lambda item: item.since)

    async def find(self, ref: str) -> OpenHandoff:
        """The open handoff that is meant by `run/task`, or HandoffError with what became of it."""
        items = await self.open()
        meant = [item for item in items if matches(ref, item.address)]
        if len(meant) == 1:
            return meant[0]
        if meant:
            raise InvalidError([f"{ref} may be any of {', '.join(f'{i.address.run}/{i.address.task}' for i in meant)}"])
        for address in reversed(await self._last("task")):
            if matches(ref, address):
                raise HandoffError(f"{ref} is not open any more: {await self.fate(address)}")
        listed = ", ".join(item.ref for item in items[:10]) or "none"
        raise InvalidError([f"{self._worker} has no handoff {ref[:80]!r} (open: {listed})"])

    async def give(self, item: OpenHandoff, status: ResultStatus, output: str, by: str) -> Result | None:
        """Store a person's result; None if it counts, else the one that was there before."""
        run, _, worker, task, attempt = item.address
        result = Result(
            run=run,
            task=task,
            attempt=attempt,
            worker=worker,
            instance=by,
            status=status,
            output=output,
            usage=Usage(seconds=max(0.0, self._bus.now() - item.since)),
        )
        try:
            await self._store(result, item.address)
        except ConflictError:
            return await self.result(item.address)
        return None

    async def result(self, address: TaskAddress) -> Result | None:
        """The result that is stored, if any."""
        found = await self._bus.last(streams.RUNS, [address.result])
        try:
            return codec.decode(found[0].data, Result) if found else None
        except UndecodableError:
            return None

    async def fate(self, address: TaskAddress) -> str:
        """What became of a handoff that is not open any more."""
        if result := await self.result(address):
            said = result.output or (result.error.message if result.error else "")
            return f"{result.status} by {result.instance or 'somebody'}: {' '.join(said.split())[:200]}"
        waits = await waits_of(self._bus, address.run)
        if waits.state.answer:
            return f"its run has ended: {waits.state.answer.status}"
        if waits.over:
            return "its run is being ended"
        return "its time is up" if waits.handoffs(0.0) else "the plan no longer has it"

    async def _store(self, result: Result, address: TaskAddress) -> None:
        data = codec.encode(result)
        try:
            await self._bus.publish(address.result, data, expect=0)
        except TooLargeError as error:
            name = f"{address.run}.{address.task}.{address.attempt}.output"
            text, artifact = await keep_text(self._bus, name, result.output, error.limit // 2)
            short = msgspec.structs.replace(result, output=text, artifacts=(artifact,))
            await self._bus.publish(address.result, codec.encode(short), expect=0)

    async def _last(self, kind: subjects.Work) -> list[TaskAddress]:
        """Where handoffs or results stand, in order; what is no address is nobody's."""
        found: list[TaskAddress] = []
        for stored in await self._bus.last(streams.RUNS, [subjects.work_of(kind, self._team, self._worker)]):
            with contextlib.suppress(UndecodableError):
                found.append(subjects.address_of(stored.subject))
        return found

    def _is_ours(self, address: TaskAddress) -> bool:
        return (address.team, address.worker) == (self._team, self._worker)


def matches(ref: str, address: TaskAddress) -> bool:
    """Whether `run/task` means this one; the run by its beginning, the task whole."""
    run, _, task = ref.strip().partition("/")
    return bool(run) and address.run.startswith(run.lower()) and address.task == task


async def waits_of(bus: Bus, run: str) -> Waits:
    """What waits in one run."""
    waits = Waits()
    for entry in await read_run(bus, run):
        waits.take(entry)
    return waits


async def all_waits(bus: Bus) -> dict[str, Waits]:
    """What waits in every run that has not ended."""
    runs = await open_runs(bus)
    found = await asyncio.gather(*(waits_of(bus, run) for run in runs))
    return dict(zip(runs, found, strict=True))


async def _unfinished(bus: Bus, runs: Sequence[str]) -> list[str]:
    going: list[str] = []
    for at in range(0, len(runs), AT_ONCE):
        logs = await bus.last(streams.RUNS, [subjects.log(run) for run in runs[at : at + AT_ONCE]])
        going += [subjects.run_of(stored.subject) for stored in logs if not ends_run(stored)]
    return going
