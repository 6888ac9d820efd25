"""What can be made to go wrong with the server in memory, and what holds all the same."""

import asyncio

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock, times
from actors.bus.memory.queue import UNSYNCED_S
from actors.bus.port import Delivery, Stored
from protocol import streams, subjects
from protocol.errors import BusError, ConflictError
from tests.bus.run_in_memory import LOG, REQUESTS, TASK, TASKS, first_delivery


class TestLostAcks:
    async def test_a_message_whose_ack_is_lost_comes_again(
        self, server: MemoryServer, bus: MemoryBus, clock: VirtualClock
    ) -> None:
        server.lose_acks = times(1)
        held: list[Delivery] = []
        await bus.publish(TASK, b"")
        await bus.pull(TASKS, 10, held.append)
        await clock.advance(0)
        await held[0].ack()
        await clock.advance(5)
        assert [delivery.count for delivery in held] == [1, 2]
        await held[1].ack()
        await clock.advance(60)
        assert len(held) == 2

    async def test_a_sure_ack_is_sent_until_it_arrives(
        self, server: MemoryServer, bus: MemoryBus, clock: VirtualClock
    ) -> None:
        server.lose_acks = times(3)
        await bus.publish(TASK, b"")
        delivery = await first_delivery(bus, TASKS, clock)
        acking = asyncio.create_task(delivery.ack(sure=True))
        await clock.advance(0)
        assert not acking.done()
        await clock.advance(5)
        assert acking.done()
        assert (await bus.queues(streams.RUNS))[TASKS.name].unsettled == 0

    async def test_a_sure_ack_waits_while_the_server_is_away(
        self, server: MemoryServer, bus: MemoryBus, clock: VirtualClock
    ) -> None:
        await bus.publish(subjects.request("team"), b"")
        delivery = await first_delivery(bus, REQUESTS, clock)
        server.down()
        acking = asyncio.create_task(delivery.ack(sure=True))
        await clock.advance(1)
        assert not acking.done()
        server.up()
        await clock.advance(0)
        assert acking.done()
        assert await bus.get(streams.REQUESTS, delivery.message.seq) is None

    async def test_only_acks_on_matching_subjects_are_lost(self) -> None:
        chance = times(2, "handoff.request.*")
        said = ["handoff.run.x", "handoff.request.a", "handoff.request.b", "handoff.request.c"]
        assert [chance(subject) for subject in said] == [False, True, True, False]


class TestUnknownPublishes:
    async def test_a_publish_whose_answer_is_lost_is_stored_once(
        self, server: MemoryServer, bus: MemoryBus, clock: VirtualClock
    ) -> None:
        server.unknown_publishes = times(2)
        sent = await bus.send(LOG, b"x")
        await clock.advance(0)
        assert not sent.done()
        await clock.advance(5)
        assert [m.seq for m in await bus.read(streams.RUNS, LOG)] == [sent.result()]

    async def test_a_compare_and_set_whose_answer_is_lost_is_recognised_as_ones_own(
        self, server: MemoryServer, bus: MemoryBus, clock: VirtualClock
    ) -> None:
        server.unknown_publishes = times(1)
        sent = await bus.send(TASK, b"x", expect=0)
        await clock.advance(5)
        assert [m.seq for m in await bus.read(streams.RUNS, TASK)] == [sent.result()]

    async def test_ones_own_message_is_recognised_although_another_one_followed_it(
        self, server: MemoryServer, bus: MemoryBus, other: MemoryBus, clock: VirtualClock
    ) -> None:
        server.unknown_publishes = times(1)
        sent = await bus.send(LOG, b"mine", expect=0)
        mine = (await bus.read(streams.RUNS, LOG))[0].seq
        await other.publish(LOG, b"other", expect=mine)
        await clock.advance(5)
        assert sent.result() == mine

    async def test_a_refusal_whose_answer_is_lost_is_still_a_refusal(
        self, server: MemoryServer, bus: MemoryBus, other: MemoryBus, clock: VirtualClock
    ) -> None:
        await other.publish(TASK, b"other", expect=0)
        server.unknown_publishes = times(1)
        sent = await bus.send(TASK, b"mine", expect=0)
        await clock.advance(5)
        assert isinstance(sent.exception(), ConflictError)
        assert [m.data for m in await bus.read(streams.RUNS, TASK)] == [b"other"]

    async def test_the_same_content_of_another_process_is_not_ones_own(self, bus: MemoryBus, other: MemoryBus) -> None:
        await other.publish(TASK, b"same", expect=0)
        with pytest.raises(ConflictError):
            await bus.publish(TASK, b"same", expect=0)

    async def test_a_subject_that_no_stream_takes_is_an_error(self, bus: MemoryBus) -> None:
        with pytest.raises(BusError, match="no stream takes"):
            await bus.publish("elsewhere", b"")


