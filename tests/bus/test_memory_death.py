"""Processes that die on the bus in memory, those that come back as zombies, and messages that grow old."""

from datetime import timedelta

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.bus.port import Delivery, Stored
from protocol import streams, subjects
from protocol.errors import UnreachableError
from tests.bus.run_in_memory import LOG, RUN, TASK, TASKS, first_delivery, first_delivery_later


class TestDeath:
    async def test_what_a_killed_process_held_comes_back_after_the_ack_wait_and_not_before(
        self, bus: MemoryBus, other: MemoryBus, clock: VirtualClock
    ) -> None:
        doomed: list[Delivery] = []
        held: list[Delivery] = []
        await other.publish(TASK, b"")
        await bus.pull(TASKS, 1, doomed.append)
        await clock.advance(0)
        bus.kill()
        await other.pull(TASKS, 1, held.append)
        await clock.advance(4.9)
        assert held == []
        await clock.advance(0.2)
        assert [delivery.count for delivery in held] == [2]

    async def test_a_dead_process_settles_nothing(self, bus: MemoryBus, other: MemoryBus, clock: VirtualClock) -> None:
        await other.publish(TASK, b"")
        delivery = await first_delivery(bus, TASKS, clock)
        bus.kill()
        await delivery.ack()
        await delivery.retry(0)
        await delivery.in_progress()
        await clock.advance(1)
        assert (await other.queues(streams.RUNS))[TASKS.name].unsettled == 1
        assert (await first_delivery_later(other, clock)).count == 2

    async def test_a_dead_process_asks_for_nothing_and_hears_nothing(
        self, bus: MemoryBus, other: MemoryBus, clock: VirtualClock
    ) -> None:
        held: list[Delivery] = []
        heard: list[Stored] = []
        async with bus.subscribe(subjects.stored(LOG), heard.append):
            await bus.pull(TASKS, 1, held.append)
            bus.kill()
            await other.publish(LOG, b"")
            await other.publish(TASK, b"")
            await clock.advance(1)
        assert (held, heard) == ([], [])
        assert (await other.queues(streams.RUNS))[TASKS.name].waiting == 0

    async def test_what_a_dead_process_had_not_sent_is_never_sent(
        self, server: MemoryServer, bus: MemoryBus, other: MemoryBus, clock: VirtualClock
    ) -> None:
        server.down()
        sent = await bus.send(LOG, b"unsent")
        bus.kill()
        server.up()
        await clock.advance(60)
        assert sent.cancelled(), "nothing of a dead process waits for an answer"
        assert await other.read(streams.RUNS, LOG) == []

    async def test_what_a_dead_process_had_stored_stays(self, bus: MemoryBus, other: MemoryBus) -> None:
        await bus.send(LOG, b"stored")
        bus.kill()
        assert [m.data for m in await other.read(streams.RUNS, LOG)] == [b"stored"]

    async def test_a_dead_process_that_goes_on_talking_is_told_so(self, bus: MemoryBus) -> None:
        bus.kill()
        with pytest.raises(UnreachableError):
            await bus.publish(LOG, b"")
        with pytest.raises(UnreachableError):
            await bus.read(streams.RUNS, LOG)


class TestZombies:
    async def test_the_sign_of_life_of_a_former_holder_keeps_the_lease_of_the_new_one(
        self, bus: MemoryBus, other: MemoryBus, clock: VirtualClock
    ) -> None:
        held: list[Delivery] = []
        await bus.publish(TASK, b"")
        zombie = await first_delivery(bus, TASKS, clock)
        await other.pull(TASKS, 10, held.append)
        await clock.advance(5)
        for _ in range(3):
            await clock.advance(4)
            await zombie.in_progress()
        assert [delivery.count for delivery in held] == [2]
        await clock.advance(5)
        assert [delivery.count for delivery in held] == [2, 3]

    async def test_a_former_holder_can_take_a_message_from_its_new_one(
        self, bus: MemoryBus, other: MemoryBus, clock: VirtualClock
    ) -> None:
        held: list[Delivery] = []
        await bus.publish(TASK, b"")
        zombie = await first_delivery(bus, TASKS, clock)
        await other.pull(TASKS, 10, held.append)
        await clock.advance(5)
        await zombie.retry(1)
        await clock.advance(1)
        assert [delivery.count for delivery in held] == [2, 3]


class TestLimits:
    async def test_messages_older_than_their_stream_keeps_them_are_gone(
        self, bus: MemoryBus, clock: VirtualClock
    ) -> None:
        held: list[Delivery] = []
        await bus.publish(TASK, b"old", expect=0)
        await clock.advance(timedelta(days=6).total_seconds())
        young = await bus.publish(LOG, b"young")
        await clock.advance(timedelta(days=1).total_seconds() + 1)
        assert [m.seq for m in await bus.read(streams.RUNS, subjects.run_tree(RUN))] == [young]
        await bus.pull(TASKS, 1, held.append)
        await clock.advance(0)
        assert held == []

    async def test_requests_are_kept_until_somebody_takes_them(self, bus: MemoryBus, clock: VirtualClock) -> None:
        seq = await bus.publish(subjects.request("team"), b"")
        await clock.advance(timedelta(days=400).total_seconds())
        assert await bus.get(streams.REQUESTS, seq) is not None
