"""How often a process was asked to stop: the first time means stop, the second means now."""

import signal
import time
from collections.abc import Callable

REPEAT_S = 1.0
"""A SIGTERM so soon after another is the same request: `timeout` signals a process and its group."""


class StopSignals:
    """Counts requests to stop. Each SIGINT counts, since a person who presses Ctrl-C twice means it."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._count = 0
        self._last_s = float("-inf")

    def count(self, number: int) -> int:
        """Take one signal; how many requests there were so far."""
        now = self._monotonic()
        repeated = number == signal.SIGTERM and now - self._last_s < REPEAT_S
        if not repeated:
            self._count += 1
            self._last_s = now
        return self._count
