"""The logbook of one attempt at a task: its Steps, written by compare-and-set so that only one holder can go on."""

import asyncio

from actors.bus.port import Bus, Stored
from actors.by_reference import send, whole
from actors.lease import Lease
from actors.worker.run_end import RunEnd
from protocol import codec, streams
from protocol.errors import BusError, ConflictError, FencedError, UndecodableError, UnknownTypeError
from protocol.steps import GivenBack, Step, Taken
from protocol.subjects import TaskAddress

READ_TRIES = 20
READ_AGAIN_S = 0.1
"""Pause before a read that was behind our own step is made again."""


class Logbook:
    """What was done for a task so far, by whomever."""

    def __init__(self, bus: Bus, address: TaskAddress, lease: Lease) -> None:
        self._bus = bus
        self._address = address
        self._lease = lease
        self._run_end = RunEnd(bus, address.run)
        self._seq = 0
        self._writing = asyncio.Lock()
        self._writes: set[asyncio.Future[None]] = set()
        self._places: list[int] = []
        self.steps: list[Step] = []

    @property
    def takes(self) -> int:
        """How often the task was taken after the first time, this time included."""
        return sum(isinstance(step, Taken) for step in self.steps) if self.steps else 0

    async def look(self) -> bool:
        """Read what is stored of the task; returns whether there is anything left to do.

        Raises UnknownTypeError if a newer version wrote an Event of the run or a Step of the task.
        """
        sent = self._lease.sent()
        last = await self._last()
        if await self._is_over(last):
            return False
        if self._address.steps in last:
            stored = await whole(self._bus, await self._bus.read(streams.RUNS, self._address.steps))
            self._seq = stored[-1].seq
            found = [(step, message.seq) for message in stored if (step := _readable(message))]
            self.steps, self._places = [step for step, _ in found], [seq for _, seq in found]
        self._lease.proved(sent)
        return True

    async def claim(self, instance: str) -> None:
        """Take a handoff that somebody else may still think is theirs."""
        await self.write(Taken(instance=instance, delivery=self._lease.delivery.count))

    async def give_back(self, instance: str, reason: str) -> None:
        """Mark that the task is given back on purpose; what is being written is stored first."""
        await self.write(GivenBack(instance=instance, reason=reason))

    async def write(self, step: Step) -> None:
        """Store a step behind the last one, or raise FencedError: another instance has the task.

        A write that was begun is finished even if the caller is cancelled: the next one must expect its sequence.
        """
        write = asyncio.ensure_future(self._write(step))
        self._writes.add(write)
        write.add_done_callback(self._written)
        await asyncio.shield(write)

    async def _write(self, step: Step) -> None:
        async with self._writing:
            sent = self._lease.sent()
            try:
                self._seq = await (await send(self._bus, self._address.steps, step, self._seq))
            except ConflictError as conflict:
                raise FencedError(f"task {self._address.task} was taken over") from conflict
            self._lease.proved(sent)
            self.steps.append(step)
            self._places.append(self._seq)

    def _written(self, write: "asyncio.Future[None]") -> None:
        self._writes.discard(write)
        if not write.cancelled():
            write.exception()  # the caller may have been cancelled: then the next write finds out

    def place_of(self, step: Step) -> int:
        """The sequence of one of the steps."""
        return next(seq for one, seq in zip(self.steps, self._places, strict=True) if one is step)

    async def still_ours(self) -> bool:
        """Right before something is paid for: whether the task is still ours, and still wanted.

        A replica may be behind our own last step and then proves nothing: BusError if it stays behind.
        """
        async with self._writing:  # a step of our own that is on its way is nobody else's
            if self._lease.certain:
                return True
            for _ in range(READ_TRIES):
                sent = self._lease.sent()
                last = await self._last()
                if await self._is_over(last):
                    return False
                found = last.get(self._address.steps)
                seq = found.seq if found else 0
                if seq > self._seq:
                    raise FencedError(f"task {self._address.task} was taken over")
                if seq == self._seq:
                    self._lease.proved(sent)
                    return True
                await asyncio.sleep(READ_AGAIN_S)
            raise BusError(f"the last step of task {self._address.task} was stored and cannot be read")

    async def _last(self) -> dict[str, Stored]:
        watched = [self._address.result, self._address.steps, *self._run_end.subjects]
        return {stored.subject: stored for stored in await self._bus.last(streams.RUNS, watched)}

    async def _is_over(self, last: dict[str, Stored]) -> bool:
        """True if a result, a cancel or the end of the run is stored."""
        return self._address.result in last or await self._run_end.reached(last)


def _readable(stored: Stored) -> Step | None:
    """The step in a message, or None for bytes that are no message; UnknownTypeError if a newer version wrote it."""
    try:
        return codec.decode_step(stored.data)
    except UnknownTypeError:
        raise
    except UndecodableError:
        return None
