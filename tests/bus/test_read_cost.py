"""What a read costs on a real server, in messages that the server sends: it must not grow with the history."""

import asyncio
from collections.abc import AsyncGenerator

import msgspec
import pytest

from actors.bus.jetstream import JetStreamBus, connect
from protocol import streams, subjects
from protocol.ids import new_run_id
from tests.bus.world import PATIENCE_S, SETTINGS
from tests.servers import NatsServer

pytestmark = pytest.mark.process

OVERHEAD = 40
"""Messages beside those that were asked for: the ends of pages and what the client hears anyway."""


@pytest.fixture
async def bus(nats_server: NatsServer) -> AsyncGenerator[JetStreamBus]:
    bus = await connect(msgspec.structs.replace(SETTINGS, nats_url=nats_server.url), timeout_s=PATIENCE_S)
    yield bus
    await bus.close()


def received(bus: JetStreamBus) -> int:
    """How many messages the server has sent to this process."""
    return bus._client.stats["in_msgs"]  # pyright: ignore[reportPrivateUsage]


async def test_the_last_message_of_many_runs_is_found_without_reading_their_history(bus: JetStreamBus) -> None:
    runs = [new_run_id() for _ in range(1060)]
    for _ in range(3):
        await asyncio.gather(*[await bus.send(subjects.log(run), b"{}") for run in runs])
    before = received(bus)
    found = await bus.last(streams.RUNS, [subjects.log("*")])
    assert {message.subject for message in found} >= {subjects.log(run) for run in runs}
    assert received(bus) - before <= len(found) + OVERHEAD
