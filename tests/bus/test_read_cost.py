"""What a read costs on a real server, in messages that the server sends: it must not grow with the history."""

import asyncio
from collections.abc import AsyncGenerator

import msgspec
import pytest

from actors.bus.jetstream import JetStreamBus, connect
from actors.run_index import newest
from protocol import codec, streams, subjects
from protocol.ids import new_run_id
from protocol.messages import RunEntry
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


async def test_listing_twenty_of_three_thousand_runs_costs_as_much_as_twenty_of_a_hundred(bus: JetStreamBus) -> None:
    await write_entries(bus, 100)
    of_hundred = await cost_of_twenty(bus)
    await write_entries(bus, 2900)
    of_thousands = await cost_of_twenty(bus)
    assert of_thousands <= of_hundred + OVERHEAD / 4
    assert of_thousands <= 20 + OVERHEAD


async def test_listing_costs_no_more_where_entries_were_rewritten_many_times(bus: JetStreamBus) -> None:
    busy = (await write_entries(bus, 50))[7]
    expect = (await bus.last(streams.INDEX, [busy]))[0].seq
    for _ in range(2000):
        expect = await bus.publish(
            busy, codec.encode(RunEntry(run="ab" * 16, team="t", status="running")), expect=expect
        )
    assert await cost_of_twenty(bus) <= 40 + OVERHEAD


async def write_entries(bus: JetStreamBus, count: int) -> list[str]:
    """Entries of finished runs, as supervisors leave them; returns their subjects."""
    entries = [
        RunEntry(run=new_run_id(), team="t", status="complete", text="x" * 100, started=1.0, finished=2.0)
        for _ in range(count)
    ]
    places = [subjects.index(entry.team, entry.run) for entry in entries]
    sends = [await bus.send(place, codec.encode(entry), expect=0) for place, entry in zip(places, entries, strict=True)]
    await asyncio.gather(*sends)
    return places


async def cost_of_twenty(bus: JetStreamBus) -> int:
    before = received(bus)
    assert len(await newest(bus, 20)) == 20
    return received(bus) - before
