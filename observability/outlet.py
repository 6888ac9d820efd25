"""The outlet: a thread that sends what it is given, in batches, and never holds anybody up.

What always holds: `put` returns at once; what does not fit is dropped, the oldest first; a receiver that is away is
told once in the log, and once when it is back.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

import structlog

from observability.redaction import redacted

T = TypeVar("T")

BATCH = 512
MOST_WAITING = 65_536
EVERY_S = 1.0

log = structlog.get_logger()


class Outlet(Generic[T]):
    """Sends things by `send`, which may block and says whether they arrived."""

    def __init__(self, send: Callable[[list[T]], bool], *, where: str, every_s: float = EVERY_S) -> None:
        self._send = send
        self._where = redacted(where)
        self._every_s = every_s
        self._waiting: deque[T] = deque(maxlen=MOST_WAITING)
        self._wake = threading.Event()
        self._stopping = False
        self._broken = False
        self._thread = threading.Thread(target=self._run, name="telemetry", daemon=True)
        self._thread.start()

    def put(self, *things: T) -> None:
        """Have these sent soon."""
        self._waiting.extend(things)
        if len(self._waiting) >= BATCH:
            self._wake.set()

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
        batch: list[T] = []
        while self._waiting and len(batch) < BATCH:
            batch.append(self._waiting.popleft())
        try:
            arrived, why = self._send(batch), "it did not take it"
        except Exception as error:  # noqa: BLE001  telemetry must never harm what it tells about
            arrived, why = False, f"{type(error).__name__}: {error}"
        if not arrived and not self._broken:
            log.warning("telemetry.undelivered", to=self._where, reason=why)
        elif arrived and self._broken:
            log.info("telemetry.delivered_again", to=self._where)
        self._broken = not arrived
