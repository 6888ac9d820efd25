"""The outbox: every publish stays in it until the server has answered, and goes out again until then.

A timeout means "unknown", so nothing here times out towards the caller. A message that was sent twice may find itself
already stored: after a refused compare-and-set it is told from another's by its nonce, or, where only one message can
ever stand, by its content.
"""

import asyncio
import itertools
import os
from collections.abc import Awaitable, Callable

import nats.errors
from nats.aio.msg import Msg

from actors.bus.jetstream import wire
from actors.bus.jetstream.jobs import Jobs
from actors.bus.jetstream.lean_client import LeanClient
from actors.bus.port import Headers, Stored
from observability.logger import get_logger
from protocol import streams, subjects
from protocol.errors import BusError, ConflictError, DeniedError, FullError

RESEND_S = 4.0
"""How long an answer may take on a live connection before the message goes out again."""

ROOM_PAUSE_S = 1.0
"""How long to wait before a message is sent again to a stream that is full."""

PAUSE_S = 0.1
"""How long to wait after "no responders" or "not ready"."""


log = get_logger()


class Entry:
    """One message on its way."""

    __slots__ = ("answer", "data", "expect", "headers", "sends", "sent_at", "subject")

    def __init__(self, subject: str, data: bytes, headers: dict[str, str], expect: int | None) -> None:
        self.subject = subject
        self.data = data
        self.headers = headers
        self.expect = expect
        self.answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.sends = 0
        self.sent_at = 0.0


class Outbox:
    """Publishes in flight on one inbox, by a counter. `restore` makes missing streams again."""

    def __init__(
        self,
        client: LeanClient,
        last: Callable[[str], Awaitable[Stored | None]],
        restore: Callable[[], Awaitable[None]],
    ) -> None:
        self._client = client
        self._last = last
        self._restore = restore
        self._inbox = client.new_inbox() + "."
        self._counter = itertools.count(1)
        self._nonce = os.urandom(6).hex()
        self._entries: dict[str, Entry] = {}
        self._waits_for_room = False
        self._jobs = Jobs()
        self._loop = asyncio.get_running_loop()

    async def start(self) -> None:
        """Listen for answers, and look after what got none."""
        await self._client.listen(self._inbox + "*", self._answered)
        self._jobs.start(self._look_after())

    async def send(self, subject: str, data: bytes, expect: int | None, headers: Headers) -> "asyncio.Future[int]":
        """Take a message; it goes out now, or when the bus is back."""
        key = str(next(self._counter))
        own = dict(headers)
        if expect is None:
            own.setdefault(wire.MESSAGE_ID, f"{self._nonce}-{key}")
        else:
            own[wire.EXPECT] = str(expect)
            if expect:  # what is written once is told by its content, and saves a header on every task and result
                own[wire.NONCE] = f"{self._nonce}-{key}"
        entry = self._entries[key] = Entry(subject, data, own, expect)
        entry.answer.add_done_callback(lambda _: self._entries.pop(key, None))
        await self._try(key, entry)
        return entry.answer

    async def resend(self) -> None:
        """The connection is back: everything without an answer goes out again, in its old order."""
        for key, entry in list(self._entries.items()):
            await self._try(key, entry)

    def deny(self, subject: str, reason: str) -> None:
        """The server refused a subject for lack of rights; it tells so only to the connection."""
        for entry in list(self._entries.values()):
            if entry.subject == subject and not entry.answer.done():
                entry.answer.set_exception(DeniedError(reason))

    async def close(self) -> None:
        """Stop looking after what is left; whoever waits for an answer is told."""
        await self._jobs.end()
        for entry in list(self._entries.values()):
            entry.answer.cancel()

    async def _transmit(self, key: str, entry: Entry) -> None:
        if not self._client.is_connected or entry.answer.done():
            return
        entry.sends += 1
        entry.sent_at = self._loop.time()
        await self._client.publish(entry.subject, entry.data, reply=self._inbox + key, headers=entry.headers)

    async def _answered(self, msg: Msg) -> None:
        key = msg.subject[len(self._inbox) :]
        entry = self._entries.get(key)
        if entry is None or entry.answer.done():
            return
        ack = wire.pub_ack(msg)
        if ack.error is None:
            self._waits_for_room = False
            entry.answer.set_result(ack.seq)
        elif ack.error.err_code == wire.WRONG_LAST_SEQUENCE:
            if entry.sends > 1:
                self._jobs.start(self._recognise(entry))
            else:
                entry.answer.set_exception(ConflictError(entry.subject, entry.expect or 0))
        elif ack is wire.NO_STREAM:
            self._jobs.start(self._try_without_stream(key, entry))
        elif ack.error.err_code in wire.FULL:
            self._full(key, entry)
        elif ack.error.err_code in wire.TEMPORARY:
            self._loop.call_later(PAUSE_S, lambda: self._jobs.start(self._try(key, entry)))
        else:
            entry.answer.set_exception(BusError(f"{entry.subject}: {ack.error.description}"))

    def _full(self, key: str, entry: Entry) -> None:
        """There is no room: what belongs to a run under way waits for it, anything else is refused."""
        stream = streams.stream_of(entry.subject) or "the stream"
        if not subjects.waits_for_room(entry.subject):
            entry.answer.set_exception(FullError(entry.subject, stream))
            return
        if not self._waits_for_room:
            log.warning("bus.store_full", stream=stream, subject=entry.subject)
        self._waits_for_room = True
        self._loop.call_later(ROOM_PAUSE_S, lambda: self._jobs.start(self._try(key, entry)))

    async def _try_without_stream(self, key: str, entry: Entry) -> None:
        """No stream took the message: it was deleted, it is not ready yet, or no stream of ours stores this subject."""
        if streams.stream_of(entry.subject) is None:
            if not entry.answer.done():
                entry.answer.set_exception(BusError(f"no stream takes {entry.subject}"))
            return
        await self._restore()
        await asyncio.sleep(PAUSE_S)
        await self._try(key, entry)

    async def _recognise(self, entry: Entry) -> None:
        """A message sent more than once was refused; it may be itself what stands there."""
        found = await self._last(entry.subject)
        if entry.answer.done():
            return
        if found is not None and _is_same(entry, found):
            entry.answer.set_result(found.seq)
        else:
            entry.answer.set_exception(ConflictError(entry.subject, entry.expect or 0))

    async def _look_after(self) -> None:
        while True:
            await asyncio.sleep(RESEND_S / 4)
            late = self._loop.time() - RESEND_S
            for key, entry in list(self._entries.items()):
                if entry.sent_at < late:
                    await self._try(key, entry)

    async def _try(self, key: str, entry: Entry) -> None:
        """Send once more; what the library refuses is told to whoever waits, and harms nobody else."""
        try:
            await self._transmit(key, entry)
        except nats.errors.Error as error:
            if not entry.answer.done():
                entry.answer.set_exception(BusError(f"{entry.subject}: {error or type(error).__name__}"))


def _is_same(entry: Entry, found: Stored) -> bool:
    if entry.expect:
        return found.headers.get(wire.NONCE) == entry.headers[wire.NONCE]
    return found.data == entry.data
