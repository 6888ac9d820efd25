"""Deliveries in memory, and the standing request for them."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol

from actors.bus.memory.queue import MemoryQueue
from actors.bus.port import Delivery, Stored


class Line(Protocol):
    """The way of one process to the server."""

    @property
    def connected(self) -> bool:
        """Whether a word reaches the server now."""
        ...

    def soon(self, call: Callable[[], None]) -> None:
        """Have something arrive at the process."""
        ...

    def ack_arrives(self, subject: str) -> bool:
        """Whether an ack that is sent now will reach the server."""
        ...

    def until_noted(self, subject: str) -> Awaitable[None]:
        """Returns when an ack has reached the server, however often it has to be sent."""
        ...


class MemoryDelivery:
    """A message from a queue. What is said of it while the server is away is lost."""

    __slots__ = ("_count", "_line", "_message", "_queue")

    def __init__(self, line: Line, queue: MemoryQueue, message: Stored, count: int) -> None:
        self._line = line
        self._queue = queue
        self._message = message
        self._count = count

    @property
    def message(self) -> Stored:
        """What was delivered."""
        return self._message

    @property
    def count(self) -> int:
        """How many times it has been delivered."""
        return self._count

    async def ack(self, *, sure: bool = False) -> None:
        """It is finished."""
        if sure:
            await self._line.until_noted(self._message.subject)
            self._queue.ack(self._message.seq)
        elif self._line.ack_arrives(self._message.subject):
            self._queue.ack(self._message.seq)

    async def retry(self, after_s: float) -> None:
        """Give it back."""
        if self._line.connected:
            self._queue.retry(self._message.seq, after_s)

    async def in_progress(self) -> bool:
        """It is being worked on."""
        if self._line.connected:
            self._queue.in_progress(self._message.seq)
        return self._line.connected


class MemoryPull:
    """The standing request of one process on one queue."""

    def __init__(self, line: Line, queue: MemoryQueue, slots: int, deliver: Callable[[Delivery], None]) -> None:
        self.free = slots
        self._line = line
        self._queue = queue
        self._slots = slots
        self._deliver = deliver
        self._arrived: deque[Delivery] = deque()
        self.stopped = False
        self.back()

    def take(self, stored: Stored, count: int) -> None:
        """A message arrives; it is handed over as soon as the process gets to it."""
        self.free -= 1
        self._arrived.append(MemoryDelivery(self._line, self._queue, stored, count))
        self._line.soon(self._hand_over)

    def release(self) -> None:
        """One delivery is over."""
        self.free = min(self._slots, self.free + 1)
        if not self.stopped and self._line.connected:
            self._queue.dispatch()

    async def stop(self) -> list[Delivery]:
        """Ask for no more."""
        self.stopped = True
        self._queue.leave(self)
        left_over = list(self._arrived)
        self._arrived.clear()
        return left_over

    def lost(self) -> None:
        """The connection broke: what had arrived but was not read went with it."""
        self._queue.leave(self)
        self.free += len(self._arrived)
        self._arrived.clear()

    def back(self) -> None:
        """The connection is there: ask again."""
        if not self.stopped and self._line.connected:
            self._queue.join(self)

    def _hand_over(self) -> None:
        if self._arrived:
            self._deliver(self._arrived.popleft())
