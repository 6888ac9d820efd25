"""The protocol version of a bus: the first process writes it, newer ones raise it, those too old for it refuse it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import nats
import pytest
from nats.js.api import RePublish

from actors.bus.jetstream import connect
from actors.settings import Settings
from protocol import streams, subjects
from protocol.errors import InvalidError
from tests.actor_processes import Stage
from tests.servers import NatsServer

NATS: Any = nats  # its types are not complete

pytestmark = pytest.mark.process


@asynccontextmanager
async def jetstream(server: NatsServer) -> AsyncGenerator[Any]:
    client = await NATS.connect(server.url)
    try:
        yield client.jetstream()
    finally:
        await client.close()


async def connected(server: NatsServer) -> None:
    await (await connect(Settings(nats_url=server.url), timeout_s=10)).close()


async def version(server: NatsServer) -> str | None:
    async with jetstream(server) as js:
        return (await js.stream_info(streams.RUNS)).config.metadata.get(streams.VERSION_KEY)


async def change(server: NatsServer, told: str) -> None:
    """Let the stream name another version."""
    async with jetstream(server) as js:
        config = (await js.stream_info(streams.RUNS)).config
        config.metadata = {streams.VERSION_KEY: told, "kept": "yes"}
        await js.update_stream(config)


async def test_the_stream_of_runs_names_the_version_when_it_is_made(tmp_path: Path) -> None:
    async with NatsServer(tmp_path) as server:
        await connected(server)
        assert await version(server) == streams.VERSION


@pytest.mark.parametrize("told", ["", "0.9"])
async def test_a_stream_without_a_version_or_with_an_older_one_gets_it_and_keeps_the_rest(
    tmp_path: Path, told: str
) -> None:
    async with NatsServer(tmp_path) as server:
        async with jetstream(server) as js:
            metadata = {"kept": "yes"} | ({streams.VERSION_KEY: told} if told else {})
            republish = RePublish(src=subjects.RUNS, dest=subjects.STORED)
            await js.add_stream(
                name=streams.RUNS,
                subjects=[subjects.RUNS],
                allow_direct=True,
                republish=republish,
                max_age=99,
                metadata=metadata,
            )
        await connected(server)
        assert await version(server) == streams.VERSION
        async with jetstream(server) as js:
            config = (await js.stream_info(streams.RUNS)).config
    assert (config.metadata["kept"], config.max_age) == ("yes", 99)


async def test_a_newer_minor_version_stays_and_is_no_obstacle(tmp_path: Path) -> None:
    async with NatsServer(tmp_path) as server:
        await connected(server)
        newer = streams.VERSION.partition(".")[0] + ".999"
        await change(server, newer)
        await connected(server)
        assert await version(server) == newer


@pytest.mark.parametrize("told", ["2.0", "17", "new"])
async def test_a_newer_major_version_or_one_that_is_none_is_refused_and_stays(tmp_path: Path, told: str) -> None:
    async with NatsServer(tmp_path) as server:
        await connected(server)
        await change(server, told)
        with pytest.raises(InvalidError) as refused:
            await connected(server)
        assert told in str(refused.value)
        assert streams.VERSION in str(refused.value)
        assert await version(server) == told


async def test_an_actor_refuses_a_newer_major_version_in_one_sentence(tmp_path: Path) -> None:
    async with Stage(tmp_path) as stage:
        await change(stage.server, "2.0")
        actors = [stage.start("supervisor"), stage.start("worker", "system.workers_for_tests:echo")]
        assert await asyncio.gather(*(actor.ended() for actor in actors)) == [2, 2]
        for actor in actors:
            said = actor.log.read_text()
            assert "Traceback" not in said
            (line,) = [line for line in said.splitlines() if line.startswith("handoff: ")]
            assert "2.0" in line
            assert streams.VERSION in line
