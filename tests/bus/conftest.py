"""Servers for the tests of the bus: a real one, and one in memory with two processes on it."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.settings import Settings
from tests.servers import NatsServer


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def nats_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[NatsServer]:
    """One server for all tests of a module; a test may kill it if it starts it again."""
    async with NatsServer(tmp_path_factory.mktemp("nats")) as server:
        yield server


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def server(clock: VirtualClock) -> MemoryServer:
    return MemoryServer(Settings(), clock)


@pytest.fixture
async def bus(server: MemoryServer) -> MemoryBus:
    return MemoryBus(server, "bus")


@pytest.fixture
async def other(server: MemoryServer) -> MemoryBus:
    return MemoryBus(server, "other")
