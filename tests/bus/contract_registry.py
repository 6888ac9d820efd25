"""Cards that fade, and artifacts that stay."""

import base64
import hashlib
import random

from waiting import LIMIT_S

from actors.bus.port import Bus
from protocol import streams, subjects
from tests.bus.world import World


class RegistryContract:
    async def test_a_card_is_seen_by_everybody_until_it_is_dropped(self, world: World) -> None:
        bus, other = await world.client(), await world.client("other")
        key = subjects.card(world.team, "worker", "one")
        await bus.put_card(key, b"here")
        assert await _contents(other, world.team) == {key: b"here"}
        await bus.drop_card(key)
        assert await other.cards(f"{world.team}.") == {}

    async def test_the_registries_of_workers_and_supervisors_are_apart(self, world: World) -> None:
        bus, key = await world.client(), subjects.supervisor_card(world.team, "one")
        await bus.put_card(key, b"supervisor", bucket=streams.SUPERVISORS)
        await bus.put_card(key, b"worker")
        assert await _contents(bus, world.team, streams.SUPERVISORS) == {key: b"supervisor"}
        await bus.drop_card(key, bucket=streams.SUPERVISORS)
        assert await bus.cards(f"{world.team}.", bucket=streams.SUPERVISORS) == {}
        assert await _contents(bus, world.team) == {key: b"worker"}

    async def test_a_card_that_is_written_again_has_its_new_content(self, world: World) -> None:
        bus, key = await world.client(), subjects.card(world.team, "worker", "one")
        await bus.put_card(key, b"idle")
        await bus.put_card(key, b"busy")
        assert await _contents(bus, world.team) == {key: b"busy"}

    async def test_a_dropped_card_can_be_written_again(self, world: World) -> None:
        bus, key = await world.client(), subjects.card(world.team, "worker", "one")
        await bus.put_card(key, b"1")
        await bus.drop_card(key)
        await bus.put_card(key, b"2")
        assert await _contents(bus, world.team) == {key: b"2"}

    async def test_dropping_a_card_that_is_not_there_is_no_error(self, world: World) -> None:
        bus = await world.client()
        await bus.drop_card(subjects.card(world.team, "worker", "nobody"))
        assert await bus.cards(f"{world.team}.") == {}

    async def test_a_prefix_chooses_a_team_or_a_worker(self, world: World) -> None:
        bus = await world.client()
        keys = [subjects.card(team, "worker", "one") for team in (world.team, world.team + "x")]
        for key in keys:
            await bus.put_card(key, b"")
        assert set(await bus.cards(f"{world.team}.")) == {keys[0]}
        assert set(await bus.cards(f"{world.team}x.worker.")) == {keys[1]}
        assert set(await bus.cards()) >= set(keys)

    async def test_a_card_fades_unless_it_is_written_again(self, world: World) -> None:
        bus, ttl_s = await world.client(), world.settings.card_ttl_s
        fading, kept = (subjects.card(world.team, "worker", name) for name in ("fading", "kept"))
        await bus.put_card(fading, b"")
        began = written = world.now()
        while await _is_there(bus, fading):
            assert world.now() - began < LIMIT_S
            await bus.put_card(kept, b"")
            written = world.now()
            await world.passes(ttl_s / 4)
        assert world.now() - began >= ttl_s * 0.9
        assert await _is_there(bus, kept) or world.now() - written > ttl_s * 0.9

    async def test_an_artifact_comes_back_whole_under_its_name(self, world: World) -> None:
        bus, other = await world.client(), await world.client("other")
        data = random.Random(1).randbytes(1_000_003)
        digest = await bus.put_artifact(f"{world.run}/report", data)
        assert digest == "SHA-256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
        assert await other.get_artifact(f"{world.run}/report") == data

    async def test_an_empty_artifact_is_an_artifact(self, world: World) -> None:
        bus = await world.client()
        await bus.put_artifact(f"{world.run}/empty", b"")
        assert await bus.get_artifact(f"{world.run}/empty") == b""

    async def test_an_artifact_put_again_has_its_new_content(self, world: World) -> None:
        bus = await world.client()
        first = await bus.put_artifact(f"{world.run}/draft", b"one")
        assert await bus.put_artifact(f"{world.run}/draft", b"two") != first
        assert await bus.get_artifact(f"{world.run}/draft") == b"two"

    async def test_an_artifact_that_nobody_put_is_none(self, world: World) -> None:
        assert await (await world.client()).get_artifact(f"{world.run}/nothing") is None


async def _contents(bus: Bus, team: str, bucket: str = streams.WORKERS) -> dict[str, bytes]:
    return {key: stored.data for key, stored in (await bus.cards(f"{team}.", bucket=bucket)).items()}


async def _is_there(bus: Bus, key: str) -> bool:
    return key in await bus.cards(key.rpartition(".")[0] + ".")
