"""The server in memory: what outlives the processes, and what can be made to go wrong with it."""

import base64
import hashlib
from collections.abc import Callable
from typing import Protocol

import msgspec

from actors.bus.memory.faults import Chance, never
from actors.bus.memory.matching import matcher
from actors.bus.memory.queue import MemoryQueue
from actors.bus.memory.stream import MemoryStream, Publication
from actors.bus.port import Stored, StoreState
from actors.clock import Clock, SystemClock
from actors.settings import Settings
from protocol.errors import BusError, FullError, InvalidError
from protocol.streams import CARD_BUCKETS, OBJECTS, Queue, Stream, streams


class Client(Protocol):
    """A process, as the server sees it."""

    def lost(self) -> None:
        """The connection broke."""
        ...

    def back(self) -> None:
        """The connection is there again."""
        ...


class Subscription(msgspec.Struct, frozen=True, eq=False):
    """Somebody who hears what is said under a pattern."""

    pattern: str
    hear: Callable[[Stored], None]


class MemoryServer:
    """Streams, queues, cards and artifacts, shared by every MemoryBus that is made on it.

    Faults: `lose_acks` drops an ack on its way, `unknown_publishes` drops the answer to a publish that was stored,
    `lose_republished` drops a stored message on its way to one subscriber; each is asked with the subject every time.
    `down`, `up` and `restart` are the death and the return of the server; `redeliver_early` cuts ack waits short.
    """

    def __init__(self, settings: Settings | None = None, clock: Clock | None = None) -> None:
        self.settings = settings or Settings()
        self.clock = clock or SystemClock()
        self.lose_acks: Chance = never
        self.unknown_publishes: Chance = never
        self.lose_republished: Chance = never
        self.is_up = True
        self.clients: dict[Client, None] = {}
        self.subscriptions: dict[Subscription, None] = {}
        self.artifacts: dict[str, bytes] = {}
        self._streams = {spec.name: self._made(spec) for spec in streams(self.settings.keep)}
        self._queues: dict[str, dict[str, MemoryQueue]] = {name: {} for name in self._streams}
        self._cards: dict[str, dict[str, tuple[Stored, float]]] = {bucket: {} for bucket in CARD_BUCKETS}
        self._card_writes = 0

    def down(self) -> None:
        """The server is away: nobody reaches it, and what was on its way to anybody is lost."""
        self.is_up = False
        for client in list(self.clients):
            client.lost()

    def up(self) -> None:
        """The server is back, and so is every client."""
        self.is_up = True
        for client in list(self.clients):
            client.back()

    def restart(self, *, forget_acks: bool = True) -> None:
        """The server dies and comes back: ids of removed messages and delivery counts are lost, and unwritten acks."""
        self.down()
        for stream in self._streams.values():
            stream.forget_ids()
        for queues in self._queues.values():
            for queue in queues.values():
                queue.restart(forget_acks=forget_acks)
        self.up()

    def delete_stream(self, name: str) -> None:
        """An operator deletes a stream, or the one behind a bucket; the clients make it again, empty, at once."""
        if name == OBJECTS:
            self.artifacts.clear()
        elif (bucket := name.removeprefix("KV_")) in self._cards:
            self._cards[bucket].clear()
        else:
            stream = self._streams[name] = self._made(self.stream(name).spec)
            for queue in self._queues[name].values():
                queue.begin_anew(stream)

    def redeliver_early(self, chance: Chance) -> None:
        """End the ack wait of deliveries that are held, as a server may do after a restart."""
        for queues in self._queues.values():
            for queue in queues.values():
                queue.redeliver_early(chance)

    def stream(self, name: str) -> MemoryStream:
        """A stream by its name."""
        if name not in self._streams:
            raise BusError(f"there is no stream {name}")
        return self._streams[name]

    def say(self, publication: Publication) -> None:
        """Everybody who listens hears it, stored or not."""
        self._tell(
            publication.subject,
            Stored(
                subject=publication.subject,
                data=publication.data,
                seq=0,
                time_ns=0,
                headers=publication.headers,
            ),
        )

    def publish(self, publication: Publication) -> int:
        """Store a message; ConflictError if compare-and-set refuses it, which comes before dedupe."""
        stream = self.stream_of(publication.subject)
        if stream is None:
            raise BusError(f"no stream takes {publication.subject}")
        self.say(publication)
        stream.check(publication)
        known = stream.duplicate(publication)
        if known is not None:
            return known
        stored = stream.append(publication)
        if stream.spec.republish is not None:
            source, target = (pattern.removesuffix(">") for pattern in stream.spec.republish)
            self._tell(target + stored.subject.removeprefix(source), stored)
        for queue in self._queues[stream.spec.name].values():
            queue.offer(stored)
        return stored.seq

    def stream_of(self, subject: str) -> MemoryStream | None:
        """The stream that takes a subject."""
        return next((stream for stream in self._streams.values() if stream.takes(subject)), None)

    def queue(self, spec: Queue) -> MemoryQueue:
        """A queue, made if it is missing."""
        found = self.queues(spec.stream).get(spec.name)
        if found is None:
            found = MemoryQueue(spec, self.stream(spec.stream), self.clock)
            self._queues[spec.stream][spec.name] = found
        if found.spec.filter != spec.filter:
            raise InvalidError([f"queue {spec.name} exists and serves {found.spec.filter}"])
        found.spec = spec
        return found

    def queues(self, stream: str) -> dict[str, MemoryQueue]:
        """The queues of a stream, by name."""
        self.stream(stream)
        return self._queues[stream]

    def put_card(self, bucket: str, key: str, data: bytes) -> None:
        """Write a card; it lives for as long as the settings say."""
        self._card_writes += 1
        time_ns = int(self.clock.now() * 1e9)
        card = Stored(subject=f"$KV.{bucket}.{key}", data=data, seq=self._card_writes, time_ns=time_ns)
        self._cards[bucket][key] = card, self.clock.monotonic() + self.settings.card_ttl_s

    def drop_card(self, bucket: str, key: str) -> None:
        """Take a card away."""
        self._cards[bucket].pop(key, None)

    def cards(self, bucket: str, prefix: str) -> dict[str, Stored]:
        """The live cards of a bucket whose key begins with the prefix."""
        now = self.clock.monotonic()
        live = self._cards[bucket] = {key: card for key, card in self._cards[bucket].items() if card[1] > now}
        return {key: stored for key, (stored, _) in live.items() if key.startswith(prefix)}

    def put_artifact(self, name: str, data: bytes) -> str:
        """Keep something big; returns its digest. FullError if there is no room for it."""
        kept = sum(len(other) for key, other in self.artifacts.items() if key != name)
        if kept + len(data) > self.settings.store_limits[OBJECTS]:
            raise FullError(name, OBJECTS)
        self.artifacts[name] = data
        return "SHA-256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()

    def store_state(self, name: str) -> StoreState:
        """How full a stream, or the store of artifacts, is."""
        limit = self.settings.store_limits.get(name, 0)
        if name == OBJECTS:
            used = sum(map(len, self.artifacts.values()))
            return StoreState(bytes=used, limit=limit, keep_s=self.settings.keep.total_seconds())
        stream = self.stream(name)
        return StoreState(bytes=stream.bytes, limit=limit, keep_s=stream.spec.max_age.total_seconds())

    def _made(self, spec: Stream) -> MemoryStream:
        return MemoryStream(spec, self.clock, self.settings.store_limits.get(spec.name, 0))

    def _tell(self, subject: str, stored: Stored) -> None:
        for subscription in list(self.subscriptions):
            if matcher(subscription.pattern)(subject) and not (stored.seq and self.lose_republished(subject)):
                subscription.hear(stored)
