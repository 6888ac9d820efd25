"""A real server for the tests of the bus."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.servers import NatsServer


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def nats_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[NatsServer]:
    """One server for all tests of a module; a test may kill it if it starts it again."""
    async with NatsServer(tmp_path_factory.mktemp("nats")) as server:
        yield server
