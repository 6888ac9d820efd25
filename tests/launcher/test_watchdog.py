"""A loop that is held up is noticed from outside; one that only works hard is not."""

import asyncio
import threading
import time

from waiting import LIMIT_S

from actors.launcher.watchdog import watched


class Told:
    """What the watchdog said instead of ending the process."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.once = threading.Event()

    def __call__(self, reason: str) -> None:
        self.reasons.append(reason)
        self.once.set()


async def test_a_loop_that_does_not_come_round_is_ended_with_the_place_where_it_is() -> None:
    told = Told()

    def hold_up() -> bool:
        return told.once.wait(LIMIT_S)

    with watched(0.05, told):
        assert hold_up()
    (reason,) = told.reasons
    assert "held up for 0.05 s in wait (" in reason
    assert "plain def" in reason


async def test_a_loop_that_comes_round_now_and_then_is_left_alone() -> None:
    told = Told()
    with watched(1.0, told):
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            time.sleep(0.05)  # noqa: ASYNC251  held up, but never for long
            await asyncio.sleep(0)
    assert told.reasons == []


async def test_the_watch_ends_with_the_block() -> None:
    told = Told()
    with watched(0.05, told):
        pass
    await asyncio.to_thread(_no_watchdog)
    assert told.reasons == []


def _no_watchdog() -> None:
    for thread in threading.enumerate():
        if thread.name == "watchdog":
            thread.join(LIMIT_S)
            assert not thread.is_alive()
