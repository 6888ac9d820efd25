"""Hearing what is said: stored messages on the republished subjects, plain ones for those who listen."""

import pytest

from actors.bus.port import Stored
from protocol import streams, subjects
from protocol.errors import ConflictError
from tests.bus.world import World


class SubscribeContract:
    async def test_a_stored_message_is_heard_with_the_subject_sequence_and_time_it_was_stored_with(
        self, world: World
    ) -> None:
        bus, other = await world.client(), await world.client("other")
        heard: list[Stored] = []
        async with bus.subscribe(subjects.stored(subjects.run_tree(world.run)), heard.append):
            seq = await other.publish(world.log, b"hello", headers={"traceparent": "00-ab-cd-01"})
            await world.until(lambda: len(heard) == 1)
        stored = await bus.get(streams.RUNS, seq)
        assert stored is not None
        assert (heard[0].subject, heard[0].data, heard[0].seq) == (world.log, b"hello", seq)
        assert heard[0].time_ns == stored.time_ns
        assert heard[0].headers["traceparent"] == "00-ab-cd-01"

    async def test_a_refused_message_is_not_heard_on_the_subject_of_stored_ones(self, world: World) -> None:
        bus, other = await world.client(), await world.client("other")
        heard: list[Stored] = []
        async with bus.subscribe(subjects.stored(subjects.run_tree(world.run)), heard.append):
            seq = await other.publish(world.log, b"1", expect=0)
            with pytest.raises(ConflictError):
                await other.publish(world.log, b"refused", expect=0)
            await other.publish(world.log, b"2", expect=seq)
            await world.until(lambda: len(heard) == 2)
        assert [m.data for m in heard] == [b"1", b"2"]

    async def test_stored_messages_are_heard_in_order(self, world: World) -> None:
        bus, other = await world.client(), await world.client("other")
        heard: list[Stored] = []
        async with bus.subscribe(subjects.stored(world.log), heard.append):
            for number in range(100):
                await other.send(world.log, str(number).encode())
            await world.until(lambda: len(heard) == 100)
        assert [int(m.data) for m in heard] == list(range(100))

    async def test_only_what_is_said_from_now_on_is_heard(self, world: World) -> None:
        bus = await world.client()
        heard: list[Stored] = []
        await bus.publish(world.log, b"before")
        async with bus.subscribe(subjects.stored(world.log), heard.append):
            await bus.publish(world.log, b"after")
            await world.until(lambda: len(heard) > 0)
        assert [m.data for m in heard] == [b"after"]

    async def test_what_another_process_emits_is_heard_and_has_no_place_in_a_stream(self, world: World) -> None:
        bus, other = await world.client(), await world.client("other")
        heard: list[Stored] = []
        async with bus.subscribe(subjects.CANCELS, heard.append):
            await other.emit(subjects.cancel(world.run), b"over")
            await world.until(lambda: any(m.subject == subjects.cancel(world.run) for m in heard))
        mine = [m for m in heard if m.subject == subjects.cancel(world.run)]
        assert [(m.data, m.seq, m.time_ns) for m in mine] == [(b"over", 0, 0)]

    async def test_what_is_too_long_to_be_said_ends_nothing(self, world: World) -> None:
        bus, subject = await world.client(), subjects.cancel(world.run)
        heard: list[Stored] = []
        async with bus.subscribe(subject, heard.append):
            await bus.emit(subject, b"x" * 20_000_000)
            await bus.emit(subject, b"heard")
            await world.until(lambda: any(m.data == b"heard" for m in heard))

    async def test_everybody_who_listens_hears_it(self, world: World) -> None:
        bus, other = await world.client(), await world.client("other")
        here: list[Stored] = []
        there: list[Stored] = []
        subject = subjects.cancel(world.run)
        async with bus.subscribe(subject, here.append), other.subscribe(subject, there.append):
            await bus.emit(subject, b"x")
            await world.until(lambda: len(here) == len(there) == 1)

    async def test_a_star_stands_for_one_token_and_an_arrow_for_the_rest(self, world: World) -> None:
        bus = await world.client()
        star: list[Stored] = []
        arrow: list[Stored] = []
        root = subjects.cancel(world.run)
        async with bus.subscribe(f"{root}.*.end", star.append), bus.subscribe(f"{root}.>", arrow.append):
            for tail in (".a.end", ".a.b.end", ".a", "", ".b.end"):
                await bus.emit(root + tail, tail.encode())
            await world.until(lambda: len(arrow) == 4)
        assert [m.data for m in arrow] == [b".a.end", b".a.b.end", b".a", b".b.end"]
        assert [m.data for m in star] == [b".a.end", b".b.end"]

    async def test_after_its_block_a_subscription_hears_nothing(self, world: World) -> None:
        bus, subject = await world.client(), subjects.cancel(world.run)
        gone: list[Stored] = []
        still: list[Stored] = []
        async with bus.subscribe(subject, still.append):
            async with bus.subscribe(subject, gone.append):
                await bus.emit(subject, b"1")
                await world.until(lambda: len(gone) == 1)
            await bus.emit(subject, b"2")
            await world.until(lambda: len(still) == 2)
        assert [m.data for m in gone] == [b"1"]
