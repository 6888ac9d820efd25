"""The port, spoken to JetStream."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

import nats.errors
from nats.aio.msg import Msg
from nats.js.api import ConsumerInfo
from nats.js.client import JetStreamContext
from nats.js.errors import APIError
from nats.js.errors import NotFoundError as MissingError

from actors.bus.jetstream import wire
from actors.bus.jetstream.asker import Asker
from actors.bus.jetstream.assets import Assets
from actors.bus.jetstream.jobs import Jobs
from actors.bus.jetstream.lean_client import LeanClient
from actors.bus.jetstream.outbox import Outbox
from actors.bus.jetstream.pull import Ground, JetStreamPull
from actors.bus.jetstream.pulse import Pulse
from actors.bus.jetstream.reader import Reader
from actors.bus.jetstream.restorer import Restorer
from actors.bus.jetstream.storage import Storage, told
from actors.bus.port import NO_HEADERS, Delivery, Headers, Pull, QueueState, Stored, StoreState
from actors.clock import Clock
from actors.server_time import ServerTime
from actors.settings import Settings
from observability.logger import get_logger
from protocol import streams, subjects
from protocol.errors import BusError, HandoffError, TooLargeError
from protocol.streams import Queue

CLOSE_S = 2
ASK_S = 5.0

log = get_logger()


class JetStreamBus:
    """One process on the bus. Made by `connect`."""

    def __init__(self, client: LeanClient, settings: Settings, clock: Clock) -> None:
        self._client = client
        self._settings = settings
        self._js: JetStreamContext = client.jetstream(timeout=ASK_S)  # pyright: ignore[reportUnknownMemberType]
        self._time = ServerTime(clock)
        self._assets = Assets(client, self._js, settings)
        self._restorer = Restorer(self._assets)
        self._reader = Reader(client, self._time, self._restorer.restore)
        self._storage = Storage(client, self._js, self._reader, self._restorer)
        self._asker = Asker(client)
        self._outbox = Outbox(client, self._last_or_none, self._restorer.restore)
        self._pulls: set[JetStreamPull] = set()
        self._pulse = Pulse(settings.ack_wait_s / 2)
        self._jobs = Jobs()
        self._on_reconnect: list[Callable[[], None]] = []
        self.closing = False

    async def start(self) -> None:
        """Make sure of the streams and listen for answers."""
        await self._reader.start()
        await self._asker.start()
        await self._outbox.start()
        self._jobs.start(self._pulse.beat())
        await self._assets.assure()
        await self._ask_time()

    async def resize_store(self) -> None:
        """Give streams that exist the limits of the settings, too; credentials that may not do so are no error."""
        try:
            await self._assets.assure(resize=True)
        except (BusError, nats.errors.Error) as error:
            log.warning("bus.resize_failed", error=str(error) or type(error).__name__)

    async def reconnected(self) -> None:
        """The bus is back: send again what had no answer, make sure of everything, ask for work again."""
        await self._outbox.resend()
        for call in list(self._on_reconnect):
            call()
        while self._client.is_connected:
            try:
                await self._assets.assure()
                self._pulls = {pull for pull in self._pulls if not pull.stopped}
                for pull in self._pulls:
                    await pull.renew()
            except (HandoffError, nats.errors.Error) as error:
                log.warning("bus.not_ready", error=str(error) or type(error).__name__)
                await asyncio.sleep(0.25)
            else:
                return

    def denied(self, subject: str, reason: str) -> None:
        """The server refused a publish for lack of rights."""
        self._outbox.deny(subject, reason)

    async def send(
        self, subject: str, data: bytes, *, expect: int | None = None, headers: Headers = NO_HEADERS
    ) -> "asyncio.Future[int]":
        """Hand a message to the bus."""
        limit = self._settings.message_bytes
        if subjects.is_dead(subject):
            limit = self._client.max_payload
        if len(data) > min(limit, self._client.max_payload):
            raise TooLargeError(subject, len(data), min(limit, self._client.max_payload))
        return await self._outbox.send(subject, data, expect, headers)

    async def publish(
        self, subject: str, data: bytes, *, expect: int | None = None, headers: Headers = NO_HEADERS
    ) -> int:
        """Store a message and return its sequence."""
        return await (await self.send(subject, data, expect=expect, headers=headers))

    async def emit(self, subject: str, data: bytes) -> None:
        """Say something that nobody needs to have heard."""
        if self._client.is_connected:
            try:
                await self._client.publish(subject, data)
            except nats.errors.Error as error:  # too long, or the connection has just gone
                log.debug("not.said", subject=subject, error=str(error))

    @asynccontextmanager
    async def subscribe(self, subject: str, heard: Callable[[Stored], None]) -> AsyncGenerator[None]:
        """Hear what is said on a subject from now on."""

        async def on(msg: Msg) -> None:
            stored = wire.heard(msg)
            if stored.time_ns:
                self._time.observe(stored.time_ns)
            heard(stored)

        subscription = await self._client.listen(subject, on)
        await self._settled()
        try:
            yield
        finally:
            if not self._client.is_closed:
                await subscription.unsubscribe()

    async def pull(self, queue: Queue, slots: int, deliver: Callable[[Delivery], None]) -> Pull:
        """Have the messages of a queue delivered."""
        ground = Ground(self._client, self._asker, self._pulse, self._time, self._assure_queue)
        pull = JetStreamPull(ground, queue, slots, deliver)
        await pull.start()
        self._pulls.add(pull)
        return pull

    async def read(self, stream: str, subject: str, *, after: int = 0, limit: int = 0) -> list[Stored]:
        """Every message under a subject above a sequence, in order."""
        return await self._reader.all(stream, subject, after, limit)

    async def last(self, stream: str, subjects: Sequence[str]) -> list[Stored]:
        """The last message of each subject that matches."""
        return await self._reader.last(stream, list(subjects))

    async def newest(self, stream: str, subject: str, limit: int) -> list[Stored]:
        """The `limit` messages with the highest sequences under a subject."""
        return await self._reader.newest(stream, subject, limit)

    async def counts(self, stream: str, subject: str) -> dict[str, int]:
        """How many messages there are on each subject that matches."""
        return await self._reader.counts(stream, subject)

    async def get(self, stream: str, seq: int) -> Stored | None:
        """The message at one place of a stream."""
        return await self._reader.at(stream, seq)

    async def delete(self, stream: str, seq: int) -> bool:
        """Take one message out of a stream."""
        with told(f"deleting {seq} of {stream}"):
            try:
                return await self._js.delete_msg(stream, seq)
            except APIError:
                return False

    async def put_card(self, key: str, data: bytes, *, bucket: str = streams.WORKERS) -> None:
        """Write a card into its registry; a card that finds no bus is simply written again at the next beat."""
        if self._client.is_connected:
            await self._ask_registry(f"$KV.{bucket}.{key}", data, None)

    async def drop_card(self, key: str, *, bucket: str = streams.WORKERS) -> None:
        """Take a card out of its registry at once."""
        if self._client.is_connected:
            await self._ask_registry(f"$KV.{bucket}.{key}", b"", {"KV-Operation": "DEL"})

    async def cards(self, prefix: str = "", *, bucket: str = streams.WORKERS) -> dict[str, Stored]:
        """All live cards of a registry whose key begins with the prefix."""
        root = f"$KV.{bucket}."
        found = await self._reader.last(f"KV_{bucket}", [f"{root}{prefix}>"])
        return {m.subject.removeprefix(root): m for m in found if "KV-Operation" not in m.headers}

    async def put_artifact(self, name: str, data: bytes) -> str:
        """Keep something big under a name."""
        return await self._storage.put_artifact(name, data)

    async def get_artifact(self, name: str) -> bytes | None:
        """What was kept under a name."""
        return await self._storage.get_artifact(name)

    async def artifact_names(self) -> list[str]:
        """The names of all artifacts."""
        return await self._storage.artifact_names()

    async def drop_artifact(self, name: str) -> None:
        """Delete what was kept under a name."""
        await self._storage.drop_artifact(name)

    async def store_state(self, stream: str) -> StoreState:
        """How full a stream is."""
        return await self._storage.state(stream)

    async def purge(self, stream: str, subject: str, *, keep: int = 0) -> int:
        """Delete the messages under a subject but the last `keep`."""
        return await self._storage.purge(stream, subject, keep)

    async def queues(self, stream: str) -> dict[str, QueueState]:
        """The queues of a stream, by name."""
        found: dict[str, QueueState] = {}
        rows = 0  # counts rows, not names: a queue made meanwhile may push one that was read onto the next page
        with told(f"listing the queues of {stream}"):
            while page := await self._js.consumers_info(stream, offset=rows):
                rows += len(page)
                found |= {info.name: _state(info) for info in page}
        return found

    def now(self) -> float:
        """The server's time, as far as this process knows it."""
        return self._time.now()

    async def queue_state(self, queue: Queue) -> QueueState | None:
        """How one queue stands; None if it does not exist."""
        with told(f"reading the state of queue {queue.name}"):
            try:
                return _state(await self._js.consumer_info(queue.stream, queue.name))
            except MissingError:
                return None

    def on_reconnect(self, call: Callable[[], None]) -> Callable[[], None]:
        """Have a function called each time the bus is back."""
        self._on_reconnect.append(call)
        return lambda: self._on_reconnect.remove(call)

    async def close(self) -> None:
        """Let go of the bus: what was said goes out, within a bounded time."""
        self.closing = True
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._settled()
        except TimeoutError:
            log.debug("bus.closed_late")
        await self._jobs.end()
        await self._outbox.close()
        await self._client.close()

    async def _ask_registry(self, subject: str, data: bytes, headers: dict[str, str] | None) -> None:
        try:
            try:
                await self._client.request(subject, data, timeout=ASK_S, headers=headers)
            except nats.errors.NoRespondersError:
                await self._restorer.restore()
                await self._client.request(subject, data, timeout=ASK_S, headers=headers)
        except nats.errors.Error as error:
            raise BusError(f"writing {subject} failed: {error or type(error).__name__}") from error

    async def _ask_time(self) -> None:
        """Ask the server once for its time. Without an answer, the first message with a stored time tells it."""
        try:
            answer = await self._client.request(f"$JS.API.STREAM.INFO.{streams.RUNS}", timeout=ASK_S)
            self._time.observe(wire.nanoseconds(wire.json(answer.data)["ts"]))
        except (nats.errors.Error, KeyError, ValueError) as error:
            log.debug("time.not_told", error=str(error) or type(error).__name__)

    async def _settled(self) -> None:
        """Everything sent so far has reached the server."""
        if self._client.is_connected:
            try:
                await wire.barrier(self._client)
            except nats.errors.Error as error:
                log.debug("bus.flush_unsure", error=str(error) or type(error).__name__)

    async def _assure_queue(self, queue: Queue) -> None:
        with told(f"making sure of queue {queue.name}"):
            try:
                await self._assets.assure_queue(queue)
            except BusError:  # perhaps its stream was deleted
                await self._restorer.restore()
                await self._assets.assure_queue(queue)

    async def _last_or_none(self, subject: str) -> Stored | None:
        stream = streams.stream_of(subject)
        found = await self._reader.last(stream, [subject]) if stream else []
        return found[-1] if found else None


def _state(info: ConsumerInfo) -> QueueState:
    return QueueState(pending=info.num_pending or 0, unsettled=info.num_ack_pending or 0, waiting=info.num_waiting or 0)
