"""The time of the server that stores the messages, as one process knows it.

Every comparison with a deadline uses this time. A deadline is computed from the time that the server stored with a
message, and the wall clock of a process may be wrong by hours.
"""

from collections.abc import Callable

from actors.clock import Clock

DRIFT = 1e-4
"""How much faster than the server's clock a monotonic clock may run: 100 ppm is twice what a cheap quartz does."""

LONGEST_SLEEP_S = 10.0


class ServerTime:
    """The largest lower bound of the server's time that the messages received so far prove.

    A message that the server stored at `t` proves that its clock shows at least `t` when the message is received.
    From there the process counts on by its monotonic clock. So the estimate lags behind the server by the shortest
    delay of any message, is never ahead of it, and never goes back.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._stored: float | None = None
        self._received = 0.0

    def observe(self, time_ns: int) -> None:
        """Note that something was received which the server stored, or sent, at that time in Unix nanoseconds."""
        stored, received = time_ns / 1e9, self._clock.monotonic()
        if self._stored is None or stored > self._counted_on(self._stored, received):
            self._stored, self._received = stored, received

    def now(self) -> float:
        """The server's time in Unix seconds; by the local wall clock until the first message is received."""
        if self._stored is None:
            return self._clock.now()
        return self._counted_on(self._stored, self._clock.monotonic())

    def _counted_on(self, stored: float, monotonic: float) -> float:
        return stored + (monotonic - self._received) * (1 - DRIFT)


async def sleep_until(moment: float, now: Callable[[], float], clock: Clock) -> None:
    """Sleep until the server's time (`now`) is that moment. A better estimate that is learnt meanwhile counts."""
    while (left := moment - now()) > 0:
        await clock.sleep(min(max(left, 0.001), LONGEST_SLEEP_S))
