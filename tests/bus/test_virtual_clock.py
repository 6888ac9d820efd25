"""The virtual clock: time passes only when it is told to, in order, and everybody gets their turn."""

import asyncio

import pytest

from actors.bus.memory import VirtualClock


async def test_time_stands_still_until_it_is_advanced() -> None:
    clock = VirtualClock(start=1000.0)
    await asyncio.sleep(0)
    assert (clock.now(), clock.monotonic()) == (1000.0, 0.0)
    await clock.advance(2.5)
    assert (clock.now(), clock.monotonic()) == (1002.5, 2.5)


async def test_timers_fire_in_order_of_time_and_then_of_their_making() -> None:
    clock = VirtualClock()
    fired: list[tuple[str, float]] = []
    for name, seconds in [("late", 3.0), ("early", 1.0), ("also early", 1.0), ("never", 9.0)]:
        clock.call_later(seconds, lambda name=name: fired.append((name, clock.monotonic())))
    await clock.advance(5)
    assert fired == [("early", 1.0), ("also early", 1.0), ("late", 3.0)]


async def test_a_task_that_sleeps_again_and_again_wakes_at_each_of_its_moments() -> None:
    clock = VirtualClock()
    woken: list[float] = []

    async def beat() -> None:
        for _ in range(4):
            await clock.sleep(1.5)
            woken.append(clock.monotonic())

    async with asyncio.TaskGroup() as group:
        group.create_task(beat())
        await clock.advance(10)
    assert woken == [1.5, 3.0, 4.5, 6.0]


async def test_all_work_is_done_before_time_goes_on() -> None:
    clock = VirtualClock()
    moments: list[float] = []

    async def long_chain() -> None:
        await clock.sleep(1)
        for _ in range(1000):
            await asyncio.sleep(0)
        moments.append(clock.monotonic())

    clock.call_later(2, lambda: moments.append(clock.monotonic()))
    async with asyncio.TaskGroup() as group:
        group.create_task(long_chain())
        await clock.advance(3)
    assert moments == [1.0, 2.0]


async def test_a_cancelled_timer_does_not_fire() -> None:
    clock = VirtualClock()
    fired: list[int] = []
    cancel = clock.call_later(1, lambda: fired.append(1))
    cancel()
    await clock.advance(2)
    assert fired == []


async def test_a_cancelled_sleep_ends_at_once() -> None:
    clock = VirtualClock()
    sleeping = asyncio.create_task(clock.sleep(100))
    await clock.advance(1)
    sleeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sleeping
    assert clock.monotonic() == 1


async def test_advance_until_stops_at_the_moment_when_it_holds() -> None:
    clock = VirtualClock()
    fired: list[int] = []
    for seconds in (1, 2, 3):
        clock.call_later(seconds, lambda seconds=seconds: fired.append(seconds))
    assert await clock.advance_until(lambda: 2 in fired, within_s=10)
    assert (fired, clock.monotonic()) == ([1, 2], 2.0)
    assert not await clock.advance_until(lambda: 9 in fired, within_s=10)
    assert clock.monotonic() == 12.0


async def test_a_task_that_spins_is_an_error_and_not_a_hang() -> None:
    clock = VirtualClock()

    async def spin() -> None:
        while True:
            await clock.sleep(0)

    spinning = asyncio.create_task(spin())
    with pytest.raises(RuntimeError, match="never come to rest"):
        await clock.advance(1)
    spinning.cancel()
