"""Streams, queues and buckets on the server: made if missing, checked if there."""

# nats-py takes untyped **params in every one of these calls:
# pyright: reportUnknownMemberType=false

import asyncio
from collections.abc import Awaitable
from datetime import timedelta

from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DeliverPolicy,
    DiscardPolicy,
    KeyValueConfig,
    ObjectStoreConfig,
    RePublish,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.client import JetStreamContext
from nats.js.errors import APIError, NotFoundError, ServiceUnavailableError

from actors.bus.jetstream import wire
from actors.bus.jetstream.lean_client import LeanClient
from actors.bus.jetstream.limits import Limits, NoRoomError, limit_stream, within_room
from actors.bus.jetstream.protocol_version import require_known_version, write_version
from actors.settings import Settings
from protocol import streams
from protocol.errors import BusError, InvalidError
from protocol.streams import Queue, Stream

IN_USE = {10058, 10065}
"""The name is taken by a stream or subject with another configuration."""

_RETENTION = {"limits": RetentionPolicy.LIMITS, "workqueue": RetentionPolicy.WORK_QUEUE}


class Assets:
    """Makes the streams, queues and buckets of one bus."""

    def __init__(self, client: LeanClient, js: JetStreamContext, settings: Settings) -> None:
        self._client = client
        self._js = js
        self._settings = settings

    async def assure(self, *, resize: bool = False) -> None:
        """Everything that all actors share. With `resize`, streams that exist get the limits of the settings, too."""
        await within_room(self._settings.store_limits, self._assure, resize=resize)

    async def assure_queue(self, queue: Queue) -> None:
        """The durable consumer of a queue."""
        await assure_queue(self._js, queue)

    async def missing(self) -> list[str]:
        """The streams that are not there, those behind the buckets included."""
        names = [stream.name for stream in streams.streams(timedelta(0))]
        names += [f"KV_{bucket}" for bucket in streams.CARD_BUCKETS] + [streams.OBJECTS]
        found = await asyncio.gather(*(_exists(self._js, name) for name in names))
        return [name for name, exists in zip(names, found, strict=True) if not exists]

    async def _assure(self, limits: Limits) -> None:
        """One stream after the other: a server that is asked at the same time checks its room for each alone."""
        for name in list(limits.made):  # streams of an earlier attempt give room to those that are still missing
            await limit_stream(self._client, name, limits)
        for stream in streams.streams(self._settings.keep):
            await self._assure_stream(stream, limits)
        await self._assure_artifacts(limits)
        await asyncio.gather(*(_assure_cards(self._js, bucket, self._settings) for bucket in streams.CARD_BUCKETS))

    async def _assure_stream(self, stream: Stream, limits: Limits) -> None:
        limit = limits.of(stream.name)
        config = StreamConfig(
            name=stream.name,
            subjects=list(stream.subjects),
            retention=_RETENTION[stream.retention],
            max_age=stream.max_age.total_seconds(),
            max_bytes=limit,
            discard=DiscardPolicy.NEW if limit > 0 and stream.discard == "new" else DiscardPolicy.OLD,
            num_replicas=self._settings.replicas,
            allow_direct=True,
            max_msgs_per_subject=1 if stream.last_only else -1,
            allow_rollup_hdrs=stream.last_only,
            storage=StorageType.FILE,
            republish=RePublish(src=stream.republish[0], dest=stream.republish[1]) if stream.republish else None,
            metadata={streams.VERSION_KEY: streams.VERSION} if stream.versioned else None,
        )
        if await _made(self._js, stream.name, self._js.add_stream(config)):
            limits.made.add(stream.name)
        else:
            await _check_stream(self._js, stream)
            await limit_stream(self._client, stream.name, limits, stream.discard)
            if stream.versioned:
                await write_version(self._client, stream.name)

    async def _assure_artifacts(self, limits: Limits) -> None:
        config = ObjectStoreConfig(
            bucket=streams.ARTIFACTS,
            ttl=self._settings.keep.total_seconds(),
            max_bytes=limits.of(streams.OBJECTS),
            replicas=self._settings.replicas,
        )
        made = self._js.create_object_store(streams.ARTIFACTS, config)
        if await _made(self._js, streams.OBJECTS, made):
            limits.made.add(streams.OBJECTS)
        else:
            await limit_stream(self._client, streams.OBJECTS, limits, "new")


async def _made(js: JetStreamContext, stream: str, work: Awaitable[object]) -> bool:
    """Whether a stream was made, or was there exactly so; False if it exists with another configuration."""
    try:
        await work
    except APIError as error:
        if error.err_code in IN_USE:
            return False
        if error.err_code in wire.NO_ROOM:
            if await _exists(js, stream):
                return False  # the server looks for room before it looks whether the stream exists
            raise NoRoomError(f"{stream}: {error.description}") from error
        if isinstance(error, ServiceUnavailableError):
            raise  # JetStream as a whole does not answer: that is no fault of this stream
        raise BusError(f"{stream}: {error.description}") from error
    return True


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


async def _check_stream(js: JetStreamContext, stream: Stream) -> None:
    """A stream with other limits is the operator's choice; one that cannot do its work is a fault."""
    try:
        found = (await js.stream_info(stream.name)).config
    except NotFoundError:
        raise InvalidError([f"another stream already takes subjects of {stream.name}: {stream.subjects}"]) from None
    if stream.versioned:
        require_known_version(stream.name, found.metadata or {})
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
    config = KeyValueConfig(
        bucket=bucket,
        history=1,
        ttl=settings.card_ttl_s,
        replicas=settings.replicas,
        storage=StorageType.MEMORY,
        direct=True,
    )
    await _made(js, f"KV_{bucket}", js.create_key_value(config))
