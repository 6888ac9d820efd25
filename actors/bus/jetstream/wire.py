"""What JetStream says in headers, replies and error codes, read once and named."""

from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from actors.bus.port import NO_HEADERS, Headers, Stored
from protocol import subjects

EXPECT = "Nats-Expected-Last-Subject-Sequence"
MESSAGE_ID = "Nats-Msg-Id"
NONCE = "Handoff-Nonce"
STATUS = "Status"
FLUSH_S = 2
WRONG_LAST_SEQUENCE = 10071
STREAM_NOT_FOUND = 10059
NO_ROOM = {10002, 10023, 10047}
"""The server, or the account, has no storage left."""

FULL = {10077} | NO_ROOM
"""10077 alone: the stream has reached its own limit."""

TEMPORARY = {10008, 10009, 10039, 10074}
"""Error codes of a server that is still starting, or has no leader yet."""

_JSON = msgspec.json.Decoder(dict[str, Any])


class ApiError(msgspec.Struct, frozen=True):
    """An error as the JetStream API tells it."""

    code: int = 0
    err_code: int = 0
    description: str = ""


class PubAck(msgspec.Struct, frozen=True):
    """The server's answer to a publish."""

    stream: str = ""
    seq: int = 0
    duplicate: bool = False
    error: ApiError | None = None


class StreamState(msgspec.Struct, frozen=True):
    """What a stream holds; `subjects` counts the messages on each, if it was asked for."""

    last_seq: int = 0
    bytes: int = 0
    subjects: dict[str, int] | None = None


class StreamLimits(msgspec.Struct, frozen=True):
    """The part of a stream's configuration that limits what it keeps; `max_age` in nanoseconds. -1 or 0 is no limit."""

    max_bytes: int = -1
    max_age: int = 0


class StreamInfo(msgspec.Struct, frozen=True):
    """The server's answer to a question about a stream; `total` is the number of subjects that match."""

    state: StreamState = StreamState()
    config: StreamLimits = StreamLimits()
    total: int = 0
    error: ApiError | None = None


_PUB_ACK = msgspec.json.Decoder(PubAck)
_STREAM_INFO = msgspec.json.Decoder(StreamInfo)
NO_STREAM = PubAck(error=ApiError(code=503, description="no stream takes this subject"))


def pub_ack(msg: Msg) -> PubAck:
    """The answer to a publish; without data it is "no responders": the stream is not there, or not yet."""
    return _PUB_ACK.decode(msg.data) if msg.data else NO_STREAM


def stream_info(msg: Msg) -> StreamInfo:
    """The answer to a question about a stream."""
    return _STREAM_INFO.decode(msg.data)


def status(msg: Msg) -> str | None:
    """The status of a message that carries no payload, such as 404, 408, 409 or 503."""
    headers = msg.headers
    return headers.get(STATUS) if headers and not msg.data else None


def nanoseconds(stamp: str) -> int:
    """An RFC 3339 time in UTC as Unix nanoseconds, exactly."""
    whole, _, fraction = stamp.rstrip("Z").partition(".")
    return _second(whole) * 1_000_000_000 + int(fraction.ljust(9, "0")[:9])


# Many messages are stored within one second.
@lru_cache(maxsize=64)
def _second(stamp: str) -> int:
    return int(datetime.fromisoformat(stamp + "+00:00").timestamp())


def direct(msg: Msg) -> Stored:
    """A message read directly from a stream."""
    headers: Headers = msg.headers or NO_HEADERS
    return Stored(
        subject=headers["Nats-Subject"],
        data=msg.data,
        seq=int(headers["Nats-Sequence"]),
        time_ns=nanoseconds(headers["Nats-Time-Stamp"]),
        headers=headers,
    )


def heard(msg: Msg) -> Stored:
    """A message from a plain subscription; one that was republished gets its stored subject, sequence and time."""
    headers: Headers = msg.headers or NO_HEADERS
    if subjects.is_stored(msg.subject) and "Nats-Sequence" in headers:
        return Stored(
            subject=subjects.original(msg.subject),
            data=msg.data,
            seq=int(headers["Nats-Sequence"]),
            time_ns=nanoseconds(headers["Nats-Time-Stamp"]),
            headers=headers,
        )
    return Stored(subject=msg.subject, data=msg.data, seq=0, time_ns=0, headers=headers)


def json(data: bytes) -> dict[str, Any]:
    """An answer of the JetStream API that is read field by field."""
    return _JSON.decode(data)


async def barrier(client: Client) -> None:
    """Everything sent so far has reached the server, and all that it had sent by then has arrived.

    nats-py writes its PING ahead of what is still buffered: only the second answer says something about that.
    """
    await client.flush(timeout=FLUSH_S)
    await client.flush(timeout=FLUSH_S)


async def hang_up(client: Client, subscription: Subscription) -> None:
    """End a subscription, and hand over everything that was on its way to it.

    Its own `drain` forgets the subscription before the server has heard of the end: what comes in between is dropped.
    """
    await client._send_unsubscribe(subscription._id)  # pyright: ignore[reportPrivateUsage]
    await barrier(client)
    await subscription.drain()
