"""The heartbeat: a card written again and again while its process lives, and taken back when it stops."""

import asyncio
import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple

from actors.bus.port import Bus
from actors.clock import Clock
from observability.logger import get_logger
from protocol import codec, streams
from protocol.errors import HandoffError
from protocol.messages import Message

READ_BACK_S = 5.0
READ_AGAIN_S = 0.2

log = get_logger()


class CardAddress(NamedTuple):
    """Where a card stands: its key, and the bucket of its registry."""

    key: str
    bucket: str = streams.WORKERS


class Heartbeat:
    """Keeps one card in the registry for as long as it is entered, unless it is ended before."""

    def __init__(
        self, bus: Bus, clock: Clock, address: CardAddress, card: Callable[[], Message], every_s: float
    ) -> None:
        self._bus = bus
        self._clock = clock
        self._key, self._bucket = address
        self._card = card
        self._every_s = every_s
        self._ended = False
        self._failure = ""
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> "Heartbeat":
        await self._beat()
        await self._read_back()
        self._forget = self._bus.on_reconnect(self._soon)
        self._beats = asyncio.create_task(self._keep_beating())
        self._extra: set[asyncio.Task[None]] = set()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._forget()
        for task in (self._beats, *self._extra):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self.end()

    def _soon(self) -> None:
        """The bus is back, perhaps without our card."""
        task = asyncio.create_task(self._beat())
        self._extra.add(task)
        task.add_done_callback(self._extra.discard)

    async def _read_back(self) -> None:
        """Read the card once: its stored time tells the server's time before the first task is taken."""
        try:
            async with asyncio.timeout(READ_BACK_S):
                while self._key not in await self._bus.cards(self._key.rpartition(".")[0] + ".", bucket=self._bucket):
                    await self._clock.sleep(READ_AGAIN_S)
                    await self._beat()
        except (HandoffError, TimeoutError) as error:
            log.warning("card.not_read_back", key=self._key, error=str(error) or type(error).__name__)

    async def _keep_beating(self) -> None:
        while True:
            await self._clock.sleep(self._every_s)
            await self._beat()

    async def _beat(self) -> None:
        async with self._lock:
            if self._ended:
                return
            try:
                await self._bus.put_card(self._key, codec.encode(self._card()), bucket=self._bucket)
            except Exception as error:  # noqa: BLE001  raised further, it would end the heartbeats of a healthy process
                self._failed(str(error) or type(error).__name__)
            else:
                self._failure = ""

    def _failed(self, failure: str) -> None:
        """Log why the card was not written, once while the reason stays the same."""
        if failure != self._failure:
            self._failure = failure
            log.warning("card.not_written", key=self._key, error=failure)

    async def end(self) -> None:
        """Take the card back: at once when no more work is taken, not only when the last task is done."""
        async with self._lock:
            if not self._ended:
                self._ended = True
                try:
                    await self._bus.drop_card(self._key, bucket=self._bucket)
                except Exception as error:  # noqa: BLE001  the card expires by itself; the work goes on
                    self._failed(str(error) or type(error).__name__)
