"""Continuous pull: one standing request sized to the free slots, topped up as they become free."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable

import msgspec
import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from actors.bus.jetstream import wire
from actors.bus.jetstream.jobs import Jobs
from actors.bus.port import NO_HEADERS, Delivery, Stored
from protocol.streams import Queue

EXPIRES_S = 30.0
PAUSE_S = 0.2
SURE_S = 2.0

log = structlog.get_logger()

_encode = msgspec.json.Encoder().encode


class JetStreamDelivery:
    """A message pulled from a queue. Everything but its bytes stands in its reply subject."""

    __slots__ = ("_client", "_msg", "_parts")

    def __init__(self, client: Client, msg: Msg) -> None:
        self._client = client
        self._msg = msg
        # $JS.ACK.<stream>.<consumer>.<count>.<seq>.… or, in a domain, $JS.ACK.<domain>.<account>.<stream>.<consumer>.…
        parts = msg.reply.split(".")
        self._parts = parts[4:] if len(parts) == 9 else parts[6:]

    @property
    def message(self) -> Stored:
        """What was delivered."""
        return Stored(
            subject=self._msg.subject,
            data=self._msg.data,
            seq=int(self._parts[1]),
            time_ns=int(self._parts[3]),
            headers=self._msg.headers or NO_HEADERS,
        )

    @property
    def count(self) -> int:
        """How many times it has been delivered."""
        return int(self._parts[0])

    async def ack(self, *, sure: bool = False) -> None:
        """It is finished. An ack that does not arrive is harmless: the message comes again and is found finished."""
        if not sure:
            await self._client.publish(self._msg.reply, b"+ACK")
            return
        try:
            await self._client.request(self._msg.reply, b"+ACK", timeout=SURE_S)
        except nats.errors.Error as error:
            log.warning("ack.unsure", subject=self._msg.subject, error=str(error) or type(error).__name__)

    async def retry(self, after_s: float) -> None:
        """Give it back; while the bus is away the ack wait does that."""
        await self._say(b"-NAK " + _encode({"delay": int(after_s * 1e9)}))

    async def in_progress(self) -> None:
        """It is being worked on. Never sent late: it would keep another's lease alive."""
        await self._say(b"+WPI")

    async def _say(self, word: bytes) -> None:
        if self._client.is_connected:
            await self._client.publish(self._msg.reply, word)


class JetStreamPull:
    """The standing request of one process on one queue."""

    def __init__(
        self,
        client: Client,
        queue: Queue,
        slots: int,
        deliver: Callable[[Delivery], None],
        assure: Callable[[Queue], Awaitable[None]],
    ) -> None:
        self._client = client
        self._queue = queue
        self._slots = slots
        self._deliver = deliver
        self._assure = assure
        self._next = f"$JS.API.CONSUMER.MSG.NEXT.{queue.stream}.{queue.name}"
        self._inbox = client.new_inbox() + "."
        self._counter = itertools.count(1)
        self._busy = 0
        self._asked = 0
        self._stopped = False
        self._left_over: list[Delivery] = []
        self._jobs = Jobs()

    async def start(self) -> None:
        """Make sure of the queue, listen, and ask for as much as there is room for."""
        await self._assure(self._queue)
        self._subscription = await wire.listen(self._client, self._inbox + "*", self._heard)
        await self._top_up()

    def release(self) -> None:
        """One delivery is over."""
        self._busy -= 1
        if self._wants_more():
            self._jobs.start(self._top_up())

    async def renew(self) -> None:
        """The connection is back, and the server has forgotten what was asked."""
        await self._assure(self._queue)
        self._asked = 0
        await self._top_up()

    async def stop(self) -> list[Delivery]:
        """Ask for no more; the drain lets everything that is under way arrive."""
        self._stopped = True
        await self._jobs.end()
        if self._client.is_connected:
            await self._subscription.drain()
        return self._left_over

    def _wants_more(self) -> bool:
        room = self._slots - self._busy - self._asked
        return not self._stopped and room > 0 and (self._asked == 0 or room >= self._slots // 2)

    async def _top_up(self) -> None:
        if self._stopped or not self._client.is_connected:
            return
        room = self._slots - self._busy - self._asked
        if room <= 0:
            return
        self._asked += room
        body = {"batch": room, "expires": int(EXPIRES_S * 1e9)}
        await self._client.publish(self._next, _encode(body), reply=self._inbox + str(next(self._counter)))

    async def _heard(self, msg: Msg) -> None:
        if not msg.reply:
            await self._void(msg)
            return
        delivery = JetStreamDelivery(self._client, msg)
        if self._stopped:
            self._left_over.append(delivery)
            return
        self._asked = max(0, self._asked - 1)
        self._busy += 1
        self._deliver(delivery)
        if self._wants_more():
            await self._top_up()

    async def _void(self, msg: Msg) -> None:
        """The rest of a request is over: it expired, or the consumer moved or is gone."""
        answer = wire.status(msg)
        if answer == "100":
            return
        left = (msg.headers or {}).get("Nats-Pending-Messages")
        self._asked = max(0, self._asked - int(left)) if left else 0
        if answer == "408":
            await self._top_up()
        else:
            self._jobs.start(self._ask_later())

    async def _ask_later(self) -> None:
        await asyncio.sleep(PAUSE_S)
        if self._client.is_connected:
            await self._assure(self._queue)
        await self._top_up()
