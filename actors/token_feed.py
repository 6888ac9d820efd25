"""The token feed: text on the bus while a model writes it, gathered a little so that it costs little."""

import asyncio
from types import TracebackType

from actors.bus.port import Bus
from actors.clock import Clock

EVERY_S = 0.05


class TokenFeed:
    """Says on a subject what it is told, in pieces. Nobody needs to hear it, and nothing waits for it."""

    def __init__(self, bus: Bus, clock: Clock, subject: str) -> None:
        self._bus = bus
        self._clock = clock
        self._subject = subject
        self._pieces: list[str] = []
        self._has_text = asyncio.Event()

    async def __aenter__(self) -> "TokenFeed":
        self._task = asyncio.create_task(self._flow())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._task.cancel()
        if kind is None:
            await self._flush()

    def say(self, text: str) -> None:
        """Pass on a piece of text, soon."""
        self._pieces.append(text)
        self._has_text.set()

    async def _flow(self) -> None:
        while True:
            await self._has_text.wait()
            await self._clock.sleep(EVERY_S)
            self._has_text.clear()
            await self._flush()

    async def _flush(self) -> None:
        if self._pieces:
            text = "".join(self._pieces)
            self._pieces.clear()
            await self._bus.emit(self._subject, text.encode(errors="replace"))
