"""The server dies and returns: what waits, what goes on, what is told."""

import asyncio
from typing import TypeVar

from actors.bus.port import Bus, Stored
from protocol import streams, subjects
from tests.bus.world import Hands, World

T = TypeVar("T")


class OutageContract:
    async def test_a_publish_waits_for_the_server_and_is_stored_once(self, world: World) -> None:
        bus = await world.client()
        await bus.publish(world.log, b"before")
        async with world.outage():
            send = await bus.send(world.log, b"meanwhile")
            assert not send.done()
        seq = await world.finished(_answer(send))
        assert [(m.seq, m.data) for m in await bus.read(streams.RUNS, world.log)][1:] == [(seq, b"meanwhile")]

    async def test_compare_and_set_holds_across_an_outage(self, world: World) -> None:
        bus = await world.client()
        first = await bus.publish(world.log, b"1", expect=0)
        async with world.outage():
            send = await bus.send(world.log, b"2", expect=first)
        second = await world.finished(_answer(send))
        assert [m.seq for m in await bus.read(streams.RUNS, world.log)] == [first, second]

    async def test_a_chain_is_never_refused_because_of_its_own_messages(self, world: World) -> None:
        bus, under_way = await world.client(), asyncio.Event()

        async def write() -> list[int]:
            seqs = [0]
            for number in range(150):
                seqs.append(await bus.publish(world.log, str(number).encode(), expect=seqs[-1]))
                if number % 50 == 25:
                    under_way.set()
            return seqs[1:]

        async with asyncio.TaskGroup() as group:
            writing = group.create_task(write())
            for _ in range(3):
                await under_way.wait()
                under_way.clear()
                async with world.outage():
                    pass
        assert [m.seq for m in await bus.read(streams.RUNS, world.log)] == writing.result()

    async def test_messages_sent_during_an_outage_keep_their_order(self, world: World) -> None:
        bus = await world.client()
        async with world.outage():
            sends = [await bus.send(world.log, str(number).encode()) for number in range(50)]
        await world.finished(_answers(sends))
        assert [int(m.data) for m in await bus.read(streams.RUNS, world.log)] == list(range(50))

    async def test_stored_messages_and_sequences_survive(self, world: World) -> None:
        bus = await world.client()
        before = await bus.publish(world.log, b"kept")
        async with world.outage():
            pass
        after = await world.finished(bus.publish(world.log, b"new"))
        assert after > before
        assert [m.data for m in await bus.read(streams.RUNS, world.log)] == [b"kept", b"new"]

    async def test_a_read_waits_for_the_server(self, world: World) -> None:
        bus = await world.client()
        await bus.publish(world.log, b"kept")
        async with world.outage():
            read = asyncio.create_task(bus.read(streams.RUNS, world.log))
        assert [m.data for m in await world.finished(_answer(read))] == [b"kept"]

    async def test_what_is_emitted_during_an_outage_is_lost_without_an_error(self, world: World) -> None:
        bus, subject = await world.client(), subjects.cancel(world.run)
        heard: list[Stored] = []
        async with bus.subscribe(subject, heard.append):
            async with world.outage():
                await bus.emit(subject, b"lost")
            await _is_back(world, bus)
            await bus.emit(subject, b"heard")
            await world.until(lambda: len(heard) > 0)
        assert [m.data for m in heard] == [b"heard"]

    async def test_a_subscription_goes_on_after_an_outage(self, world: World) -> None:
        bus, other = await world.client(), await world.client("other")
        heard: list[Stored] = []
        async with bus.subscribe(subjects.stored(world.log), heard.append):
            async with world.outage():
                pass
            await _is_back(world, bus)
            seq = await world.finished(other.publish(world.log, b"hello"))
            await world.until(lambda: len(heard) > 0)
        assert [(m.seq, m.data) for m in heard] == [(seq, b"hello")]

    async def test_a_pull_goes_on_after_an_outage(self, world: World) -> None:
        bus, other, hands = await world.client(), await world.client("other"), Hands(world)
        pull = await bus.pull(world.queue(), 2, hands.take)
        await other.publish(world.task(1), b"")
        await (await hands.has(1))[0].ack(sure=True)
        pull.release()
        await world.passes(world.ack_wait_s / 2)
        async with world.outage():
            pass
        for number in (2, 3, 4):
            await world.finished(other.publish(world.task(number), b""))
        await hands.has(3)
        assert hands.subjects() == [world.task(1), world.task(2), world.task(3)]
        pull.release()
        await hands.has(4)
        assert world.task(4) in hands.subjects()

    async def test_what_was_held_during_an_outage_can_still_be_settled(self, world: World) -> None:
        bus, hands, queue = await world.client(), Hands(world), world.queue()
        await bus.publish(world.task(), b"")
        await bus.pull(queue, 1, hands.take)
        (delivery,) = await hands.has(1)
        async with world.outage():
            pass
        await _is_back(world, bus)

        async def settled() -> bool:
            await delivery.ack(sure=True)
            return (await bus.queues(queue.stream))[queue.name].unsettled == 0

        await world.until(settled)

    async def test_what_was_not_settled_comes_again_after_an_outage(self, world: World) -> None:
        bus, hands = await world.client(), Hands(world)
        await bus.publish(world.task(), b"")
        await bus.pull(world.queue(), 2, hands.take)
        await hands.has(1)
        async with world.outage():
            pass
        await hands.has(2)
        assert hands.subjects() == [world.task(), world.task()]

    async def test_each_return_is_told_until_that_is_undone(self, world: World) -> None:
        bus = await world.client()
        kept: list[int] = []
        undone: list[int] = []
        bus.on_reconnect(lambda: kept.append(1))
        undo = bus.on_reconnect(lambda: undone.append(1))
        assert kept == []
        async with world.outage():
            assert kept == []
        await world.until(lambda: len(kept) == len(undone) == 1)
        undo()
        async with world.outage():
            pass
        await world.until(lambda: len(kept) == 2)
        assert len(undone) == 1

    async def test_close_during_an_outage_ends_soon_and_leaves_nobody_waiting(self, world: World) -> None:
        bus = await world.client()
        async with world.outage():
            send = await bus.send(world.log, b"never")
            await world.finished(bus.close(), within_s=5.0)
        assert send.cancelled()


async def _is_back(world: World, bus: Bus) -> None:
    """Wait until the bus answers again."""
    await world.finished(bus.publish(subjects.control(world.run), b"", expect=None))


async def _answer(future: "asyncio.Future[T]") -> T:
    return await future


async def _answers(futures: "list[asyncio.Future[int]]") -> None:
    await asyncio.gather(*futures)
