"""Direct reads: batches straight from the stream, with no consumer in between."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping

import msgspec
import nats.errors
from nats.aio.msg import Msg

from actors.bus.jetstream import wire
from actors.bus.jetstream.lean_client import LeanClient
from actors.bus.port import Stored
from actors.server_time import ServerTime
from protocol.errors import BusError

BATCH = 1000
"""Messages in one answer, and subjects in one question: the server refuses more than 1,024 subjects."""

SUBJECT_BYTES = 256
"""Room for one subject in a question, which must fit into a message."""

TIMEOUT_S = 2.0
INFO_S = 5.0
PAUSE_S = 0.1
GONE_S = 30.0
"""How long a connected server may say that a stream is not there, although it was asked to make it again."""

NO_DETAILS: Mapping[str, object] = {}

_encode = msgspec.json.Encoder().encode


class TooManyError(BusError):
    """The server does not answer so much at once."""


class Batch:
    """The answer to one read, as it comes in."""

    __slots__ = ("done", "found")

    def __init__(self) -> None:
        self.found: list[Stored] = []
        self.done: asyncio.Future[Msg] = asyncio.get_running_loop().create_future()


async def _ended(batch: Batch) -> Msg:
    """The end of a batch; TimeoutError once nothing more has come for a while, however long the whole takes."""
    while True:
        before = len(batch.found)
        done, _ = await asyncio.wait({batch.done}, timeout=TIMEOUT_S)
        if done:
            return batch.done.result()
        if len(batch.found) == before:
            raise TimeoutError


class Reader:
    """Reads in flight on one inbox, by a counter.

    A read that gets no answer is made again, for as long as the server is away. A stream that is missing is made again
    by `restore`; if that does not help within GONE_S, the read fails.
    """

    def __init__(self, client: LeanClient, time: ServerTime, restore: Callable[[], Awaitable[None]]) -> None:
        self._client = client
        self._time = time
        self._restore = restore
        self._inbox = client.new_inbox() + "."
        self._counter = itertools.count(1)
        self._batches: dict[str, Batch] = {}
        self._loop = asyncio.get_running_loop()

    async def start(self) -> None:
        """Listen for answers."""
        await self._client.listen(self._inbox + "*", self._heard)

    async def all(self, stream: str, subject: str, after: int, limit: int = 0) -> list[Stored]:
        """Every message under a subject above a sequence, in order; with a `limit`, only so many."""
        found: list[Stored] = []
        while True:
            size = min(BATCH, limit - len(found)) if limit else BATCH
            page, left = await self._ask(stream, {"next_by_subj": subject, "seq": after + 1, "batch": size})
            found += page
            if not page or not left or len(found) == limit:
                return found
            after = page[-1].seq

    async def last(self, stream: str, subjects: list[str]) -> list[Stored]:
        """The last message of each subject that matches, in order of sequence."""
        size = max(1, min(BATCH, self._client.max_payload // SUBJECT_BYTES))
        last: dict[str, Stored] = {}
        for at in range(0, len(subjects), size):
            part = subjects[at : at + size]
            try:
                found = await self._last_of(stream, part)
            except TooManyError:
                names = {name: None for subject in part for name in await self.counts(stream, subject)}
                found = await self.last(stream, list(names))
            last.update((stored.subject, stored) for stored in found)
        return sorted(last.values(), key=lambda stored: stored.seq)

    async def _last_of(self, stream: str, subjects: list[str]) -> list[Stored]:
        """The last messages, page after page: one answer of the server has at most so many bytes."""
        found: list[Stored] = []
        while True:
            after = found[-1].seq if found else 0
            page, left = await self._ask(stream, {"multi_last": subjects, "seq": after + 1, "batch": BATCH})
            found += page
            if not page or not left:
                return found

    async def newest(self, stream: str, subject: str, limit: int) -> list[Stored]:
        """The messages with the highest sequences under a subject.

        Deleted messages leave gaps, so the sequence to begin at is searched for: a question costs one message and tells
        how many follow. First the distance from the end grows until enough messages lie behind it, then it is halved.
        """
        end = (await self.info(stream)).state.last_seq
        enough, behind, distance = 1, end + 1, limit
        count = 0
        while behind > 1 and count < limit:
            enough = max(1, end + 1 - distance)
            count = await self._count(stream, subject, enough)
            if count < limit:
                behind, distance = enough, distance * 4
        while count > 2 * limit and behind - enough > 1:
            middle = (enough + behind) // 2
            there = await self._count(stream, subject, middle)
            if there < limit:
                behind = middle
            else:
                enough, count = middle, there
        return (await self.all(stream, subject, enough - 1))[-limit:] if end else []

    async def counts(self, stream: str, subject: str) -> dict[str, int]:
        """How many messages there are on each subject that matches."""
        found: dict[str, int] = {}
        while True:
            page = await self.info(stream, {"subjects_filter": subject, "offset": len(found)})
            found |= page.state.subjects or {}
            if not page.state.subjects or len(found) >= page.total:
                return found

    async def _count(self, stream: str, subject: str, seq: int) -> int:
        """How many messages there are under a subject from a sequence on."""
        found, left = await self._ask(stream, {"next_by_subj": subject, "seq": seq, "batch": 1})
        return len(found) + left

    async def at(self, stream: str, seq: int) -> Stored | None:
        """The message at one place."""
        found, _ = await self._ask(stream, {"seq": seq, "batch": 1})
        return found[0] if found and found[0].seq == seq else None

    async def info(self, stream: str, body: Mapping[str, object] = NO_DETAILS) -> wire.StreamInfo:
        """What the server says about a stream; waits while the bus is away. A missing stream is made again."""
        info = await self._ask_info(stream, body)
        if info.error and info.error.err_code == wire.STREAM_NOT_FOUND:
            await self._restore()
            info = await self._ask_info(stream, body)
        if info.error:
            raise BusError(f"{stream}: {info.error.description}")
        return info

    async def _ask_info(self, stream: str, body: Mapping[str, object]) -> wire.StreamInfo:
        while not self._client.is_connected:
            await asyncio.sleep(PAUSE_S)
        try:
            answer = await self._client.request(f"$JS.API.STREAM.INFO.{stream}", _encode(body), timeout=INFO_S)
        except nats.errors.Error as error:
            raise BusError(f"{stream}: no information ({error or type(error).__name__})") from error
        return wire.stream_info(answer)

    async def _ask(self, stream: str, body: dict[str, object]) -> tuple[list[Stored], int]:
        gone_since = 0.0
        while True:
            batch, end = await self._ask_once(stream, body)
            match wire.status(end) if end else None:
                case "204" if end:
                    return batch.found, int((end.headers or {}).get("Nats-Num-Pending", "0"))
                case "404":
                    return [], 0
                case "413":
                    raise TooManyError(f"{stream}: more than the server gives at once")
                case "503":
                    gone_since = gone_since or self._loop.time()
                    if self._loop.time() - gone_since > GONE_S:
                        raise BusError(f"{stream} is not on this bus and could not be made again: see `handoff doctor`")
                    await self._restore()
                case None:
                    gone_since = 0.0  # unknown: a read harms nothing, so it is simply made again
                case status:
                    reason = (end.headers or {}).get("Description", "") if end else ""
                    raise BusError(f"{stream}: reading {body} gave {status} {reason}")
            await asyncio.sleep(PAUSE_S)

    async def _ask_once(self, stream: str, body: dict[str, object]) -> tuple[Batch, Msg | None]:
        """Send a read; its end is None if there was no answer."""
        batch = Batch()
        if not self._client.is_connected:
            return batch, None
        key = str(next(self._counter))
        self._batches[key] = batch
        try:
            await self._client.publish(f"$JS.API.DIRECT.GET.{stream}", _encode(body), reply=self._inbox + key)
            return batch, await _ended(batch)
        except TimeoutError:
            return batch, None
        finally:
            del self._batches[key]

    async def _heard(self, msg: Msg) -> None:
        batch = self._batches.get(msg.subject[len(self._inbox) :])
        if batch is None or batch.done.done():
            return
        if wire.status(msg) is None:
            stored = wire.direct(msg)
            self._time.observe(stored.time_ns)
            batch.found.append(stored)
        else:
            batch.done.set_result(msg)
