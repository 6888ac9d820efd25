"""Time that passes only when it is told to."""

import asyncio
import heapq
import itertools
from collections.abc import Callable, Sized

from actors.clock import Clock

Cancel = Callable[[], None]

MOST_TURNS = 100_000
"""So many turns of the loop without rest are an endless loop, not work."""

BLIND_TURNS = 200
"""How many turns to give on a loop that does not show whether anything is due."""


class _Timer:
    __slots__ = ("call",)

    def __init__(self, call: Callable[[], None]) -> None:
        self.call: Callable[[], None] | None = call

    def cancel(self) -> None:
        self.call = None


class VirtualClock:
    """A clock that stands still until `advance`. Timers fire in order of time, then of their making."""

    def __init__(self, start: float = 1_000_000_000.0) -> None:
        self._start = start
        self._passed = 0.0
        self._order = itertools.count()
        self._timers: list[tuple[float, int, _Timer]] = []

    def now(self) -> float:
        """Unix time in seconds."""
        return self._start + self._passed

    def monotonic(self) -> float:
        """Seconds since this clock was made."""
        return self._passed

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was advanced by that much; 0 only lets others run."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        cancel = self.call_later(seconds, lambda: None if over.done() else over.set_result(None))
        try:
            await over
        finally:
            cancel()

    def call_later(self, seconds: float, call: Callable[[], None]) -> Cancel:
        """Have a function called after that time; the return value undoes that."""
        timer = _Timer(call)
        heapq.heappush(self._timers, (self._passed + max(0.0, seconds), next(self._order), timer))
        return timer.cancel

    async def advance(self, seconds: float) -> None:
        """Let time pass: every timer that comes due fires at its own moment, and all tasks run in between."""
        end = self._passed + seconds
        await settle()
        while (due := self._next_due()) is not None and due <= end:
            await self._fire()
        self._passed = end
        await settle()

    async def advance_until(self, holds: Callable[[], bool], within_s: float) -> bool:
        """Go from timer to timer until something holds, for that long at most; whether it holds."""
        end = self._passed + within_s
        await settle()
        while not holds():
            due = self._next_due()
            if due is None or due > end:
                await self.advance(end - self._passed)
                return holds()
            await self._fire()
        return True

    def _next_due(self) -> float | None:
        while self._timers and self._timers[0][2].call is None:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    async def _fire(self) -> None:
        due, _, timer = heapq.heappop(self._timers)
        self._passed = max(self._passed, due)
        if timer.call is not None:
            timer.call()
        await settle()


class ProcessClock:
    """The clock of one process: time passes as on the shared clock, but the wall clock may be wrong.

    To let the wall clock jump, change `wrong_by_s`. `uncounted_s` is time that the monotonic clock did not count,
    because the machine was suspended.
    """

    def __init__(self, shared: Clock, wrong_by_s: float = 0.0) -> None:
        self._shared = shared
        self.wrong_by_s = wrong_by_s
        self.uncounted_s = 0.0

    def now(self) -> float:
        """Unix time in seconds, as this process has it."""
        return self._shared.now() + self.wrong_by_s

    def monotonic(self) -> float:
        """Seconds that the machine was running, whatever the wall clock does."""
        return self._shared.monotonic() - self.uncounted_s

    async def sleep(self, seconds: float) -> None:
        """Wait for that much time, whatever the wall clock does."""
        await self._shared.sleep(seconds)


async def settle() -> None:
    """Let every task run that can, until all of them wait for time or for the outside."""
    # asyncio's own loop shows what is due; there is no public way to ask, and guessing would make time run ahead.
    due: Sized | None = getattr(asyncio.get_running_loop(), "_ready", None)
    for _ in range(BLIND_TURNS if due is None else MOST_TURNS):
        await asyncio.sleep(0)
        if due is not None and not len(due):
            return
    if due is not None:
        raise RuntimeError("the tasks never come to rest: one of them spins without letting time pass")


def call_later(clock: Clock, seconds: float, call: Callable[[], None]) -> Cancel:
    """A timer on a clock: its own if it is virtual, else the event loop's."""
    if isinstance(clock, VirtualClock):
        return clock.call_later(seconds, call)
    return asyncio.get_running_loop().call_later(seconds, call).cancel
