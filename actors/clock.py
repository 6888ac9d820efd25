"""The clock: time as an argument, so that a simulation can turn it."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """What tells the time and lets it pass."""

    def now(self) -> float:
        """Unix time in seconds; comparable between processes."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go backwards; goes on while the process is stopped."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let that much time pass."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> float:
        """Unix time in seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds since some moment in the past."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Let that much time pass."""
        await asyncio.sleep(seconds)
