"""An operator deletes streams and buckets under a running team: it makes them again and goes on."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import nats
import pytest
from actor_processes import Stage, task, until
from nats.js.errors import NotFoundError

from protocol import streams
from protocol.messages import Handoff

NATS: Any = nats  # its types are not complete

STORES = [
    streams.RUNS,
    streams.REQUESTS,
    streams.INDEX,
    streams.BREAKERS,
    *(f"KV_{bucket}" for bucket in streams.CARD_BUCKETS),
    f"OBJ_{streams.ARTIFACTS}",
]

QUIET = {streams.INDEX, streams.BREAKERS, f"OBJ_{streams.ARTIFACTS}"}
"""The team reads or writes all others also while there is no run."""


@pytest.fixture
async def operator(stage: Stage) -> AsyncGenerator[Any]:
    """The JetStream API, as the command line of NATS uses it."""
    client = await NATS.connect(stage.server.url)
    yield client.jetstream()
    await client.close()


async def exists(operator: Any, stream: str) -> bool:
    try:
        await operator.stream_info(stream)
    except NotFoundError:
        return False
    return True


async def test_a_team_goes_on_when_each_of_its_streams_and_buckets_was_deleted(stage: Stage, operator: Any) -> None:
    await stage.worker("echo")
    await stage.supervisor()
    for stream in STORES:
        await operator.delete_stream(stream)
        if stream not in QUIET:
            await until(lambda stream=stream: exists(operator, stream), 30)
        run = await stage.ask(task("a", "echo", intent=stream))
        assert (await asyncio.wait_for(run.answer(), 60)).text == stream
    assert any(b"bus.store_restored" in actor.log.read_bytes() for actor in stage.actors)


async def test_a_run_that_lost_its_past_begins_again_and_finishes(stage: Stage, operator: Any) -> None:
    await stage.worker("nap")
    await stage.supervisor()
    run = await stage.ask(task("a", "nap", intent="1"), task("b", "nap", "a", intent="0.1"), deadline_s=30)
    await stage.stored(run, Handoff, task="a")
    await operator.delete_stream(streams.RUNS)
    assert (await asyncio.wait_for(run.answer(), 60)).status == "complete"
