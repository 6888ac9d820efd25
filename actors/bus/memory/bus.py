"""The port, spoken to a server in memory."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from actors.bus.memory.outbox import RESEND_S, ROOM_PAUSE_S, Outbox
from actors.bus.memory.pull import MemoryPull
from actors.bus.memory.server import MemoryServer, Subscription
from actors.bus.memory.stream import Publication
from actors.bus.port import NO_HEADERS, Delivery, Headers, Pull, QueueState, Stored, StoreState
from actors.clock import Clock
from actors.server_time import ServerTime
from protocol import streams, subjects
from protocol.errors import FullError, TooLargeError, UnreachableError
from protocol.streams import Queue

T = TypeVar("T")
Messages = TypeVar("Messages", bound=Iterable[Stored])

_numbers = itertools.count(1)


class MemoryBus:
    """One process on the server. `kill` is its death; `lost` and `back` cut and mend its connection alone.

    `clock` is the clock of the process, if it differs from the server's.
    """

    def __init__(self, server: MemoryServer, name: str = "bus", clock: Clock | None = None) -> None:
        self._server = server
        self._time = ServerTime(clock or server.clock)
        self._name = f"{name}-{next(_numbers)}"
        self._open = True
        self._connected = asyncio.Event()
        self._connection = 0
        self._outbox = Outbox(server, self._name, self.soon)
        self._pulls: dict[MemoryPull, None] = {}
        self._subscriptions: dict[Subscription, None] = {}
        self._on_reconnect: list[Callable[[], None]] = []
        server.clients[self] = None
        if server.is_up:
            self._connected.set()

    @property
    def connected(self) -> bool:
        """Whether the server can be reached now."""
        return self._connected.is_set()

    async def send(
        self, subject: str, data: bytes, *, expect: int | None = None, headers: Headers = NO_HEADERS
    ) -> "asyncio.Future[int]":
        """Hand a message to the bus."""
        self._check_open()
        limit = self._server.settings.message_bytes
        if len(data) > limit and not subjects.is_dead(subject):
            raise TooLargeError(subject, len(data), limit)
        return self._outbox.send(subject, data, expect, headers)

    async def publish(
        self, subject: str, data: bytes, *, expect: int | None = None, headers: Headers = NO_HEADERS
    ) -> int:
        """Store a message and return its sequence."""
        return await (await self.send(subject, data, expect=expect, headers=headers))

    async def emit(self, subject: str, data: bytes) -> None:
        """Say something that nobody needs to have heard."""
        if not self.connected:
            return
        said = Publication(subject=subject, data=data)
        if self._server.stream_of(subject):
            self._server.publish(said)
        else:
            self._server.say(said)

    @asynccontextmanager
    async def subscribe(self, subject: str, heard: Callable[[Stored], None]) -> AsyncGenerator[None]:
        """Hear what is said on a subject from now on."""
        self._check_open()

        def hand_over(stored: Stored) -> None:
            if subscription in self._subscriptions:
                if stored.time_ns:
                    self._time.observe(stored.time_ns)
                heard(stored)

        subscription = Subscription(subject, lambda stored: self.soon(lambda: hand_over(stored)))
        self._subscriptions[subscription] = None
        if self.connected:
            self._server.subscriptions[subscription] = None
        try:
            yield
        finally:
            self._subscriptions.pop(subscription, None)
            self._server.subscriptions.pop(subscription, None)

    async def pull(self, queue: Queue, slots: int, deliver: Callable[[Delivery], None]) -> Pull:
        """Have the messages of a queue delivered."""

        def delivered(delivery: Delivery) -> None:
            self._time.observe(delivery.message.time_ns)
            deliver(delivery)

        found = await self._ask(lambda: self._server.queue(queue))
        pull = MemoryPull(self, found, slots, delivered)
        self._pulls = {other: None for other in self._pulls if not other.stopped} | {pull: None}
        return pull

    async def read(self, stream: str, subject: str, *, after: int = 0, limit: int = 0) -> list[Stored]:
        """Every message under a subject above a sequence, in order."""
        return self._seen(await self._ask(lambda: self._server.stream(stream).read(subject, after)[: limit or None]))

    async def last(self, stream: str, subjects: Sequence[str]) -> list[Stored]:
        """The last message of each subject that matches."""
        return self._seen(await self._ask(lambda: self._server.stream(stream).last(subjects)))

    async def newest(self, stream: str, subject: str, limit: int) -> list[Stored]:
        """The `limit` messages with the highest sequences under a subject."""
        return await self._ask(lambda: self._server.stream(stream).newest(subject, limit))

    async def counts(self, stream: str, subject: str) -> dict[str, int]:
        """How many messages there are on each subject that matches."""
        return await self._ask(lambda: self._server.stream(stream).counts(subject))

    async def get(self, stream: str, seq: int) -> Stored | None:
        """The message at one place of a stream."""
        found = await self._ask(lambda: self._server.stream(stream).get(seq))
        self._seen([found] if found else [])
        return found

    async def delete(self, stream: str, seq: int) -> bool:
        """Take one message out of a stream."""
        return await self._ask(lambda: self._server.stream(stream).delete(seq))

    async def put_card(self, key: str, data: bytes, *, bucket: str = streams.WORKERS) -> None:
        """Write a card into its registry; a card that finds no bus is simply written again at the next beat."""
        await asyncio.sleep(0)
        if self.connected:
            self._server.put_card(bucket, key, data)

    async def drop_card(self, key: str, *, bucket: str = streams.WORKERS) -> None:
        """Take a card out of its registry at once."""
        await asyncio.sleep(0)
        if self.connected:
            self._server.drop_card(bucket, key)

    async def cards(self, prefix: str = "", *, bucket: str = streams.WORKERS) -> dict[str, Stored]:
        """All live cards of a registry whose key begins with the prefix."""
        found = await self._ask(lambda: self._server.cards(bucket, prefix))
        self._seen(found.values())
        return found

    async def put_artifact(self, name: str, data: bytes) -> str:
        """Keep something big under a name; waits while there is no room."""
        while True:
            try:
                return await self._ask(lambda: self._server.put_artifact(name, data))
            except FullError:
                await self._server.clock.sleep(ROOM_PAUSE_S)

    async def get_artifact(self, name: str) -> bytes | None:
        """What was kept under a name."""
        return await self._ask(lambda: self._server.artifacts.get(name))

    async def artifact_names(self) -> list[str]:
        """The names of all artifacts."""
        return await self._ask(lambda: list(self._server.artifacts))

    async def drop_artifact(self, name: str) -> None:
        """Delete what was kept under a name."""
        await self._ask(lambda: self._server.artifacts.pop(name, None))

    async def store_state(self, stream: str) -> StoreState:
        """How full a stream is."""
        return await self._ask(lambda: self._server.store_state(stream))

    async def purge(self, stream: str, subject: str, *, keep: int = 0) -> int:
        """Delete the messages under a subject but the last `keep`."""
        return await self._ask(lambda: self._server.stream(stream).purge(subject, keep))

    async def queues(self, stream: str) -> dict[str, QueueState]:
        """The queues of a stream, by name."""
        found = await self._ask(lambda: self._server.queues(stream))
        return {name: queue.state() for name, queue in found.items()}

    def now(self) -> float:
        """The server's time, as far as this process knows it."""
        return self._time.now()

    async def queue_state(self, queue: Queue) -> QueueState | None:
        """How one queue stands; None if it does not exist."""
        found = await self._ask(lambda: self._server.queues(queue.stream).get(queue.name))
        return found.state() if found else None

    def on_reconnect(self, call: Callable[[], None]) -> Callable[[], None]:
        """Have a function called each time the bus is back."""
        self._on_reconnect.append(call)
        return lambda: self._on_reconnect.remove(call)

    async def close(self) -> None:
        """Let go of the bus."""
        self._leave()
        self._outbox.close()

    def kill(self) -> None:
        """The process dies: what it held comes back after its ack wait, and it never says anything again."""
        self._leave()
        self._outbox.close()

    def lost(self) -> None:
        """The connection broke."""
        self._connected.clear()
        self._connection += 1
        self._outbox.lost()
        for subscription in self._subscriptions:
            self._server.subscriptions.pop(subscription, None)
        for pull in self._pulls:
            pull.lost()

    def back(self) -> None:
        """The connection is there again: first the ears, then what waits to go out."""
        if self.connected or not self._open or not self._server.is_up:
            return
        self._connected.set()
        self._server.subscriptions |= self._subscriptions
        for pull in self._pulls:
            pull.back()
        self._outbox.back()
        for call in list(self._on_reconnect):
            self.soon(call)

    def soon(self, call: Callable[[], None]) -> None:
        """Have something arrive here a moment later, unless the connection breaks before."""
        connection = self._connection
        asyncio.get_running_loop().call_soon(lambda: call() if connection == self._connection else None)

    def ack_arrives(self, subject: str) -> bool:
        """Whether an ack that is sent now will reach the server."""
        return self.connected and not self._server.lose_acks(subject)

    async def until_noted(self, subject: str) -> None:
        """Returns when an ack has reached the server, however often it has to be sent."""
        while not await self._ask(lambda: self.ack_arrives(subject)):
            await self._server.clock.sleep(RESEND_S)

    async def _ask(self, question: Callable[[], T]) -> T:
        """Wait for the server, if it is away, and ask; like a real one, it never answers in the same breath."""
        self._check_open()
        await asyncio.sleep(0)
        await self._connected.wait()
        return question()

    def _seen(self, messages: Messages) -> Messages:
        for stored in messages:
            self._time.observe(stored.time_ns)
        return messages

    def _check_open(self) -> None:
        if not self._open:
            raise UnreachableError(f"{self._name} has left the bus")

    def _leave(self) -> None:
        self.lost()
        self._open = False
        self._server.clients.pop(self, None)
        self._pulls.clear()
        self._subscriptions.clear()