class TestOutage:
    async def test_an_answer_on_its_way_is_lost_with_the_connection_and_asked_for_again(
        self, server: MemoryServer, bus: MemoryBus, clock: VirtualClock
    ) -> None:
        sent = await bus.send(TASK, b"x", expect=0)
        server.down()
        await clock.advance(60)
        assert not sent.done()
        server.up()
        await clock.advance(0)
        assert [m.seq for m in await bus.read(streams.RUNS, TASK)] == [sent.result()]

    async def test_who_is_cut_off_alone_misses_what_the_others_say(
        self, bus: MemoryBus, other: MemoryBus, clock: VirtualClock
    ) -> None:
        heard: list[Stored] = []
        async with bus.subscribe(subjects.stored(LOG), heard.append):
            bus.lost()
            await other.publish(LOG, b"missed")
            bus.back()
            await other.publish(LOG, b"heard")
            await clock.advance(0)
        assert [m.data for m in heard] == [b"heard"]

    async def test_deliveries_on_their_way_are_lost_with_the_connection_and_come_again(
        self, server: MemoryServer, bus: MemoryBus, clock: VirtualClock
    ) -> None:
        held: list[Delivery] = []
        await bus.publish(TASK, b"")
        await bus.pull(TASKS, 1, held.append)
        server.down()
        server.up()
        await clock.advance(1)
        assert held == []
        await clock.advance(5)
        assert [delivery.count for delivery in held] == [2]

    async def test_cards_are_not_written_while_the_server_is_away(self, server: MemoryServer, bus: MemoryBus) -> None:
        server.down()
        await bus.put_card("team.worker.one", b"")
        server.up()
        assert await bus.cards() == {}

    async def test_a_process_that_starts_during_an_outage_waits_for_the_server(
        self, server: MemoryServer, clock: VirtualClock
    ) -> None:
        server.down()
        bus = MemoryBus(server)
        sent = await bus.send(LOG, b"x")
        await clock.advance(10)
        assert not sent.done()
        server.up()
        assert await sent == 1


class TestRestart:
    async def test_the_message_id_of_a_settled_request_is_forgotten(
        self, server: MemoryServer, bus: MemoryBus, clock: VirtualClock
    ) -> None:
        headers = {"Nats-Msg-Id": "once"}
        subject = subjects.request("team")
        first = await bus.publish(subject, b"", headers=headers)
        await (await first_delivery(bus, REQUESTS, clock)).ack(sure=True)
        assert await bus.publish(subject, b"", headers=headers) == first
        server.restart()
        assert await bus.publish(subject, b"", headers=headers) == first + 1

    async def test_the_message_id_of_a_message_that_is_still_there_is_kept(
        self, server: MemoryServer, bus: MemoryBus
    ) -> None:
        first = await bus.publish(LOG, b"", headers={"Nats-Msg-Id": "once"})
        server.restart()
        assert await bus.publish(LOG, b"", headers={"Nats-Msg-Id": "once"}) == first

    async def test_message_ids_are_forgotten_after_two_minutes(self, bus: MemoryBus, clock: VirtualClock) -> None:
        first = await bus.publish(LOG, b"", headers={"Nats-Msg-Id": "once"})
        await clock.advance(119)
        assert await bus.publish(LOG, b"", headers={"Nats-Msg-Id": "once"}) == first
        await clock.advance(2)
        assert await bus.publish(LOG, b"", headers={"Nats-Msg-Id": "once"}) == first + 1

    @pytest.mark.parametrize(
        ("passed_s", "forget", "expected"),
        [(0.0, True, [1, 1]), (UNSYNCED_S + 0.1, True, [1]), (0.0, False, [1])],
        ids=["just acked", "acked long ago", "acks kept"],
    )
    async def test_an_ack_on_a_handoff_that_was_not_written_yet_is_forgotten(
        self,
        server: MemoryServer,
        bus: MemoryBus,
        clock: VirtualClock,
        passed_s: float,
        forget: bool,
        expected: list[int],
    ) -> None:
        held: list[Delivery] = []
        await bus.publish(TASK, b"")
        await bus.pull(TASKS, 10, held.append)
        await clock.advance(0)
        await held[0].ack(sure=True)
        await clock.advance(passed_s)
        server.restart(forget_acks=forget)
        await clock.advance(60)
        assert [delivery.count for delivery in held[:2]] == expected

    async def test_delivery_counts_begin_at_one_again(
        self, server: MemoryServer, bus: MemoryBus, clock: VirtualClock
    ) -> None:
        held: list[Delivery] = []
        await bus.publish(TASK, b"")
        await bus.pull(TASKS, 10, held.append)
        await clock.advance(5)
        server.restart(forget_acks=False)
        await clock.advance(5)
        assert [delivery.count for delivery in held] == [1, 2, 1]
