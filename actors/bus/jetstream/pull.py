"""Continuous pull: one standing request sized to the free slots, topped up as they become free."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import msgspec
import nats.errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from actors.bus.jetstream import wire
from actors.bus.jetstream.asker import Asker
from actors.bus.jetstream.delivery import JetStreamDelivery
from actors.bus.jetstream.jobs import Jobs
from actors.bus.jetstream.lean_client import LeanClient
from actors.bus.jetstream.pulse import Pulse
from actors.bus.port import Delivery
from actors.server_time import ServerTime
from observability.logger import get_logger
from protocol.errors import HandoffError
from protocol.streams import Queue

MAX_EXPIRY_S = 10.0
GRACE_S = 2.0
PAUSE_S = 0.2

_encode = msgspec.json.Encoder().encode

log = get_logger()


@dataclass(frozen=True)
class Ground:
    """What all pulls of one process stand on."""

    client: LeanClient
    asker: Asker
    pulse: Pulse
    time: ServerTime
    assure: Callable[[Queue], Awaitable[None]]


class JetStreamPull:
    """The standing request of one process on one queue."""

    def __init__(self, ground: Ground, queue: Queue, slots: int, deliver: Callable[[Delivery], None]) -> None:
        self._client = ground.client
        self._asker = ground.asker
        self._pulse = ground.pulse
        self._time = ground.time
        self._assure = ground.assure
        self._queue = queue
        self._slots = slots
        self._deliver = deliver
        self._next = f"$JS.API.CONSUMER.MSG.NEXT.{queue.stream}.{queue.name}"
        # A stopped process still has an open pull. It must expire before the process's own deliveries come again, which
        # is two thirds of the ack wait after it stopped at the earliest: the server would deliver them to that pull.
        self._expires_s = min(MAX_EXPIRY_S, queue.ack_wait.total_seconds() / 2)
        self._counter = itertools.count(1)
        self._inbox = ""
        self._subscription: Subscription | None = None
        self._busy = 0
        self._asked = 0
        self._requests: dict[str, int] = {}
        self._heard_at = 0.0
        self._stopped = False
        self._left_over: list[Delivery] | None = []
        self._jobs = Jobs()
        self._loop = asyncio.get_running_loop()

    async def start(self) -> None:
        """Make sure of the queue, listen, and ask for as much as there is room for."""
        await self._assure(self._queue)
        await self._listen()
        self._pulse.on_wake(self._begin_anew)
        self._jobs.start(self._watch())

    def release(self) -> None:
        """One delivery is over."""
        self._busy -= 1
        if self._wants_more():
            self._jobs.start(self._top_up())

    async def renew(self) -> None:
        """The connection is back, and the server has forgotten what was asked."""
        await self._assure(self._queue)
        self._inbox = ""
        # A server that did not die still serves what was asked before: under a new inbox that is told apart.
        await self._listen_anew()

    async def stop(self) -> list[Delivery]:
        """Ask for no more; the drain lets everything that is under way arrive.

        A server that hangs does not confirm the end. The subscription then stays, and gives back what still arrives.
        """
        self._stopped = True
        self._pulse.forget(self._begin_anew)
        await self._jobs.end()
        if self._client.is_connected and self._subscription:
            try:
                await wire.hang_up(self._client, self._subscription)
            except nats.errors.Error as error:
                log.warning("pull.stop_unconfirmed", queue=self._queue.name, error=str(error) or type(error).__name__)
        else:
            await self._unsubscribe()
        left_over, self._left_over = self._left_over, None
        return left_over or []

    @property
    def stopped(self) -> bool:
        """Whether it asks for no more."""
        return self._stopped

    async def _listen(self) -> None:
        """Ask under an inbox of its own, so that what was asked for before can be told apart."""
        inbox = self._inbox = self._client.new_inbox() + "."

        async def heard(msg: Msg) -> None:
            self._pulse.feel()
            self._heard_at = self._loop.time()
            if inbox == self._inbox:
                await self._heard(msg)

        self._forget_requests()
        subscription = await self._client.listen(inbox + "*", heard)
        if self._stopped or inbox != self._inbox:  # the pull stopped, or began anew, while this one was made
            await subscription.unsubscribe()
            return
        self._subscription = subscription
        await self._top_up()

    def _begin_anew(self) -> None:
        """The process stood still: what lies in the socket was delivered long ago, and others may have it by now."""
        if not self._stopped:
            self._inbox = ""
            self._jobs.start(self._listen_anew())

    async def _listen_anew(self) -> None:
        await self._unsubscribe()
        await self._listen()

    async def _unsubscribe(self) -> None:
        """End the subscription. Without a connection the client only forgets it, and does not renew it later."""
        old, self._subscription = self._subscription, None
        if old is not None and not self._client.is_closed:
            await old.unsubscribe()

    def _wants_more(self) -> bool:
        room = self._slots - self._busy - self._asked
        return not self._stopped and room > 0 and (self._asked == 0 or room >= self._slots // 2)

    async def _top_up(self) -> None:
        if self._stopped or not self._inbox or not self._client.is_connected:
            return
        room = self._slots - self._busy - self._asked
        if room <= 0:
            return
        self._asked += room
        reply = self._inbox + str(next(self._counter))
        if not self._asked - room:
            self._requests.clear()  # all that was asked for before has come
        self._requests[reply] = room
        body = {"batch": room, "expires": int(self._expires_s * 1e9)}
        await self._client.publish(self._next, _encode(body), reply=reply)

    async def _heard(self, msg: Msg) -> None:
        if not msg.reply:
            await self._void(msg)
            return
        delivery = JetStreamDelivery(self._client, self._asker, msg)
        self._time.observe(delivery.message.time_ns)
        if self._stopped:
            await self._late(delivery)
            return
        self._asked = max(0, self._asked - 1)
        if self._busy >= self._slots:
            await delivery.retry(0.0)
            return
        self._busy += 1
        self._deliver(delivery)
        if self._wants_more():
            await self._top_up()

    async def _late(self, delivery: Delivery) -> None:
        """A delivery arrived after `stop` was called: `stop` returns it, or has returned already."""
        if self._left_over is None:
            await delivery.retry(0.0)
        else:
            self._left_over.append(delivery)

    async def _void(self, msg: Msg) -> None:
        """The rest of a request is over: it expired, or the consumer moved or is gone."""
        answer = wire.status(msg)
        if answer == "100":
            return
        asked = self._requests.pop(msg.subject, 0)
        left = int((msg.headers or {}).get("Nats-Pending-Messages", asked))
        self._asked = max(0, self._asked - left)
        if answer == "408":
            await self._top_up()
        else:
            self._jobs.start(self._ask_later())

    async def _ask_later(self) -> None:
        await asyncio.sleep(PAUSE_S)
        await self._ask_anew()

    async def _ask_anew(self) -> None:
        """Make sure of the queue and ask again, until that works; a lost connection is somebody else's to mend."""
        while self._client.is_connected and not self._stopped:
            try:
                await self._assure(self._queue)
            except (HandoffError, nats.errors.Error) as error:
                log.warning("queue.not_ready", queue=self._queue.name, error=str(error) or type(error).__name__)
                await asyncio.sleep(PAUSE_S)
            else:
                await self._top_up()
                return

    async def _watch(self) -> None:
        """A request that the server forgot is answered by nobody: after its time it counts as gone."""
        while True:
            await asyncio.sleep(self._expires_s / 2)
            if self._asked and self._loop.time() - self._heard_at > self._expires_s + GRACE_S:
                self._forget_requests()
                await self._ask_anew()

    def _forget_requests(self) -> None:
        self._asked = 0
        self._requests.clear()
        self._heard_at = self._loop.time()
