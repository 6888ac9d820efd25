"""The pulse: notices that this process stood still, and tells those who must not trust what arrived meanwhile.

While a process is stopped the server goes on delivering into its socket. When it wakes up, these deliveries look new,
but others have had them for long: to act on them would take work out of the hands of whoever does it now.
"""

import asyncio
from collections.abc import Callable


class Pulse:
    """Beats while the process runs; a gap between two beats means that it stood still."""

    def __init__(self, longest_gap_s: float) -> None:
        self._longest_gap_s = longest_gap_s
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()
        self._tell: list[Callable[[], None]] = []

    def on_wake(self, call: Callable[[], None]) -> None:
        """Have a function called when the process wakes up after it stood still."""
        self._tell.append(call)

    def forget(self, call: Callable[[], None]) -> None:
        """Tell this one no more."""
        if call in self._tell:
            self._tell.remove(call)

    def feel(self) -> None:
        """Look at the clock: if it jumped, everybody is told before anything else is done."""
        now = self._loop.time()
        woke = now - self._last > self._longest_gap_s
        self._last = now
        if woke:
            for call in list(self._tell):
                call()

    async def beat(self) -> None:
        """Feel the pulse for ever."""
        while True:
            await asyncio.sleep(self._longest_gap_s / 8)
            self.feel()
