"""The journal of one run: appends in compare-and-set, and reads of the past.

The expected sequence comes only from our own appends. A foreign event in the log means that somebody else has the run:
folding it in would take the fence down.
"""

import asyncio
from collections.abc import Iterable

import msgspec

from actors.bus.port import Bus, Stored
from actors.by_reference import send, whole
from actors.clock import Clock
from actors.lease import Lease
from actors.record import Recorded, understand
from actors.supervisor.run_errors import AgedOutError
from protocol import codec, streams, subjects
from protocol.errors import BusError, ConflictError, FencedError, UndecodableError, UnknownTypeError
from protocol.events import Event, Finished, RunGivenBack

READ_TRIES = 20
READ_AGAIN_S = 0.1


class Reading(msgspec.Struct, frozen=True):
    """What is stored of a run.

    `unknown` names the types of Events that only a newer version understands. `log_began` is when the first message of
    the log was stored, 0 without a log.
    """

    entries: tuple[Recorded, ...]
    unknown: tuple[str, ...]
    log_began: float = 0.0


class Journal:
    """The log of one run, held under one lease."""

    def __init__(self, bus: Bus, run: str, lease: Lease, clock: Clock) -> None:
        self._bus = bus
        self._run = run
        self._lease = lease
        self._clock = clock
        self._appended_at = clock.monotonic()
        self._seq = 0
        self._holds = False
        self._tail: asyncio.Future[int] | None = None
        self._tail_sent = 0.0
        self._sending = asyncio.Lock()
        self._control_seq = 0
        self._result_seq = 0

    @property
    def holds(self) -> bool:
        """Whether this process took the run, and neither ended it nor gave it back."""
        return self._holds

    async def give_back(self, supervisor: str, reason: str) -> None:
        """Write that this process returns the run on purpose, if it holds it: the next taking is no loss then."""
        if self._holds:
            await self.append(RunGivenBack(supervisor=supervisor, reason=reason))

    async def append(self, event: Event, *, wait: bool = True) -> None:
        """Write an event behind our last one, or raise FencedError. Without `wait`, the next append finds out."""
        async with self._sending:
            await self.settle()
            self._tail_sent = self._lease.sent()
            ends = isinstance(event, Finished | RunGivenBack)
            self._holds = self._holds and not ends
            self._tail = await send(self._bus, subjects.log(self._run), event, self._seq)
            self._holds = not ends
        if wait:
            await self.settle()

    async def settle(self) -> None:
        """Make sure that our last append is stored, and that the run was ours when it was sent."""
        tail, sent = self._tail, self._tail_sent
        if tail is None:
            return
        try:
            # Shielded, so that a holder that is cancelled here can still write behind it that it gives the run back.
            seq = await asyncio.shield(tail)
        except ConflictError as conflict:
            if self._seq and not await self._bus.last(streams.RUNS, [subjects.log(self._run)]):
                await self._check_age()
            raise FencedError(f"run {self._run} was taken over") from conflict
        except BusError:
            if self._tail is tail:
                self._tail = None
            raise
        if self._tail is tail:  # a call of a model checks the lease at any time, and may have settled it meanwhile
            self._tail, self._seq, self._appended_at = None, seq, sent
            self._lease.proved(sent)

    @property
    def tail_seq(self) -> int:
        """The sequence of the last event, 0 while its append is under way."""
        return 0 if self._tail is not None else self._seq

    async def stored_time(self) -> float:
        """When our last append was stored. A replica may need a moment until it has the message."""
        await self.settle()
        for _ in range(READ_TRIES):
            if (found := await self._bus.get(streams.RUNS, self._seq)) is not None:
                return found.time
            await self._clock.sleep(READ_AGAIN_S)
        raise BusError(f"run {self._run}: message {self._seq} was stored and is gone")

    async def past(self) -> Reading:
        """All that is stored of the run but the steps of its workers, in order."""
        parts = await asyncio.gather(
            self._read(subjects.log(self._run)),
            self._read(subjects.run_work(self._run, "task")),
            self._read(subjects.run_work(self._run, "result")),
            self._read(subjects.control(self._run)),
        )
        log, _, results, controls = parts
        self._tail, self._holds = None, False
        self._seq = log[-1].seq if log else 0
        self._result_seq = results[-1].seq if results else 0
        self._control_seq = controls[-1].seq if controls else 0
        return Reading(tuple(_understood(*parts)), unknown_types(log), log[0].time if log else 0.0)

    async def check(self) -> bool:
        """Make sure that the run is still ours; returns whether a newer control is stored.

        A replica may be behind our own last event and then proves nothing: BusError if it stays behind.
        """
        async with self._sending:  # an append of our own in the middle of the check would look like a foreign one
            return await self._check()

    async def _check(self) -> bool:
        await self.settle()
        for _ in range(READ_TRIES):
            sent = self._lease.sent()
            seqs = {s.subject: s.seq for s in await self._bus.last(streams.RUNS, self._watched())}
            seq = seqs.get(subjects.log(self._run), 0)
            if seq > self._seq:
                raise FencedError(f"run {self._run} was taken over")
            if self._seq and not seq:
                await self._check_age()
            if seq == self._seq:
                self._lease.proved(sent)
                return seqs.get(subjects.control(self._run), 0) > self._control_seq
            await self._clock.sleep(READ_AGAIN_S)
        raise BusError(f"run {self._run}: message {self._seq} was stored and cannot be read")

    async def news(self) -> list[Recorded]:
        """What came in since the last look: results, and controls. The stream is the truth."""
        controls: list[Stored] = []
        if await self.check():
            controls = await self._read(subjects.control(self._run), after=self._control_seq)
            self._control_seq = controls[-1].seq if controls else self._control_seq
        results = await self._read(subjects.run_work(self._run, "result"), after=self._result_seq)
        self._result_seq = results[-1].seq if results else self._result_seq
        return _understood(controls, results)

    async def _check_age(self) -> None:
        """The log was read as empty: raise AgedOutError if our last event is older than the bus keeps messages.

        The next append then expects an empty log, which proves it.
        """
        kept_s = (await self._bus.store_state(streams.RUNS)).keep_s
        if kept_s and self._clock.monotonic() - self._appended_at >= kept_s:
            self._tail, self._seq = None, 0
            raise AgedOutError(kept_s)

    def _watched(self) -> list[str]:
        return [subjects.log(self._run), subjects.control(self._run)]

    async def _read(self, subject: str, after: int = 0) -> list[Stored]:
        return await whole(self._bus, await self._bus.read(streams.RUNS, subject, after=after))


def unknown_types(log: Iterable[Stored]) -> tuple[str, ...]:
    """The types of these Events that this version does not know."""
    found: dict[str, None] = {}
    for stored in log:
        try:
            codec.decode_event(stored.data)
        except UnknownTypeError as unknown:
            found[unknown.type_name] = None
        except UndecodableError:
            pass  # no message at all
    return tuple(found)


def _understood(*parts: list[Stored]) -> list[Recorded]:
    ordered = sorted((stored for part in parts for stored in part), key=lambda stored: stored.seq)
    return [entry for stored in ordered if (entry := understand(stored))]
