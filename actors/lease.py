"""A lease: how sure the holder of a delivery may be that it is still its own."""

from math import inf

from actors.bus.port import Delivery
from actors.clock import Clock

CERTAIN_S = 0.05


class Lease:
    """A delivery, and the moment up to which nobody else can have it.

    A proof is as old as the moment it was *sent*: a process that was stopped and wakes up has an old proof, and must
    look again before it pays or says anything.
    """

    def __init__(self, delivery: Delivery, clock: Clock, ack_wait_s: float) -> None:
        self.delivery = delivery
        self._clock = clock
        self._ack_wait_s = ack_wait_s
        self._proved_at = clock.monotonic()
        self._beaten_at = self._proved_at

    def sent(self) -> float:
        """The moment to name in `proved`, taken before the question goes out."""
        return self._clock.monotonic()

    def proved(self, sent_at: float) -> None:
        """The bus confirmed what was asked at that moment: it was still ours then."""
        self._proved_at = max(self._proved_at, sent_at)

    @property
    def fresh(self) -> bool:
        """Whether the last proof is so young that nobody can have taken over because we were silent.

        The last beat may be a third of the ack wait older than the proof, and after a restart of the server the wait
        may fire a second early: well under half of it is safe.
        """
        return self._clock.monotonic() - self._proved_at < self._ack_wait_s * 0.4

    @property
    def certain(self) -> bool:
        """Whether the last proof is so young that a call may be paid for on it.

        A server that restarts may deliver again at any moment, whatever the ack wait: only now counts.
        """
        return self._clock.monotonic() - self._proved_at < CERTAIN_S

    @property
    def lapsed(self) -> bool:
        """Whether a beat was missed for so long that another may hold it; beating on would keep *their* lease alive."""
        return self._clock.monotonic() - self._beaten_at > self._ack_wait_s

    def taken_over(self) -> None:
        """Another process has the delivery: it must not be given back or kept alive from here."""
        self._beaten_at = self._proved_at = -inf

    async def beat(self) -> None:
        """Tell the bus that it is being worked on, unless it is too late for that."""
        if not self.lapsed:
            now = self._clock.monotonic()
            if await self.delivery.in_progress():
                self._beaten_at = now
