"""A server that runs, but stores nothing: the error says so, and what to do."""

from pathlib import Path

import pytest

from actors.bus.jetstream import connect
from actors.settings import Settings
from protocol.errors import BusError
from tests.servers import NatsServer

pytestmark = pytest.mark.process


async def test_a_server_without_jetstream_is_named_with_what_to_do(tmp_path: Path) -> None:
    async with NatsServer(tmp_path, jetstream=False) as server:
        with pytest.raises(BusError) as refused:
            await connect(Settings(nats_url=server.url), timeout_s=10)
    assert all(part in str(refused.value) for part in (server.url, "JetStream", "-js"))
    assert "None" not in str(refused.value)
