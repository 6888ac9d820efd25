"""A delivery: a pulled message, and the words by which it is settled."""

import asyncio

import msgspec
import nats.errors
from nats.aio.msg import Msg

from actors.bus.jetstream.asker import Asker
from actors.bus.jetstream.lean_client import LeanClient
from actors.bus.port import NO_HEADERS, Stored
from observability.logger import get_logger

SURE_S = 2.0
SURE_TRIES = 5

_encode = msgspec.json.Encoder().encode

log = get_logger()


class JetStreamDelivery:
    """A message pulled from a queue. Everything but its bytes stands in its reply subject."""

    __slots__ = ("_asker", "_client", "_msg", "count", "message")

    def __init__(self, client: LeanClient, asker: Asker, msg: Msg) -> None:
        self._client = client
        self._asker = asker
        self._msg = msg
        # $JS.ACK.<stream>.<consumer>.<count>.<seq>.… or, in a domain, $JS.ACK.<domain>.<account>.<stream>.<consumer>.…
        parts = msg.reply.split(".")
        count, seq, _, time_ns, *_ = parts[4:] if len(parts) == 9 else parts[6:]
        self.count = int(count)
        self.message = Stored(
            subject=msg.subject, data=msg.data, seq=int(seq), time_ns=int(time_ns), headers=msg.headers or NO_HEADERS
        )

    async def ack(self, *, sure: bool = False) -> None:
        """It is finished. An ack that does not arrive is harmless: the message comes again and is found finished."""
        if not sure:
            await self._client.publish(self._msg.reply, b"+ACK")
            return
        for _ in range(SURE_TRIES):
            try:
                await self._asker.ask(self._msg.reply, b"+ACK", SURE_S)
            except (nats.errors.Error, TimeoutError) as error:
                log.warning("ack.unsure", subject=self._msg.subject, error=str(error) or type(error).__name__)
                await asyncio.sleep(SURE_S / 10)
            else:
                return

    async def retry(self, after_s: float) -> None:
        """Give it back; while the bus is away the ack wait does that."""
        await self._say(b"-NAK " + _encode({"delay": int(after_s * 1e9)}))

    async def in_progress(self) -> bool:
        """It is being worked on. Never sent late: it would keep another's lease alive."""
        return await self._say(b"+WPI")

    async def _say(self, word: bytes) -> bool:
        if not self._client.is_connected:
            return False
        await self._client.publish(self._msg.reply, word)
        return True
