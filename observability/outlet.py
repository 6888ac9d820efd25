"""The outlet: a thread that sends what it is given, in batches, and never holds anybody up.

What always holds: `put` returns at once; what does not fit is dropped, the oldest first, by weight, so that a receiver
that is away costs a bounded amount of memory; it is told once in the log, and once when it is back.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from observability.logger import get_logger
from observability.redaction import redacted

T = TypeVar("T")

BATCH = 512
HEAVIEST = 16 * BATCH
"""What is packed at a time; one thing that is heavier goes alone."""

MOST_WAITING = 65_536
EVERY_S = 1.0

log = get_logger()


class Outlet(Generic[T]):
    """Sends things by `send`, which may block and says whether they arrived; `weigh` says how much one of them is."""

    def __init__(
        self,
        send: Callable[[list[T]], bool],
        *,
        where: str,
        every_s: float = EVERY_S,
        weigh: Callable[[T], int] = lambda _: 1,
    ) -> None:
        self._send = send
        self._weigh = weigh
        self._where = redacted(where)
        self._every_s = every_s
        self._waiting: deque[T] = deque()
        self._weight = 0
        self._turn = threading.Lock()
        self._wake = threading.Event()
        self._stopping = False
        self._broken = False
        self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)
        self._thread.start()

    @property
    def broken(self) -> bool:
        """Whether the last thing that was sent did not arrive."""
        return self._broken

    def put(self, *things: T) -> None:
        """Have these sent soon."""
        with self._turn:
            for thing in things:
                self._waiting.append(thing)
                self._weight += self._weigh(thing)
            while self._weight > MOST_WAITING and len(self._waiting) > 1:
                self._next()
        if len(self._waiting) >= BATCH:
            self._wake.set()

    def hurry(self) -> None:
        """Have what is waiting sent now."""
        self._wake.set()

    def _next(self) -> T:
        thing = self._waiting.popleft()
        self._weight -= self._weigh(thing)
        return thing

    def _batch(self) -> list[T]:
        batch: list[T] = []
        with self._turn:
            weight = self._weight
            while self._waiting and len(batch) < BATCH and (not batch or weight - self._weight < HEAVIEST):
                batch.append(self._next())
        return batch

    def put_all(self, things: Iterable[T]) -> None:
        """Have all of these sent soon."""
        self.put(*things)

    def close(self, within_s: float) -> bool:
        """Send what is left, for that long at most; whether all of it was tried."""
        self._stopping = True
        self._wake.set()
        self._thread.join(within_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            self._wake.wait(self._every_s)
            self._wake.clear()
            stopping = self._stopping
            while self._waiting:
                self._send_some()
            if stopping:
                return

    def _send_some(self) -> None:
        batch = self._batch()
        try:
            arrived, why = self._send(batch), "it did not take it"
        except Exception as error:  # noqa: BLE001  telemetry must never harm what it tells about
            arrived, why = False, f"{type(error).__name__}: {error}"
        if not arrived and not self._broken:
            log.warning("telemetry.undelivered", to=self._where, reason=why)
        elif arrived and self._broken:
            log.info("telemetry.delivered_again", to=self._where)
        self._broken = not arrived
