"""A queue in memory: a durable pull consumer with ack wait, redelivery and fair turns."""

from collections import deque
from collections.abc import Callable
from typing import Protocol

from actors.bus.memory.faults import Chance
from actors.bus.memory.matching import matcher
from actors.bus.memory.stream import MemoryStream
from actors.bus.memory.virtual import call_later
from actors.bus.port import QueueState, Stored
from actors.clock import Clock
from protocol.streams import Queue

UNSYNCED_S = 0.3
"""How long a delivery or an ack may stay unwritten, and so be forgotten by a server that dies."""


class Taker(Protocol):
    """Somebody who asks for messages."""

    free: int

    def take(self, stored: Stored, count: int) -> None:
        """Receive a message into one of the free slots."""
        ...


class MemoryQueue:
    """Who holds what: a message is fresh, or unsettled (held by somebody, or to be given out again), or settled."""

    def __init__(self, spec: Queue, stream: MemoryStream, clock: Clock) -> None:
        self.spec = spec
        self._stream = stream
        self._clock = clock
        self._matches = matcher(spec.filter)
        self._takers: deque[Taker] = deque()
        self._fresh: dict[int, None] = dict.fromkeys(stored.seq for stored in stream.read(spec.filter))
        self._again: dict[int, None] = {}
        self._unsettled: dict[int, Callable[[], None]] = {}
        self._counts: dict[int, int] = {}
        self._unsynced: deque[tuple[float, int]] = deque()

    def offer(self, stored: Stored) -> None:
        """A message was stored; it may be for this queue."""
        if self._matches(stored.subject):
            self._fresh[stored.seq] = None
            self.dispatch()

    def join(self, taker: Taker) -> None:
        """Somebody asks for messages from now on."""
        self._takers.append(taker)
        self.dispatch()

    def leave(self, taker: Taker) -> None:
        """Somebody asks no more; what they hold stays theirs until it is settled or its time is over."""
        if taker in self._takers:
            self._takers.remove(taker)

    def ack(self, seq: int) -> None:
        """It is finished, whoever says so."""
        if seq not in self._unsettled:
            return
        self._forget(seq)
        self._note(seq)
        if self._stream.spec.retention == "workqueue":
            self._stream.delete(seq)
        self.dispatch()

    def retry(self, seq: int, after_s: float) -> None:
        """It is given back, whoever says so: a late word takes it from its new holder."""
        if seq not in self._unsettled:
            return
        self._wait(seq, after_s)
        if after_s <= 0:
            self._due(seq)

    def in_progress(self, seq: int) -> None:
        """The ack wait begins anew, whoever says so."""
        if seq in self._unsettled and seq not in self._again:
            self._wait(seq, self.spec.ack_wait.total_seconds())

    def restart(self, *, forget_acks: bool) -> None:
        """The server died: delivery counts are lost, and the latest deliveries and acks were perhaps never written."""
        self._counts.clear()
        since = self._clock.monotonic() - UNSYNCED_S
        for at, seq in self._unsynced if forget_acks else ():
            if at >= since and self._stream.get(seq) is not None:
                self._wait(seq, 0)
                self._due(seq)
        self._unsynced.clear()

    def begin_anew(self, stream: MemoryStream) -> None:
        """Its stream was deleted and made again: nothing is known of any message, and those who asked go on asking."""
        for seq in list(self._unsettled):
            self._forget(seq)
        self._stream = stream
        self._fresh.clear()
        self._counts.clear()
        self._unsynced.clear()

    def redeliver_early(self, chance: Chance) -> None:
        """Give out again what is held, wherever the chance says so, although its ack wait is not over."""
        for seq in list(self._unsettled):
            stored = self._stream.get(seq)
            if stored is not None and seq not in self._again and chance(stored.subject):
                self._due(seq)

    def state(self) -> QueueState:
        """How the queue stands."""
        return QueueState(
            pending=sum(self._stream.get(seq) is not None for seq in self._fresh),
            unsettled=sum(self._stream.get(seq) is not None for seq in self._unsettled),
            waiting=sum(taker.free > 0 for taker in self._takers),
        )

    def dispatch(self) -> None:
        """Hand out what can be handed out, to each taker in turn."""
        while (taker := self._next_taker()) and (stored := self._next_message()):
            self._again.pop(stored.seq, None)
            self._fresh.pop(stored.seq, None)
            self._counts[stored.seq] = count = self._counts.get(stored.seq, 0) + 1
            self._wait(stored.seq, self.spec.ack_wait.total_seconds())
            self._note(stored.seq)
            self._takers.rotate(-1)
            taker.take(stored, count)

    def _next_taker(self) -> Taker | None:
        for _ in range(len(self._takers)):
            if self._takers[0].free > 0:
                return self._takers[0]
            self._takers.rotate(-1)
        return None

    def _next_message(self) -> Stored | None:
        for waiting in (self._again, self._fresh):
            if waiting is self._fresh and len(self._unsettled) >= self.spec.max_ack_pending:
                return None
            while (seq := next(iter(waiting), None)) is not None:
                if (stored := self._stream.get(seq)) is not None:
                    return stored
                self._forget(seq)
        return None

    def _wait(self, seq: int, seconds: float) -> None:
        self._unsettled.get(seq, _nothing)()
        self._again.pop(seq, None)
        self._unsettled[seq] = call_later(self._clock, seconds, lambda: self._due(seq))

    def _due(self, seq: int) -> None:
        self._unsettled[seq]()
        self._unsettled[seq] = _nothing
        self._again[seq] = None
        self.dispatch()

    def _note(self, seq: int) -> None:
        now = self._clock.monotonic()
        self._unsynced.append((now, seq))
        while self._unsynced[0][0] < now - UNSYNCED_S:
            self._unsynced.popleft()

    def _forget(self, seq: int) -> None:
        self._unsettled.pop(seq, _nothing)()
        self._again.pop(seq, None)
        self._fresh.pop(seq, None)
        self._counts.pop(seq, None)


def _nothing() -> None:
    """No timer is running."""
