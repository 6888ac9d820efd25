"""Queues: slots, settling, redelivery, sharing, stopping."""

import asyncio

import msgspec
import pytest

from actors.bus.port import Bus, QueueState
from protocol import streams, subjects
from protocol.errors import InvalidError
from protocol.streams import Queue
from tests.bus.world import AGES_S, Hands, World

IN_PROGRESS_S = 2.0
"""An ack wait that a busy machine does not miss between two signs of life."""


async def state(bus: Bus, queue: Queue) -> QueueState:
    """How a queue stands."""
    return (await bus.queues(queue.stream))[queue.name]


async def stands(world: World, bus: Bus, queue: Queue, *, pending: int, unsettled: int) -> None:
    """Wait until a queue stands so; a server counts a moment after the fact."""

    async def so() -> bool:
        found = await state(bus, queue)
        return (found.pending, found.unsettled) == (pending, unsettled)

    await world.until(so)


class QueueContract:
    async def test_the_state_of_one_queue_is_what_the_list_of_queues_says(self, world: World) -> None:
        bus, hands, queue = await world.client(), Hands(world), world.queue()
        assert await bus.queue_state(queue) is None
        for number in (1, 2, 3):
            await bus.publish(world.task(number), b"")
        await bus.pull(queue, 1, hands.take)
        await hands.has(1)
        await stands(world, bus, queue, pending=2, unsettled=1)
        found = await bus.queue_state(queue)
        assert found is not None
        assert (found.pending, found.unsettled) == (2, 1)

    async def test_a_delivery_is_the_stored_message_with_a_count_of_one(self, world: World) -> None:
        bus, hands = await world.client(), Hands(world)
        seq = await bus.publish(world.task(), b"work", headers={"traceparent": "00-ab-cd-01"})
        await bus.pull(world.queue(), 1, hands.take)
        (delivery,) = await hands.has(1)
        stored = await bus.get(streams.RUNS, seq)
        assert stored is not None
        assert delivery.count == 1
        message = delivery.message
        assert (message.subject, message.data, message.seq) == (world.task(), b"work", seq)
        assert message.time_ns == stored.time_ns
        assert message.headers["traceparent"] == "00-ab-cd-01"

    async def test_a_queue_delivers_in_order_what_was_stored_before_and_after_it_was_made(self, world: World) -> None:
        bus, hands = await world.client(), Hands(world)
        await bus.publish(world.task(1), b"")
        await bus.publish(world.task(2), b"")
        await bus.pull(world.queue(), 10, hands.take)
        await bus.publish(world.task(3), b"")
        await hands.has(3)
        assert hands.subjects() == [world.task(1), world.task(2), world.task(3)]

    async def test_a_queue_delivers_only_what_its_filter_lets_through(self, world: World) -> None:
        bus, hands, others = await world.client(), Hands(world), Hands(world)
        await bus.pull(world.queue("worker"), 10, hands.take)
        await bus.pull(world.queue("other"), 10, others.take)
        await bus.publish(world.task(1, "other"), b"")
        await bus.publish(world.log, b"no task")
        await bus.publish(world.task(2, "worker"), b"")
        await hands.has(1)
        await others.has(1)
        assert (hands.subjects(), others.subjects()) == ([world.task(2)], [world.task(1, "other")])

    async def test_a_pull_never_has_more_deliveries_than_slots(self, world: World) -> None:
        bus, hands = await world.client(), Hands(world)
        for number in range(12):
            await bus.send(world.task(number), b"")
        queue = world.queue()
        pull = await bus.pull(queue, 3, hands.take)
        for done in range(12):
            await hands.has(min(12, done + 3))
            await stands(world, bus, queue, pending=max(0, 9 - done), unsettled=min(3, 12 - done))
            assert len(hands.held) == min(12, done + 3)
            await hands.held[done].ack(sure=True)
            pull.release()
        assert sorted(hands.subjects()) == sorted(world.task(number) for number in range(12))

    async def test_no_more_than_the_queue_allows_is_unsettled(self, world: World) -> None:
        bus, hands, queue = await world.client(), Hands(world), world.queue(max_ack_pending=2, ack_wait_s=AGES_S)
        for number in range(5):
            await bus.publish(world.task(number), b"")
        await bus.pull(queue, 10, hands.take)
        await hands.has(2)
        await stands(world, bus, queue, pending=3, unsettled=2)
        assert len(hands.held) == 2
        await hands.held[0].ack(sure=True)
        await hands.has(3)

    async def test_an_ack_takes_a_request_out_of_its_work_queue(self, world: World) -> None:
        bus, hands = await world.client(), Hands(world)
        seq = await bus.publish(subjects.request(world.team), b"do")
        await bus.pull(streams.request_queue(world.team, world.queue().ack_wait), 1, hands.take)
        (delivery,) = await hands.has(1)
        assert await bus.get(streams.REQUESTS, seq) is not None
        await delivery.ack(sure=True)

        async def gone() -> bool:
            return await bus.get(streams.REQUESTS, seq) is None

        await world.until(gone)

    async def test_an_ack_leaves_a_handoff_in_its_stream(self, world: World) -> None:
        bus, hands = await world.client(), Hands(world)
        seq = await bus.publish(world.task(), b"")
        await bus.pull(world.queue(), 1, hands.take)
        await (await hands.has(1))[0].ack(sure=True)
        assert await bus.get(streams.RUNS, seq) is not None

    async def test_a_sure_ack_is_noted_when_it_returns(self, world: World) -> None:
        bus, hands, queue = await world.client(), Hands(world), world.queue()
        await bus.publish(world.task(), b"")
        await bus.pull(queue, 1, hands.take)
        (delivery,) = await hands.has(1)
        assert (await state(bus, queue)).unsettled == 1
        await delivery.ack(sure=True)
        assert (await state(bus, queue)).unsettled == 0

    async def test_what_is_acked_does_not_come_again_and_what_is_not_does(self, world: World) -> None:
        bus, hands = await world.client(), Hands(world)
        await bus.publish(world.task(1), b"")
        await bus.publish(world.task(2), b"")
        await bus.pull(world.queue(), 10, hands.take)
        await (await hands.has(2))[0].ack()
        again = (await hands.has(3))[2]
        assert (again.message.subject, again.count) == (world.task(2), 2)
        assert hands.times[2] - hands.times[1] > world.ack_wait_s * 0.9
        await again.ack()
        assert len(hands.held) == 3

    async def test_what_a_vanished_process_held_goes_to_another_one(self, world: World) -> None:
        doomed, other = await world.client("doomed"), await world.client("other")
        held, hands = Hands(world), Hands(world)
        await doomed.publish(world.task(), b"")
        await doomed.pull(world.queue(), 1, held.take)
        await held.has(1)
        await other.pull(world.queue(), 1, hands.take)
        await doomed.close()
        (again,) = await hands.has(1)
        assert (again.message.subject, again.count) == (world.task(), 2)

    async def test_what_is_given_back_for_later_comes_not_before(self, world: World) -> None:
        bus, hands, later_s = await world.client(), Hands(world), 0.4
        await bus.publish(world.task(), b"")
        await bus.pull(world.queue(ack_wait_s=AGES_S), 10, hands.take)
        await (await hands.has(1))[0].retry(later_s)
        given_back = world.now()
        again = (await hands.has(2))[1]
        assert hands.times[1] - given_back > later_s - 0.02
        assert again.count == 2

    async def test_what_is_given_back_at_once_comes_at_once_to_whoever_asks(self, world: World) -> None:
        bus, other = await world.client(), await world.client("other")
        held, hands = Hands(world), Hands(world)
        await bus.publish(world.task(), b"")
        await bus.pull(world.queue(ack_wait_s=AGES_S), 1, held.take)
        (delivery,) = await held.has(1)
        await other.pull(world.queue(ack_wait_s=AGES_S), 1, hands.take)
        await delivery.retry(0)
        await hands.has(1)
        assert hands.held[0].count == 2

    async def test_in_progress_begins_the_ack_wait_anew(self, world: World) -> None:
        bus, hands = await world.client(), Hands(world)
        await bus.publish(world.task(), b"")
        await bus.pull(world.queue(ack_wait_s=IN_PROGRESS_S), 10, hands.take)
        (delivery,) = await hands.has(1)
        for _ in range(3):
            await world.passes(IN_PROGRESS_S * 0.4)
            await delivery.in_progress()
        last_sign = world.now()
        assert len(hands.held) == 1
        await hands.has(2)
        assert hands.times[1] - last_sign > IN_PROGRESS_S * 0.9

    async def test_a_late_ack_is_honoured_although_somebody_else_holds_the_message(self, world: World) -> None:
        bus, hands, queue = await world.client(), Hands(world), world.queue()
        await bus.publish(world.task(), b"")
        await bus.pull(queue, 10, hands.take)
        late, _ = await hands.has(2)
        await late.ack(sure=True)
        await stands(world, bus, queue, pending=0, unsettled=0)

    async def test_two_processes_share_a_queue_and_no_message_goes_to_both(self, world: World) -> None:
        mine, other, queue = await world.client("mine"), await world.client("other"), world.queue(ack_wait_s=AGES_S)
        here, there = Hands(world), Hands(world)
        await mine.pull(queue, 20, here.take)
        await other.pull(queue, 20, there.take)

        async def both_ask() -> bool:
            return (await state(mine, queue)).waiting == 2

        await world.until(both_ask)
        for number in range(20):
            await mine.send(world.task(number), b"")
        await world.until(lambda: len(here.held) + len(there.held) >= 20)
        assert sorted(here.subjects() + there.subjects()) == sorted(world.task(number) for number in range(20))
        assert min(len(here.held), len(there.held)) >= 5

    async def test_stop_hands_back_what_was_not_handed_over_and_nothing_waits_for_the_ack_wait(
        self, world: World
    ) -> None:
        mine, other, queue = await world.client("mine"), await world.client("other"), world.queue(ack_wait_s=AGES_S)
        here, there = Hands(world), Hands(world)
        for number in range(20):
            await mine.publish(world.task(number), b"")
        pull = await mine.pull(queue, 10, here.take)
        left_over = await pull.stop()
        assert len(here.held) + len(left_over) <= 10
        for delivery in [*left_over, *here.held]:
            await delivery.retry(0)
        await other.pull(queue, 40, there.take)
        await world.until(lambda: len(set(there.subjects())) == 20)

    async def test_a_stopped_pull_takes_nothing_that_comes_later(self, world: World) -> None:
        mine, other, queue = await world.client("mine"), await world.client("other"), world.queue(ack_wait_s=AGES_S)
        here, there = Hands(world), Hands(world)
        pull = await mine.pull(queue, 10, here.take)
        assert list(await pull.stop()) == []
        await other.pull(queue, 10, there.take)
        for number in range(10):
            await other.publish(world.task(number), b"")
        await there.has(10)
        pull.release()
        assert here.held == []

    async def test_stopping_again_and_again_while_messages_come_strands_none(self, world: World) -> None:
        mine, other, queue = await world.client("mine"), await world.client("other"), world.queue()
        done: set[str] = set()
        for number in range(100):
            hands = Hands(world)
            pull = await mine.pull(queue, 10, hands.take)
            for part in range(3):
                await other.send(world.task(number * 3 + part), b"")
            await asyncio.sleep(0)
            for delivery in [*await pull.stop(), *hands.held]:
                await delivery.ack(sure=True)
                done.add(delivery.message.subject)
        rest = Hands(world)
        await other.pull(queue, 300, rest.take)
        await world.until(lambda: len(done | set(rest.subjects())) == 300)
        assert [delivery.count for delivery in rest.held] == [1] * len(rest.held)

    async def test_the_state_of_a_queue_says_what_is_pending_unsettled_and_waited_for(self, world: World) -> None:
        bus, hands, queue = await world.client(), Hands(world), world.queue()
        pull = await bus.pull(queue, 2, hands.take)

        async def waited_for() -> bool:
            return (await state(bus, queue)).waiting > 0

        await world.until(waited_for)
        for number in range(5):
            await bus.publish(world.task(number), b"")
        await hands.has(2)
        await stands(world, bus, queue, pending=3, unsettled=2)
        assert (await state(bus, queue)).waiting == 0
        await pull.stop()
        assert world.queue("another").name not in await bus.queues(streams.RUNS)

    async def test_a_queue_is_not_turned_to_other_messages_by_somebody_with_the_same_name(self, world: World) -> None:
        bus, hands, queue = await world.client(), Hands(world), world.queue()
        turned = msgspec.structs.replace(queue, filter=subjects.tasks_of(world.team, "other"))
        await bus.pull(queue, 1, hands.take)
        with pytest.raises(InvalidError):
            await bus.pull(turned, 1, Hands(world).take)
        await bus.publish(world.task(), b"")
        await hands.has(1)

    async def test_a_deleted_message_is_not_delivered(self, world: World) -> None:
        bus, hands = await world.client(), Hands(world)
        unwanted = await bus.publish(world.task(1), b"")
        await bus.publish(world.task(2), b"")
        await bus.delete(streams.RUNS, unwanted)
        await bus.pull(world.queue(), 10, hands.take)
        await hands.has(1)
        assert hands.subjects() == [world.task(2)]
