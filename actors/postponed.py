"""Deliveries that this process gives back again and again, and how long each of them waits before the next time.

The server forgets how often it delivered a message when it restarts, so each process counts for itself.
"""

import msgspec

from actors.clock import Clock

FIRST_S = 1.0
CEILING_S = 300.0
REMEMBERED_S = 60.0
"""A message that did not come again for this long after its delay was settled by another process, or has aged out."""


class _Entry(msgspec.Struct, frozen=True):
    times: int
    until: float
    reason: str


class Postponed:
    """Remembers the sequence of each message that was given back. The delay doubles each time, up to 5 minutes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: dict[int, _Entry] = {}

    def add(self, seq: int, reason: str) -> float:
        """Count one more return of a message; returns the delay before its next delivery."""
        self._expire()
        known = self._entries.pop(seq, None)
        times = known.times if known else 0
        delay_s = min(CEILING_S, FIRST_S * 2 ** min(times, 20))
        self._entries[seq] = _Entry(times + 1, self._clock.monotonic() + delay_s, reason)
        return delay_s

    def remaining(self, seq: int) -> float:
        """How much of its delay is left when a message is delivered early; 0 if none."""
        entry = self._entries.get(seq)
        return max(0.0, entry.until - self._clock.monotonic()) if entry else 0.0

    def discard(self, seq: int) -> None:
        """The message is settled."""
        self._entries.pop(seq, None)

    @property
    def trouble(self) -> str:
        """How many messages are postponed now and why, in one line for a person; empty if there are none."""
        self._expire()
        if not self._entries:
            return ""
        *_, newest = self._entries.values()
        number = len(self._entries)
        return (
            f"{number} message{'s' if number > 1 else ''} cannot be handled here and will be retried: {newest.reason}"
        )

    def _expire(self) -> None:
        oldest = self._clock.monotonic() - REMEMBERED_S
        self._entries = {seq: entry for seq, entry in self._entries.items() if entry.until > oldest}
