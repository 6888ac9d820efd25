"""How patiently a server that is away is sought."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from actor_processes import until

from actors.tools.server import ToolServer
from actors.toolservers.connection import Connection
from actors.toolservers.keeper import LONGEST_WAIT_S, Keeper, reason
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
    assert clock.waits[9] == LONGEST_WAIT_S
    assert keeper.tried.is_set()
    assert not keeper.there


def test_an_error_is_told_in_one_line() -> None:
    assert reason(ExceptionGroup("g", [ExceptionGroup("h", [ValueError("first\nsecond")])])) == "first second"
    assert reason(TimeoutError()) == "it did not answer in time"
    assert reason(OSError()) == "OSError"
