"""How patiently a server that is away is sought."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

from actor_processes import until

from actors.tools.server import ToolServer
from actors.toolservers.connection import Connection
from actors.toolservers.keeper import Keeper, reason
from actors.toolservers.offer import Offer
from actors.toolservers.pipes import Life
from actors.toolservers.restart_delay import LONGEST_CRASHED_S, LONGEST_FAILED_S, STABLE_S, RestartDelay
from tests.model.asking import QuickClock

SERVER = ToolServer("desk", url="http://127.0.0.1:1/mcp")


@asynccontextmanager
async def away(server: ToolServer) -> AsyncGenerator[Connection]:
    if server is SERVER:
        raise ExceptionGroup("several", [OSError("nobody listens")])
    yield NotImplemented


async def test_it_is_sought_again_and_again_at_growing_intervals() -> None:
    clock = QuickClock()
    keeper = Keeper(SERVER, clock, lambda: None)
    task = asyncio.create_task(keeper.keep(away))
    await until(lambda: len(clock.waits) >= 10)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert [round(wait, 1) for wait in clock.waits[:4]] == [0.2, 0.4, 0.8, 1.6]
    assert clock.waits[9] == LONGEST_FAILED_S
    assert keeper.tried.is_set()
    assert not keeper.there


def test_an_error_is_told_in_one_line() -> None:
    assert reason(ExceptionGroup("g", [ExceptionGroup("h", [ValueError("first\nsecond")])])) == "first second"
    assert reason(TimeoutError()) == "it did not answer in time"
    assert reason(OSError()) == "OSError"


class Brief(Connection):
    """A server that lists its tools and ends right after."""

    async def offers(self) -> list[Offer]:
        self.life.end()
        return []


@asynccontextmanager
async def brief(server: ToolServer) -> AsyncGenerator[Connection]:
    yield Brief(server, cast("Any", None), Life())


async def test_a_usable_server_that_dies_is_started_again_at_once_and_later_within_two_seconds() -> None:
    clock = QuickClock()
    keeper = Keeper(SERVER, clock, lambda: None)
    task = asyncio.create_task(keeper.keep(brief))
    await until(lambda: len(clock.waits) >= 12)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert clock.waits[:3] == [0.0, 0.2, 0.4]
    assert max(clock.waits) == LONGEST_CRASHED_S


def test_failed_starts_count_anew_after_a_usable_life_and_crashes_after_a_long_one() -> None:
    delay = RestartDelay()
    lives = [(False, 0.1), (False, 0.1), (True, 1.0), (False, 0.1), (True, 1.0), (True, STABLE_S), (True, 1.0)]
    waits = [delay.next(usable=usable, lived_s=lived_s) for usable, lived_s in lives]
    assert waits == [0.2, 0.4, 0.0, 0.2, 0.2, 0.0, 0.2]


def test_delays_stay_bounded_for_ever() -> None:
    delay = RestartDelay()
    assert [delay.next(usable=False, lived_s=0.0) for _ in range(5000)][-1] == LONGEST_FAILED_S
    assert [delay.next(usable=True, lived_s=0.0) for _ in range(5000)][-1] == LONGEST_CRASHED_S
