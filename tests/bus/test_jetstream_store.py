"""The store of a real server: little room, limits of the settings, streams of older versions."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import msgspec
import nats
import pytest

from actors.bus.jetstream import JetStreamBus, connect, reader
from actors.setting_rules import GIB
from actors.settings import Settings
from protocol import streams, subjects
from protocol.errors import BusError
from tests.bus.contract_store import SMALL, StoreContract
from tests.bus.test_jetstream_contract import JetStreamWorld
from tests.servers import NatsServer

NATS: Any = nats  # its types are not complete
LIMITS = Settings().store_limits

pytestmark = pytest.mark.process


class TestSmallStore(StoreContract):
    """Every promise of a store with little room, for real."""

    @pytest.fixture
    async def world(self, nats_server: NatsServer) -> AsyncGenerator[JetStreamWorld]:
        world = JetStreamWorld(nats_server, SMALL)
        yield world
        await world.close()


async def made(server: NatsServer, settings: Settings) -> JetStreamBus:
    return await connect(msgspec.structs.replace(settings, nats_url=server.url), timeout_s=10)


async def configurations(server: NatsServer) -> dict[str, Any]:
    client = await NATS.connect(server.url)
    found = {info.config.name: info.config for info in await client.jetstream().streams_info()}
    await client.close()
    return found


async def test_streams_are_made_with_the_limits_of_the_settings_and_only_dead_letters_drop_the_oldest(
    tmp_path: Path,
) -> None:
    async with NatsServer(tmp_path) as server:
        await (await made(server, Settings())).close()
        found = await configurations(server)
    assert {name: found[name].max_bytes for name in LIMITS} == LIMITS
    assert {name for name in LIMITS if found[name].discard == "old"} == {streams.DEAD}
    assert sum(LIMITS.values()) == 8 * GIB + 3 * GIB // 4


async def test_streams_of_an_older_version_get_limits_and_keep_their_messages_and_settings(tmp_path: Path) -> None:
    async with NatsServer(tmp_path) as server:
        client = await NATS.connect(server.url)
        js = client.jetstream()
        await js.add_stream(
            name=streams.REQUESTS, subjects=[subjects.REQUESTS], retention="workqueue", allow_direct=True, max_age=99
        )
        await js.add_stream(
            name=streams.DEAD, subjects=[subjects.DEAD], allow_direct=True, metadata={"kept": "yes"}, discard="new"
        )
        await js.create_object_store(streams.ARTIFACTS)
        await js.publish(subjects.request("default"), b"before")
        await client.close()
        bus = await made(server, Settings())
        found = await configurations(server)
        stored = await bus.read(streams.REQUESTS, subjects.REQUESTS)
        await bus.close()
    assert {name: found[name].max_bytes for name in LIMITS} == LIMITS
    assert {name for name in LIMITS if found[name].discard == "old"} == {streams.DEAD}
    assert (found[streams.REQUESTS].max_age, found[streams.DEAD].metadata["kept"]) == (99, "yes")
    assert [message.data for message in stored] == [b"before"]


async def test_a_stream_of_an_older_version_is_not_full_at_once(tmp_path: Path) -> None:
    async with NatsServer(tmp_path) as server:
        client = await NATS.connect(server.url)
        js = client.jetstream()
        await js.add_stream(
            name=streams.REQUESTS, subjects=[subjects.REQUESTS], retention="workqueue", allow_direct=True
        )
        for _ in range(20):
            await js.publish(subjects.request("default"), b"x" * 10_000)
        await client.close()
        bus = await made(server, Settings(requests_bytes=100_000))
        state = await bus.store_state(streams.REQUESTS)
        await bus.publish(subjects.request("default"), b"x" * 10_000)
        await bus.close()
    assert state.share == pytest.approx(0.7, abs=0.01)


async def test_a_limit_that_exists_stays_until_a_resize_applies_the_settings(tmp_path: Path) -> None:
    async with NatsServer(tmp_path) as server:
        await (await made(server, Settings(runs_bytes=GIB))).close()
        bus = await made(server, Settings(runs_bytes=2 * GIB))
        before = (await bus.store_state(streams.RUNS)).limit
        await bus.resize_store()
        after = (await bus.store_state(streams.RUNS)).limit
        await bus.close()
    assert (before, after) == (GIB, 2 * GIB)


async def test_limits_shrink_together_until_a_small_server_has_room_for_all(tmp_path: Path) -> None:
    async with NatsServer(tmp_path, store="1GB") as server:
        bus = await made(server, Settings())
        limits = {name: (await bus.store_state(name)).limit for name in LIMITS}
        await bus.resize_store()
        again = {name: (await bus.store_state(name)).limit for name in LIMITS}
        await bus.close()
    assert {LIMITS[name] / limit for name, limit in limits.items()} == {16.0}
    assert again == limits


async def test_descriptions_that_cannot_be_read_hide_no_artifact(tmp_path: Path) -> None:
    async with NatsServer(tmp_path) as server:
        bus = await made(server, Settings())
        await bus.put_artifact("run.output", b"apples")
        client = await NATS.connect(server.url)
        for number, garbage in enumerate([b"", b"{", b"[]", b'{"name": "x"}', b'{"nuid": "x"}']):
            await client.jetstream().publish(f"$O.{streams.ARTIFACTS}.M.garbage-{number}", garbage)
        await client.close()
        assert await bus.artifact_names() == ["run.output"]
        await bus.drop_artifact("run.output")
        assert await bus.artifact_names() == []
        await bus.close()


async def test_a_stream_of_another_configuration_beside_a_deleted_one_is_an_error_of_the_bus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BusError: the run is tried again. InvalidError would end it as failed."""
    monkeypatch.setattr(reader, "GONE_S", 0.5)
    async with NatsServer(tmp_path) as server:
        bus = await made(server, Settings())
        client = await NATS.connect(server.url)
        js = client.jetstream()
        dead = (await js.stream_info(streams.DEAD)).config
        dead.subjects = ["elsewhere.>"]
        await js.update_stream(dead)
        await js.delete_stream(streams.BREAKERS)
        with pytest.raises(BusError):
            await bus.last(streams.BREAKERS, [subjects.breakers("default")])
        await client.close()
        await bus.close()
