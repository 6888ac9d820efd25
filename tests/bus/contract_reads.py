"""Reading the truth: ranges, last messages, single places."""

import asyncio

import pytest

from protocol import streams, subjects
from tests.bus.world import World


class ReadContract:
    async def test_a_read_gives_everything_under_a_subject_in_order(self, world: World) -> None:
        bus = await world.client()
        for number in range(3):
            await bus.publish(world.log, str(number).encode())
            await bus.publish(world.task(number), b"task")
        found = await bus.read(streams.RUNS, world.log)
        assert [m.data for m in found] == [b"0", b"1", b"2"]
        assert {m.subject for m in found} == {world.log}

    async def test_a_read_with_wildcards_mixes_subjects_in_the_order_of_storing(self, world: World) -> None:
        bus = await world.client()
        written = [world.log, world.task(2), world.task(1), world.log]
        seqs = [await bus.publish(subject, b"") for subject in written]
        found = await bus.read(streams.RUNS, subjects.run_tree(world.run))
        assert [(m.seq, m.subject) for m in found] == list(zip(seqs, written, strict=True))
        tasks = await bus.read(streams.RUNS, subjects.run_work(world.run, "task"))
        assert [m.subject for m in tasks] == [world.task(2), world.task(1)]

    async def test_a_read_begins_after_the_given_sequence(self, world: World) -> None:
        bus = await world.client()
        seqs = [await bus.publish(world.log, b"") for _ in range(4)]
        found = await bus.read(streams.RUNS, world.log, after=seqs[1])
        assert [m.seq for m in found] == seqs[2:]
        assert await bus.read(streams.RUNS, world.log, after=seqs[-1]) == []

    async def test_a_read_of_nothing_is_empty(self, world: World) -> None:
        bus = await world.client()
        assert await bus.read(streams.RUNS, world.log) == []
        assert await bus.read(streams.RUNS, subjects.run_tree(world.run)) == []

    async def test_a_read_gives_as_many_as_were_asked_for(self, world: World) -> None:
        bus = await world.client()
        seqs = [await bus.publish(world.log, b"") for _ in range(4)]
        assert [m.seq for m in await bus.read(streams.RUNS, world.log, after=seqs[0], limit=2)] == seqs[1:3]
        assert [m.seq for m in await bus.read(streams.RUNS, world.log, after=seqs[2], limit=2)] == seqs[3:]

    async def test_a_read_has_no_limit(self, world: World) -> None:
        bus, count = await world.client(), 2500
        sends = [await bus.send(world.log, str(number).encode()) for number in range(count)]
        seqs = await asyncio.gather(*sends)
        assert [int(m.data) for m in await bus.read(streams.RUNS, world.log)] == list(range(count))
        found = await bus.read(streams.RUNS, subjects.run_tree(world.run), after=seqs[99])
        assert [m.seq for m in found] == seqs[100:]

    async def test_a_read_of_exactly_a_thousand_is_whole(self, world: World) -> None:
        bus = await world.client()
        sends = [await bus.send(world.log, b"") for _ in range(1000)]
        await asyncio.gather(*sends)
        assert len(await bus.read(streams.RUNS, world.log)) == 1000

    async def test_a_read_gives_time_and_headers(self, world: World) -> None:
        bus = await world.client()
        await bus.publish(world.log, b"", headers={"traceparent": "00-ab-cd-01"})
        await bus.publish(world.log, b"")
        first, second = await bus.read(streams.RUNS, world.log)
        assert first.headers["traceparent"] == "00-ab-cd-01"
        assert "traceparent" not in second.headers
        assert 0 < first.time_ns <= second.time_ns
        assert first.time == first.time_ns / 1e9

    async def test_reads_at_the_same_time_do_not_mix(self, world: World) -> None:
        bus = await world.client()
        for number in range(20):
            await bus.publish(world.task(number), b"")
        found = await asyncio.gather(*(bus.read(streams.RUNS, world.task(number)) for number in range(20)))
        assert [[m.subject for m in one] for one in found] == [[world.task(number)] for number in range(20)]

    async def test_last_gives_the_last_message_of_each_subject_in_order_of_sequence(self, world: World) -> None:
        bus = await world.client()
        for subject, data in [(world.log, b"1"), (world.task(1), b"2"), (world.log, b"3"), (world.task(2), b"4")]:
            await bus.publish(subject, data)
        found = await bus.last(streams.RUNS, [subjects.run_tree(world.run)])
        assert [(m.subject, m.data) for m in found] == [(world.task(1), b"2"), (world.log, b"3"), (world.task(2), b"4")]

    async def test_last_takes_several_subjects_and_leaves_out_what_is_not_there(self, world: World) -> None:
        bus = await world.client()
        for subject in (world.task(2), world.task(1), world.log):
            await bus.publish(subject, b"")
        found = await bus.last(streams.RUNS, [world.log, world.task(9), subjects.run_work(world.run, "task")])
        assert [m.subject for m in found] == [world.task(2), world.task(1), world.log]
        assert await bus.last(streams.RUNS, [world.task(9)]) == []

    @pytest.mark.parametrize("count", [1000, 1010, 1100])
    async def test_last_gives_all_however_many_there_are(self, world: World, count: int) -> None:
        bus = await world.client()
        await asyncio.gather(*[await bus.send(world.task(number), b"") for number in range(count)])
        assert len(await bus.last(streams.RUNS, [subjects.run_tree(world.run)])) == count

    async def test_last_of_many_named_subjects_gives_each(self, world: World) -> None:
        bus, count = await world.client(), 1300
        await asyncio.gather(*[await bus.send(world.task(number), b"") for number in range(count)])
        found = await bus.last(streams.RUNS, [world.task(number) for number in range(count)])
        assert [m.subject for m in found] == [world.task(number) for number in range(count)]

    async def test_last_of_many_large_messages_gives_each(self, world: World) -> None:
        bus, count, data = await world.client(), 900, bytes(60_000)
        for start in range(0, count, 100):
            await asyncio.gather(*[await bus.send(world.task(start + number), data) for number in range(100)])
        found = await bus.last(streams.RUNS, [subjects.run_tree(world.run)])
        assert len(found) == count

    async def test_newest_gives_the_messages_with_the_highest_sequences_in_order(self, world: World) -> None:
        bus = await world.client()
        for number in range(6):
            await bus.publish(world.log, str(number).encode())
            await bus.publish(world.task(number), b"task")
        found = await bus.newest(streams.RUNS, world.log, 3)
        assert [(m.subject, m.data) for m in found] == [(world.log, b"3"), (world.log, b"4"), (world.log, b"5")]
        assert len(await bus.newest(streams.RUNS, world.log, 100)) == 6
        assert await bus.newest(streams.RUNS, world.task(9), 3) == []

    async def test_newest_finds_messages_behind_large_gaps(self, world: World) -> None:
        bus = await world.client()
        old = [await bus.publish(world.task(number), b"") for number in range(5)]
        sends = [await bus.send(world.log, b"") for _ in range(300)]
        await asyncio.gather(*sends)
        new = await bus.publish(world.task(6), b"")
        found = await bus.newest(streams.RUNS, subjects.run_work(world.run, "task"), 4)
        assert [m.seq for m in found] == [*old[2:], new]

    async def test_a_stream_of_last_messages_keeps_one_for_each_subject(self, world: World) -> None:
        bus = await world.client()
        entries = [subjects.index(world.team, run) for run in ("ab" * 16, "cd" * 16)]
        seqs = [await bus.publish(subject, b"1", expect=0) for subject in entries]
        again = await bus.publish(entries[0], b"2", expect=seqs[0])
        found = await bus.newest(streams.INDEX, subjects.index_of(world.team), 10)
        assert [(m.subject, m.seq, m.data) for m in found] == [(entries[1], seqs[1], b"1"), (entries[0], again, b"2")]
        assert await bus.counts(streams.INDEX, subjects.index_of(world.team)) == dict.fromkeys(entries, 1)

    async def test_counts_gives_the_number_of_messages_on_each_subject(self, world: World) -> None:
        bus = await world.client()
        for subject in (world.log, world.task(1), world.log, world.task(2)):
            await bus.publish(subject, b"")
        tree = subjects.run_tree(world.run)
        assert await bus.counts(streams.RUNS, tree) == {world.log: 2, world.task(1): 1, world.task(2): 1}
        assert await bus.counts(streams.RUNS, world.task(9)) == {}

    async def test_get_of_a_place_that_holds_nothing_is_none(self, world: World) -> None:
        bus = await world.client()
        seq = await bus.publish(world.log, b"")
        assert await bus.get(streams.RUNS, seq + 1000) is None

    async def test_delete_takes_a_message_out_once(self, world: World) -> None:
        bus = await world.client()
        first, second = [await bus.publish(world.log, b"") for _ in range(2)]
        assert await bus.delete(streams.RUNS, first) is True
        assert await bus.delete(streams.RUNS, first) is False
        assert await bus.get(streams.RUNS, first) is None
        assert [m.seq for m in await bus.read(streams.RUNS, world.log)] == [second]

    async def test_delete_of_what_was_never_there_is_false(self, world: World) -> None:
        bus = await world.client()
        assert await bus.delete(streams.RUNS, await bus.publish(world.log, b"") + 1000) is False
