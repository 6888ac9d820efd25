"""Streams, queues and buckets on the server: made if missing, checked if there."""

# nats-py takes untyped **params in every one of these calls:
# pyright: reportUnknownMemberType=false

import asyncio
from datetime import timedelta

from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DeliverPolicy,
    KeyValueConfig,
    ObjectStoreConfig,
    RePublish,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.client import JetStreamContext
from nats.js.errors import APIError, NotFoundError, ServiceUnavailableError

from actors.settings import Settings
from protocol import streams
from protocol.errors import BusError, InvalidError
from protocol.streams import Queue, Stream

IN_USE = {10058, 10065}
"""The name is taken by a stream or subject with another configuration."""

_RETENTION = {"limits": RetentionPolicy.LIMITS, "workqueue": RetentionPolicy.WORK_QUEUE}


async def assure_all(js: JetStreamContext, settings: Settings) -> None:
    """Everything that all actors share."""
    await asyncio.gather(
        *(_assure_stream(js, stream, settings) for stream in streams.streams(settings.keep)),
        *(_assure_cards(js, bucket, settings) for bucket in streams.CARD_BUCKETS),
        _assure_artifacts(js, settings),
    )


async def missing(js: JetStreamContext) -> list[str]:
    """The streams that are not there, those behind the buckets included."""
    names = [stream.name for stream in streams.streams(timedelta(0))]
    names += [f"KV_{bucket}" for bucket in streams.CARD_BUCKETS] + [f"OBJ_{streams.ARTIFACTS}"]
    found = await asyncio.gather(*(_exists(js, name) for name in names))
    return [name for name, exists in zip(names, found, strict=True) if not exists]


async def _exists(js: JetStreamContext, stream: str) -> bool:
    try:
        await js.stream_info(stream)
    except NotFoundError:
        return False
    return True


async def assure_queue(js: JetStreamContext, queue: Queue) -> None:
    """The durable consumer of a queue, made if it is missing, and held to our ack wait."""
    wanted = ConsumerConfig(
        durable_name=queue.name,
        filter_subject=queue.filter,
        ack_policy=AckPolicy.EXPLICIT,
        deliver_policy=DeliverPolicy.ALL,
        ack_wait=queue.ack_wait.total_seconds(),
        max_ack_pending=queue.max_ack_pending,
    )
    found = await _queue_or_none(js, queue)
    if found is not None and found.filter_subject != queue.filter:
        # The server would turn the queue to our filter and take it away from whoever it serves.
        raise InvalidError(
            [f"queue {queue.name} already serves {found.filter_subject}: choose another name for team or worker"]
        )
    if found is None or found.ack_wait != wanted.ack_wait:
        try:
            await js.add_consumer(queue.stream, wanted)
        except APIError as error:
            raise BusError(f"queue {queue.name} of {queue.stream}: {error.description}") from error


async def _queue_or_none(js: JetStreamContext, queue: Queue) -> ConsumerConfig | None:
    try:
        return (await js.consumer_info(queue.stream, queue.name)).config
    except NotFoundError:
        return None


async def _assure_stream(js: JetStreamContext, stream: Stream, settings: Settings) -> None:
    config = StreamConfig(
        name=stream.name,
        subjects=list(stream.subjects),
        retention=_RETENTION[stream.retention],
        max_age=stream.max_age.total_seconds(),
        num_replicas=settings.replicas,
        allow_direct=True,
        max_msgs_per_subject=1 if stream.last_only else -1,
        allow_rollup_hdrs=stream.last_only,
        storage=StorageType.FILE,
        republish=RePublish(src=stream.republish[0], dest=stream.republish[1]) if stream.republish else None,
    )
    try:
        await js.add_stream(config)
    except ServiceUnavailableError:
        raise  # JetStream as a whole does not answer: that is no fault of this stream
    except APIError as error:
        if error.err_code not in IN_USE:
            raise BusError(f"stream {stream.name}: {error.description}") from error
        await _check_stream(js, stream)


async def _check_stream(js: JetStreamContext, stream: Stream) -> None:
    """A stream with other limits is the operator's choice; one that cannot do its work is a fault."""
    try:
        found = (await js.stream_info(stream.name)).config
    except NotFoundError:
        raise InvalidError([f"another stream already takes subjects of {stream.name}: {stream.subjects}"]) from None
    faults: list[str] = []
    if set(found.subjects or []) != set(stream.subjects):
        faults.append(f"stream {stream.name} takes {found.subjects}, not {list(stream.subjects)}")
    if found.retention != _RETENTION[stream.retention]:
        faults.append(f"stream {stream.name} has retention {found.retention}, not {stream.retention}")
    if not found.allow_direct:
        faults.append(f"stream {stream.name} does not allow direct reads")
    if stream.republish and (found.republish is None or found.republish.dest != stream.republish[1]):
        faults.append(f"stream {stream.name} is not republished to {stream.republish[1]}")
    if faults:
        raise InvalidError(faults)


async def _assure_cards(js: JetStreamContext, bucket: str, settings: Settings) -> None:
    try:
        await js.create_key_value(
            KeyValueConfig(
                bucket=bucket,
                history=1,
                ttl=settings.card_ttl_s,
                replicas=settings.replicas,
                storage=StorageType.MEMORY,
                direct=True,
            )
        )
    except APIError as error:
        if error.err_code not in IN_USE:
            raise BusError(f"bucket {bucket}: {error.description}") from error


async def _assure_artifacts(js: JetStreamContext, settings: Settings) -> None:
    config = ObjectStoreConfig(bucket=streams.ARTIFACTS, ttl=settings.keep.total_seconds(), replicas=settings.replicas)
    try:
        await js.create_object_store(streams.ARTIFACTS, config)
    except APIError as error:
        if error.err_code not in IN_USE:
            raise BusError(f"object store {streams.ARTIFACTS}: {error.description}") from error
