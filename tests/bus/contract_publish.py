"""Storing messages: sequences, compare-and-set, order, size."""

import asyncio
from itertools import pairwise

import pytest

from protocol import streams, subjects
from protocol.errors import ConflictError, TooLargeError
from tests.bus.world import World

MESSAGE_ID = "Nats-Msg-Id"


class PublishContract:
    async def test_publish_returns_the_sequence_under_which_the_message_is_stored(self, world: World) -> None:
        bus = await world.client()
        seq = await bus.publish(world.log, b"one")
        stored = await bus.get(streams.RUNS, seq)
        assert stored is not None
        assert (stored.subject, stored.data, stored.seq) == (world.log, b"one", seq)

    async def test_later_messages_have_higher_sequences(self, world: World) -> None:
        bus = await world.client()
        seqs = [await bus.publish(world.log, b"x") for _ in range(5)]
        assert all(earlier < later for earlier, later in pairwise(seqs))

    async def test_headers_travel_with_the_message_and_the_given_mapping_stays_as_it_was(self, world: World) -> None:
        bus, headers = await world.client(), {"traceparent": "00-ab-cd-01"}
        stored = await bus.get(streams.RUNS, await bus.publish(world.log, b"x", headers=headers))
        assert stored is not None
        assert stored.headers["traceparent"] == "00-ab-cd-01"
        assert headers == {"traceparent": "00-ab-cd-01"}

    async def test_an_empty_message_is_a_message(self, world: World) -> None:
        bus = await world.client()
        stored = await bus.get(streams.RUNS, await bus.publish(world.log, b""))
        assert stored is not None
        assert stored.data == b""

    async def test_expecting_nothing_stores_the_first_and_refuses_the_second(self, world: World) -> None:
        bus = await world.client()
        seq = await bus.publish(world.task(), b"first", expect=0)
        with pytest.raises(ConflictError) as refused:
            await bus.publish(world.task(), b"second", expect=0)
        assert (refused.value.subject, refused.value.expected) == (world.task(), 0)
        assert [(m.seq, m.data) for m in await bus.read(streams.RUNS, world.task())] == [(seq, b"first")]

    async def test_a_chain_of_expectations_is_stored_link_by_link(self, world: World) -> None:
        bus, seq = await world.client(), 0
        for number in range(5):
            seq = await bus.publish(world.log, str(number).encode(), expect=seq)
        assert [m.data for m in await bus.read(streams.RUNS, world.log)] == [b"0", b"1", b"2", b"3", b"4"]

    async def test_an_expectation_that_another_process_has_overtaken_is_refused(self, world: World) -> None:
        mine, other = await world.client("mine"), await world.client("other")
        first = await mine.publish(world.log, b"mine", expect=0)
        await other.publish(world.log, b"other", expect=first)
        with pytest.raises(ConflictError):
            await mine.publish(world.log, b"too late", expect=first)
        assert [m.data for m in await mine.read(streams.RUNS, world.log)] == [b"mine", b"other"]

    async def test_an_expectation_of_a_message_that_is_not_there_is_refused(self, world: World) -> None:
        bus = await world.client()
        first = await bus.publish(world.log, b"1", expect=0)
        with pytest.raises(ConflictError):
            await bus.publish(world.log, b"2", expect=first + 1000)

    async def test_an_expectation_is_about_its_own_subject_only(self, world: World) -> None:
        bus = await world.client()
        first = await bus.publish(world.log, b"1", expect=0)
        await bus.publish(world.task(), b"elsewhere", expect=0)
        assert await bus.publish(world.log, b"2", expect=first) > first

    async def test_a_deleted_message_is_no_longer_expected(self, world: World) -> None:
        bus = await world.client()
        first = await bus.publish(world.log, b"1", expect=0)
        second = await bus.publish(world.log, b"2", expect=first)
        await bus.delete(streams.RUNS, second)
        assert await bus.publish(world.log, b"3", expect=first) > second

    async def test_of_two_processes_that_write_the_same_subject_exactly_one_wins(self, world: World) -> None:
        buses = [await world.client("a"), await world.client("b")]
        sends = [await bus.send(world.task(n), b"x", expect=0) for n in range(50) for bus in buses]
        outcomes = await asyncio.gather(*sends, return_exceptions=True)
        for pair in zip(outcomes[::2], outcomes[1::2], strict=True):
            assert sorted(isinstance(outcome, ConflictError) for outcome in pair) == [False, True]

    async def test_messages_sent_without_waiting_keep_their_order(self, world: World) -> None:
        bus = await world.client()
        sends = [await bus.send(world.log, str(number).encode()) for number in range(300)]
        seqs = await asyncio.gather(*sends)
        assert seqs == sorted(seqs)
        assert [int(m.data) for m in await bus.read(streams.RUNS, world.log)] == list(range(300))

    async def test_a_refused_message_does_not_hold_up_those_sent_after_it(self, world: World) -> None:
        bus = await world.client()
        await bus.publish(world.task(2), b"there already", expect=0)
        sends = [await bus.send(world.task(n), b"x", expect=0) for n in (1, 2, 3)]
        first, refused, third = await asyncio.gather(*sends, return_exceptions=True)
        assert isinstance(refused, ConflictError)
        assert isinstance(first, int)
        assert isinstance(third, int)

    async def test_a_message_id_that_is_known_is_not_stored_again(self, world: World) -> None:
        bus, headers = await world.client(), {MESSAGE_ID: world.run}
        first = await bus.publish(world.log, b"once", headers=headers)
        assert await bus.publish(world.log, b"again", headers=headers) == first
        assert [m.data for m in await bus.read(streams.RUNS, world.log)] == [b"once"]

    async def test_compare_and_set_is_checked_before_message_ids(self, world: World) -> None:
        bus, headers = await world.client(), {MESSAGE_ID: world.run}
        await bus.publish(world.task(), b"once", expect=0, headers=headers)
        with pytest.raises(ConflictError):
            await bus.publish(world.task(), b"once", expect=0, headers=headers)

    async def test_a_message_over_the_limit_is_refused_and_one_at_the_limit_is_not(self, world: World) -> None:
        bus, limit = await world.client(), world.settings.message_bytes
        with pytest.raises(TooLargeError) as refused:
            await bus.publish(world.log, b"x" * (limit + 1))
        assert (refused.value.subject, refused.value.size, refused.value.limit) == (world.log, limit + 1, limit)
        await bus.publish(world.log, b"x" * limit)
        assert [len(m.data) for m in await bus.read(streams.RUNS, world.log)] == [limit]

    async def test_requests_are_stored_too(self, world: World) -> None:
        bus, subject = await world.client(), subjects.request(world.team)
        seq = await bus.publish(subject, b'{"text": "hello"}')
        assert [(m.seq, m.data) for m in await bus.read(streams.REQUESTS, subject)] == [(seq, b'{"text": "hello"}')]
