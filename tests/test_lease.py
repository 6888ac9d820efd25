"""How sure a holder may be of its delivery."""

from actors.bus.memory import VirtualClock
from actors.bus.port import Stored
from actors.lease import Lease

ACK_WAIT_S = 5.0


class Delivery:
    """Counts the signs of life that were sent for it."""

    message = Stored(subject="s", data=b"", seq=1, time_ns=0)
    count = 1
    beats = 0

    async def ack(self, *, sure: bool = False) -> None:
        raise AssertionError("a lease does not settle")

    async def retry(self, after_s: float) -> None:
        raise AssertionError("a lease does not settle")

    async def in_progress(self) -> bool:
        self.beats += 1
        return True


async def test_a_proof_is_as_old_as_the_question() -> None:
    clock = VirtualClock()
    lease = Lease(Delivery(), clock, ACK_WAIT_S)
    await clock.advance(10)
    asked = lease.sent()
    await clock.advance(4)
    lease.proved(asked)
    assert (lease.fresh, lease.certain) == (False, False)


async def test_an_older_proof_does_not_replace_a_younger_one() -> None:
    clock = VirtualClock()
    lease = Lease(Delivery(), clock, ACK_WAIT_S)
    first = lease.sent()
    await clock.advance(1)
    lease.proved(lease.sent())
    lease.proved(first)
    assert (lease.fresh, lease.certain) == (True, True)


async def test_a_proof_is_certain_for_a_moment_and_fresh_for_less_than_half_the_ack_wait() -> None:
    clock = VirtualClock()
    lease = Lease(Delivery(), clock, ACK_WAIT_S)
    assert (lease.fresh, lease.certain) == (True, True)
    await clock.advance(0.1)
    assert (lease.fresh, lease.certain) == (True, False)
    await clock.advance(ACK_WAIT_S / 2)
    assert (lease.fresh, lease.certain) == (False, False)


async def test_no_sign_of_life_is_sent_after_a_silence_longer_than_the_ack_wait() -> None:
    clock, delivery = VirtualClock(), Delivery()
    lease = Lease(delivery, clock, ACK_WAIT_S)
    await lease.beat()
    await clock.advance(ACK_WAIT_S + 0.1)
    await lease.beat()
    assert (lease.lapsed, delivery.beats) == (True, 1)


async def test_a_delivery_that_was_taken_over_has_lapsed() -> None:
    lease = Lease(Delivery(), VirtualClock(), ACK_WAIT_S)
    lease.taken_over()
    assert (lease.lapsed, lease.fresh, lease.certain) == (True, False, False)
