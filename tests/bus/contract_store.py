"""A store with little room: what is refused, what waits, what gives way, and how room is made."""

import asyncio

import msgspec
import pytest

from actors.bus.port import Bus, Stored
from protocol import streams, subjects
from protocol.errors import FullError
from protocol.subjects import TaskAddress
from tests.bus.world import SETTINGS, World

KIB = 1024
SMALL = msgspec.structs.replace(
    SETTINGS,
    runs_bytes=512 * KIB,
    artifacts_bytes=512 * KIB,
    requests_bytes=128 * KIB,
    dead_bytes=128 * KIB,
)
PART = b"x" * 16 * KIB


async def fill(bus: Bus, subject: str) -> list[int]:
    """Publish to a subject that does not wait for room until it is refused."""
    stored: list[int] = []
    for _ in range(200):
        try:
            stored.append(await bus.publish(subject, PART))
        except FullError:
            return stored
    raise AssertionError("the stream never was full")


class StoreContract:
    async def test_the_state_of_a_store_tells_bytes_and_limit(self, world: World) -> None:
        bus = await world.client()
        before = await bus.store_state(streams.RUNS)
        await bus.publish(world.log, PART)
        after = await bus.store_state(streams.RUNS)
        assert (before.limit, after.limit) == (512 * KIB, 512 * KIB)
        assert len(PART) < after.bytes - before.bytes < len(PART) + 512
        assert after.share == after.bytes / after.limit
        assert after.keep_s == SMALL.keep.total_seconds()

    async def test_a_full_store_refuses_a_request_and_keeps_what_it_has(self, world: World) -> None:
        bus, subject = await world.client(), subjects.request(world.team)
        stored = await fill(bus, subject)
        with pytest.raises(FullError) as refused:
            await bus.publish(subject, PART)
        assert (refused.value.subject, refused.value.stream) == (subject, streams.REQUESTS)
        assert [m.seq for m in await bus.read(streams.REQUESTS, subject)] == stored
        await bus.delete(streams.REQUESTS, stored[0])
        assert await bus.publish(subject, PART) > stored[-1]
        await bus.purge(streams.REQUESTS, subject)

    async def test_a_full_store_refuses_a_control_and_a_message_of_a_run_waits(self, world: World) -> None:
        bus, control = await world.client(), subjects.control(world.run)
        result = TaskAddress(world.run, world.team, "worker", "t1", 1).result
        await fill(bus, control)
        waiting = await bus.send(result, PART, expect=0)
        await world.passes(0.5)
        assert not waiting.done()
        assert await bus.purge(streams.RUNS, control) > 0
        seq = await world.finished(_answer(waiting))
        assert [m.seq for m in await bus.read(streams.RUNS, result)] == [seq]
        await bus.purge(streams.RUNS, subjects.run_tree(world.run))

    async def test_full_dead_letters_drop_the_oldest(self, world: World) -> None:
        bus, subject = await world.client(), subjects.dead(streams.RUNS)
        seqs = [await bus.publish(subject, PART) for _ in range(20)]
        kept = [m.seq for m in await bus.read(streams.DEAD, subject)]
        assert 0 < len(kept) < 20
        assert kept == seqs[-len(kept) :]

    async def test_an_artifact_waits_for_room(self, world: World) -> None:
        bus = await world.client()
        await bus.put_artifact("old", b"x" * 300 * KIB)
        waiting = asyncio.create_task(bus.put_artifact("new", b"y" * 300 * KIB))
        await world.passes(0.5)
        assert not waiting.done()
        await bus.drop_artifact("old")
        await world.finished(_done(waiting))
        assert await bus.get_artifact("new") == b"y" * 300 * KIB
        assert await bus.get_artifact("old") is None
        await bus.drop_artifact("new")

    async def test_a_dropped_artifact_is_not_listed_and_frees_its_room(self, world: World) -> None:
        bus = await world.client()
        before = (await bus.store_state(streams.OBJECTS)).bytes
        for name in ("a.b", "c/d"):
            await bus.put_artifact(name, PART)
        assert sorted(await bus.artifact_names()) == ["a.b", "c/d"]
        await bus.drop_artifact("a.b")
        assert await bus.artifact_names() == ["c/d"]
        await bus.drop_artifact("c/d")
        await bus.drop_artifact("c/d")
        assert (await bus.store_state(streams.OBJECTS)).bytes == before

    async def test_a_purge_keeps_the_last_messages_and_those_of_other_subjects(self, world: World) -> None:
        bus = await world.client()
        seqs = [await bus.publish(world.log, b"") for _ in range(4)]
        other = await bus.publish(world.task(), b"")
        assert await bus.purge(streams.RUNS, world.log, keep=1) == 3
        left: list[Stored] = await bus.read(streams.RUNS, subjects.run_tree(world.run))
        assert [m.seq for m in left] == [seqs[-1], other]
        assert await bus.purge(streams.RUNS, world.log, keep=1) == 0
        assert await bus.purge(streams.RUNS, subjects.run_tree(world.run)) == 2


async def _answer(future: "asyncio.Future[int]") -> int:
    return await future


async def _done(task: "asyncio.Task[str]") -> None:
    await task
