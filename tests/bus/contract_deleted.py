"""Streams and buckets are deleted under a running team: they are made again, and everything goes on."""

import pytest

from protocol import streams, subjects
from protocol.errors import BusError
from tests.bus.world import Hands, World

WITHIN_S = 30.0
ARTIFACTS = "OBJ_handoff_artifacts"


class DeletedStoreContract:
    @pytest.mark.parametrize("stream", [streams.RUNS, streams.REQUESTS, streams.INDEX, streams.DEAD, streams.BREAKERS])
    async def test_a_read_of_a_deleted_stream_is_empty(self, world: World, stream: str) -> None:
        bus = await world.client()
        await world.delete_stream(stream)
        assert await world.finished(bus.read(stream, ">"), WITHIN_S) == []

    async def test_a_deleted_stream_counts_nothing(self, world: World) -> None:
        bus = await world.client()
        await world.delete_stream(streams.RUNS)
        assert await world.finished(bus.counts(streams.RUNS, ">"), WITHIN_S) == {}
        await world.delete_stream(streams.RUNS)
        assert await world.finished(bus.newest(streams.RUNS, ">", 5), WITHIN_S) == []

    @pytest.mark.parametrize("stream", [streams.RUNS, streams.REQUESTS])
    async def test_a_publish_to_a_deleted_stream_is_stored(self, world: World, stream: str) -> None:
        bus = await world.client()
        await world.delete_stream(stream)
        subject = world.log if stream == streams.RUNS else subjects.request(world.team)
        seq = await world.finished(bus.publish(subject, b"new"), WITHIN_S)
        assert [(m.seq, m.data) for m in await bus.read(stream, subject)] == [(seq, b"new")]

    @pytest.mark.parametrize("stream", [streams.RUNS, streams.REQUESTS])
    async def test_a_pull_from_a_deleted_stream_goes_on(self, world: World, stream: str) -> None:
        bus, hands = await world.client(), Hands(world)
        queue, subject = world.queue(), world.task()
        if stream == streams.REQUESTS:
            queue, subject = streams.request_queue(world.team, queue.ack_wait), subjects.request(world.team)
        await bus.pull(queue, 2, hands.take)
        await bus.publish(subject, b"before")
        await hands.has(1)
        await world.delete_stream(stream)
        await world.finished(bus.publish(subject, b"after"), WITHIN_S)
        await world.until(lambda: b"after" in [delivery.message.data for delivery in hands.held], WITHIN_S)

    @pytest.mark.parametrize("bucket", streams.CARD_BUCKETS)
    async def test_a_card_of_a_deleted_bucket_is_written_at_the_next_beat(self, world: World, bucket: str) -> None:
        bus, key = await world.client(), subjects.card(world.team, "worker", "one")
        await bus.put_card(key, b"before", bucket=bucket)
        await world.delete_stream(f"KV_{bucket}")
        assert await world.finished(bus.cards(bucket=bucket), WITHIN_S) == {}
        await world.delete_stream(f"KV_{bucket}")
        await world.finished(bus.put_card(key, b"after", bucket=bucket), WITHIN_S)
        assert {key: card.data for key, card in (await bus.cards(bucket=bucket)).items()} == {key: b"after"}

    async def test_an_artifact_is_kept_although_the_object_store_was_deleted(self, world: World) -> None:
        bus = await world.client()
        await world.delete_stream(ARTIFACTS)
        await world.finished(bus.put_artifact("a", b"whole"), WITHIN_S)
        assert await bus.get_artifact("a") == b"whole"
        await world.delete_stream(ARTIFACTS)
        assert await world.finished(bus.get_artifact("a"), WITHIN_S) is None

    async def test_a_subject_that_no_stream_takes_is_an_error(self, world: World) -> None:
        bus = await world.client()
        with pytest.raises(BusError, match="no stream takes"):
            await bus.publish(f"elsewhere.{world.team}", b"")
