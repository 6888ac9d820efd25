"""The server's time, as one process counts it from the messages it receives."""

import pytest

from actors.bus.memory import ProcessClock, VirtualClock
from actors.server_time import DRIFT, ServerTime

HOUR_S = 3600.0


def stored(time: float) -> int:
    return int(time * 1e9)


async def test_before_the_first_message_the_local_wall_clock_counts() -> None:
    clock = VirtualClock(start=1000.0)
    assert ServerTime(ProcessClock(clock, HOUR_S)).now() == 1000.0 + HOUR_S


@pytest.mark.parametrize("wrong_by_s", [-HOUR_S, 0.0, HOUR_S])
async def test_after_the_first_message_the_local_wall_clock_does_not_count(wrong_by_s: float) -> None:
    shared = VirtualClock(start=1000.0)
    clock = ProcessClock(shared, wrong_by_s)
    time = ServerTime(clock)
    time.observe(stored(999.5))
    assert time.now() == 999.5
    await shared.advance(2.0)
    clock.wrong_by_s = 9 * HOUR_S
    assert time.now() == pytest.approx(1001.5, abs=2 * DRIFT)


async def test_the_message_with_the_shortest_delay_counts() -> None:
    clock = VirtualClock(start=1000.0)
    time = ServerTime(clock)
    for delay_s in (5.0, 0.1, 3.0):
        time.observe(stored(clock.now() - delay_s))
        await clock.advance(1.0)
    assert clock.now() - time.now() == pytest.approx(0.1, abs=3 * DRIFT)


async def test_it_is_not_ahead_of_the_server_if_the_monotonic_clock_is_a_little_fast() -> None:
    clock = VirtualClock(start=1000.0)
    time = ServerTime(clock)
    time.observe(stored(1000.0))
    await clock.advance(HOUR_S * (1 + DRIFT / 2))
    assert 1000.0 + HOUR_S - 1.0 < time.now() <= 1000.0 + HOUR_S


async def test_it_never_goes_back() -> None:
    clock = VirtualClock(start=1000.0)
    time = ServerTime(clock)
    time.observe(stored(1000.0))
    before = time.now()
    time.observe(stored(10.0))
    assert time.now() == before
