"""Questions with one short answer, many in flight on one inbox: what `request` does, without its price."""

import asyncio
import itertools

from nats.aio.msg import Msg

from actors.bus.jetstream.lean_client import LeanClient


class Asker:
    """Asks and waits a bounded time; TimeoutError if nobody answers."""

    def __init__(self, client: LeanClient) -> None:
        self._client = client
        self._inbox = client.new_inbox() + "."
        self._counter = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[Msg]] = {}

    async def start(self) -> None:
        """Listen for answers."""
        await self._client.listen(self._inbox + "*", self._heard)

    async def ask(self, subject: str, data: bytes, timeout_s: float) -> Msg:
        """Say something on a subject and return what is answered."""
        key = str(next(self._counter))
        answer = self._waiting[key] = asyncio.get_running_loop().create_future()
        try:
            await self._client.publish(subject, data, reply=self._inbox + key)
            async with asyncio.timeout(timeout_s):
                return await answer
        finally:
            del self._waiting[key]

    async def _heard(self, msg: Msg) -> None:
        answer = self._waiting.get(msg.subject[len(self._inbox) :])
        if answer is not None and not answer.done():
            answer.set_result(msg)
