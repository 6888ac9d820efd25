"""The bus in memory keeps the contract."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.clock import Clock
from actors.settings import Settings
from tests.bus.contract import BusContract
from tests.bus.contract_store import SMALL, StoreContract
from tests.bus.world import PATIENCE_S, SETTINGS, World, truth

T = TypeVar("T")

TICK_S = 0.02


class MemoryWorld(World):
    """A server in memory, on a clock of its own."""

    def __init__(self, settings: Settings = SETTINGS) -> None:
        super().__init__()
        self.settings = settings
        self._clock = VirtualClock()
        self.server = MemoryServer(settings, self._clock)

    async def client(self, name: str = "client", clock: Clock | None = None) -> MemoryBus:
        return MemoryBus(self.server, name, clock)

    @property
    def clock(self) -> VirtualClock:
        return self._clock

    def now(self) -> float:
        return self.clock.monotonic()

    async def passes(self, seconds: float) -> None:
        await self.clock.advance(seconds)

    async def until(self, holds: Callable[[], bool | Awaitable[bool]], within_s: float = PATIENCE_S) -> None:
        deadline = self.clock.monotonic() + within_s
        await self.clock.advance(0)
        while not await truth(holds()):
            assert self.clock.monotonic() < deadline, f"does not hold after {within_s} s"
            await self.clock.advance(TICK_S)

    async def finished(self, work: Coroutine[Any, Any, T], within_s: float = PATIENCE_S) -> T:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(work)
            await self.until(task.done, within_s)
        return task.result()

    @asynccontextmanager
    async def outage(self) -> AsyncGenerator[None]:
        self.server.down()
        await self.clock.advance(0.1)
        yield
        self.server.restart()

    async def delete_stream(self, name: str) -> None:
        self.server.delete_stream(name)


@pytest.fixture
async def world() -> MemoryWorld:
    return MemoryWorld()


class TestMemoryBus(BusContract):
    """Every promise, in memory."""


class TestSmallStore(StoreContract):
    """Every promise of a store with little room, in memory."""

    @pytest.fixture
    async def world(self) -> MemoryWorld:
        return MemoryWorld(SMALL)
