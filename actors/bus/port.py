"""The port to the bus: everything an actor may ask of it.

What always holds, whatever stands behind the port (tests/bus/contract.py proves it for each):
- `publish` returns only after the message is stored. It is sent again, same headers, until the bus answers; so it may
  wait for as long as the bus is away. A `ConflictError` means that another message is there, never one's own.
- `expect` is compare-and-set on the subject: the message is stored only if the last one there has that sequence;
  0 means that nothing may be there.
- A full stream stores nothing new. What actors store of a run, and artifacts, wait for room; a request or a Control is
  refused with `FullError`. Only HANDOFF_DEAD drops its oldest messages instead.
- A delivery that is not settled comes again after the queue's ack wait, to any process that pulls from the queue.
- What `subscribe` hands over may have gaps and says nothing about what is stored; `read` is the truth.
- `now` is the server's time, learnt from every message that has a stored time: deliveries, republished messages, reads
  and cards. A wrong wall clock of the process does not change it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import msgspec

from protocol.streams import WORKERS, Queue

Headers = Mapping[str, str]
NO_HEADERS: Headers = {}


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """A message as it stands in a stream. `time_ns` is when it was stored, in Unix nanoseconds."""

    subject: str
    data: bytes
    seq: int
    time_ns: int
    headers: Headers = NO_HEADERS

    @property
    def time(self) -> float:
        """When it was stored, as a Unix time in seconds."""
        return self.time_ns / 1e9


class Delivery(Protocol):
    """A message from a queue, to be settled once: by `ack`, `retry`, or not at all (then it comes again)."""

    @property
    def message(self) -> Stored:
        """What was delivered."""
        ...

    @property
    def count(self) -> int:
        """How many times it has been delivered, this time included. A server restart may begin at 1 again."""
        ...

    async def ack(self, *, sure: bool = False) -> None:
        """It is finished. With `sure`, wait until the server has noted it; if it never answers, it comes again."""
        ...

    async def retry(self, after_s: float) -> None:
        """Give it back; deliver it again after that time."""
        ...

    async def in_progress(self) -> bool:
        """It is being worked on: the ack wait begins anew. Whether that went out: it is never sent late."""
        ...


class Pull(Protocol):
    """A standing request for deliveries, never for more than there are free slots."""

    def release(self) -> None:
        """One delivery is over: its slot is free again."""
        ...

    async def stop(self) -> Sequence[Delivery]:
        """Ask for no more. Returns what had arrived but was not handed over yet, to be given back."""
        ...


class Bus(Protocol):
    """The way to everybody else."""

    async def send(
        self, subject: str, data: bytes, *, expect: int | None = None, headers: Headers = NO_HEADERS
    ) -> "asyncio.Future[int]":
        """Hand a message to the bus; the future is its sequence once it is stored, or the reason why not."""
        ...

    async def publish(
        self, subject: str, data: bytes, *, expect: int | None = None, headers: Headers = NO_HEADERS
    ) -> int:
        """Store a message and return its sequence: `send`, and wait."""
        ...

    async def emit(self, subject: str, data: bytes) -> None:
        """Say something that nobody needs to have heard; lost while the bus is away."""
        ...

    def subscribe(self, subject: str, heard: Callable[[Stored], None]) -> AbstractAsyncContextManager[None]:
        """Hear what is said on a subject from now on.

        A republished message has the subject, sequence and time it was stored with; a plain one has 0 for both.
        """
        ...

    async def pull(self, queue: Queue, slots: int, deliver: Callable[[Delivery], None]) -> Pull:
        """Make sure that the queue exists, and have its messages delivered, at most `slots` at a time."""
        ...

    async def read(self, stream: str, subject: str, *, after: int = 0, limit: int = 0) -> list[Stored]:
        """Every message under a subject (which may have wildcards) with a sequence above `after`, in order.

        With a `limit`, only so many of them, from the lowest sequence on.
        """
        ...

    async def last(self, stream: str, subjects: Sequence[str]) -> list[Stored]:
        """The last message of each subject that matches any of these, in order of sequence."""
        ...

    async def newest(self, stream: str, subject: str, limit: int) -> list[Stored]:
        """The `limit` messages with the highest sequences under a subject, in order.

        The cost depends on `limit`, not on how many messages there are.
        """
        ...

    async def counts(self, stream: str, subject: str) -> dict[str, int]:
        """How many messages there are on each subject that matches; the messages themselves are not read."""
        ...

    async def get(self, stream: str, seq: int) -> Stored | None:
        """The message at one place of a stream."""
        ...

    async def delete(self, stream: str, seq: int) -> bool:
        """Take one message out of a stream; whether it was there."""
        ...

    async def put_card(self, key: str, data: bytes, *, bucket: str = WORKERS) -> None:
        """Write a card into a registry, which is a bucket; it expires unless it is written again."""
        ...

    async def drop_card(self, key: str, *, bucket: str = WORKERS) -> None:
        """Take a card out of its registry at once."""
        ...

    async def cards(self, prefix: str = "", *, bucket: str = WORKERS) -> dict[str, Stored]:
        """All live cards of a registry whose key begins with the prefix (whole tokens, such as `default.`)."""
        ...

    async def put_artifact(self, name: str, data: bytes) -> str:
        """Keep something big under a name; returns its digest, as `SHA-256=…`."""
        ...

    async def get_artifact(self, name: str) -> bytes | None:
        """What was kept under a name."""
        ...

    async def artifact_names(self) -> list[str]:
        """The names of all artifacts."""
        ...

    async def drop_artifact(self, name: str) -> None:
        """Delete what was kept under a name."""
        ...

    async def store_state(self, stream: str) -> "StoreState":
        """How full a stream is, or with the name `OBJ_<bucket>` an object store."""
        ...

    async def purge(self, stream: str, subject: str, *, keep: int = 0) -> int:
        """Delete the messages under a subject but the last `keep` of them; returns how many were deleted."""
        ...

    async def queues(self, stream: str) -> dict[str, "QueueState"]:
        """The queues of a stream, by name."""
        ...

    def now(self) -> float:
        """The server's time in Unix seconds: what every deadline is compared with.

        Until the first message with a stored time was received, it is the time of the local wall clock.
        """
        ...

    async def queue_state(self, queue: Queue) -> "QueueState | None":
        """How one queue stands, at the same cost however many others there are; None if it does not exist."""
        ...

    def on_reconnect(self, call: Callable[[], None]) -> Callable[[], None]:
        """Have a function called each time the bus is back after it was away; the return value undoes that."""
        ...

    async def close(self) -> None:
        """Let go of the bus, within a bounded time."""
        ...


class QueueState(msgspec.Struct, frozen=True, kw_only=True):
    """How a queue stands: `pending` not delivered yet, `unsettled` delivered, `waiting` open pulls."""

    pending: int
    unsettled: int
    waiting: int


class StoreState(msgspec.Struct, frozen=True, kw_only=True):
    """How full a stream is, and how many seconds it keeps a message. A `limit` of 0 is none, `keep_s` 0 is for ever."""

    bytes: int
    limit: int = 0
    keep_s: float = 0.0

    @property
    def share(self) -> float:
        """The part of the limit that is used; 0 without a limit."""
        return self.bytes / self.limit if self.limit else 0.0
