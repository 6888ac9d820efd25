"""The alarm of one run: when it is looked at again.

Moments are by the server's time, as deadlines are. How long a run was silent is measured by the monotonic clock.
"""

import asyncio
from collections.abc import Callable
from math import inf

from actors.clock import Clock

LONGEST = 3
"""A run that stays silent is read again after one, two and then always four times the usual silence."""


class Alarm:
    """Rings at news, at a moment that was set, and when nothing was heard for too long: then the stream is read."""

    def __init__(self, clock: Clock, now: Callable[[], float], silence_s: float) -> None:
        self._clock = clock
        self._now = now
        self._silence_s = silence_s
        self._wake = asyncio.Event()
        self._due = inf
        self._look_at = -inf
        self._looks = 0

    def ring(self) -> None:
        """Something has happened."""
        self._wake.set()

    def tick(self) -> None:
        """Time has passed."""
        if self.overdue or self._now() >= self._due:
            self._wake.set()

    def due(self, time: float) -> None:
        """There will be something to do at that moment of the server's time."""
        self._due = min(self._due, time)

    def look(self) -> None:
        """Something may have been missed: read the stream soon."""
        self._look_at = -inf
        self._wake.set()

    def heard(self) -> None:
        """There was news: nothing is missing for now."""
        self._looks = 0
        self._look_at = self._clock.monotonic() + self._silence_s

    def looked(self) -> None:
        """The stream was read: the next time after a longer silence."""
        self._looks = min(self._looks + 1, LONGEST)
        self._look_at = self._clock.monotonic() + self._silence_s * 2 ** (self._looks - 1)

    @property
    def overdue(self) -> bool:
        """Whether the stream is to be read now."""
        return self._clock.monotonic() >= self._look_at

    async def wait(self) -> None:
        """Sleep until it rings."""
        await self._wake.wait()
        self._wake.clear()
        self._due = inf
