"""Direct reads: batches straight from the stream, with no consumer in between."""

import asyncio
import itertools

import msgspec
from nats.aio.msg import Msg

from actors.bus.jetstream import wire
from actors.bus.jetstream.lean_client import LeanClient
from actors.bus.port import Stored
from actors.server_time import ServerTime
from protocol.errors import BusError

BATCH = 1000
TIMEOUT_S = 2.0
PAUSE_S = 0.1

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
    """Reads in flight on one inbox, by a counter. A read that gets no answer is made again, for ever."""

    def __init__(self, client: LeanClient, time: ServerTime) -> None:
        self._client = client
        self._time = time
        self._inbox = client.new_inbox() + "."
        self._counter = itertools.count(1)
        self._batches: dict[str, Batch] = {}

    async def start(self) -> None:
        """Listen for answers."""
        await self._client.listen(self._inbox + "*", self._heard)

    async def all(self, stream: str, subject: str, after: int) -> list[Stored]:
        """Every message under a subject above a sequence, in order."""
        found: list[Stored] = []
        while True:
            page, left = await self._ask(stream, {"next_by_subj": subject, "seq": after + 1, "batch": BATCH})
            found += page
            if not page or not left:
                return found
            after = page[-1].seq

    async def last(self, stream: str, subjects: list[str]) -> list[Stored]:
        """The last message of each subject that matches; many are found by reading everything."""
        try:
            found, left = await self._ask(stream, {"multi_last": subjects, "batch": BATCH})
        except TooManyError:
            left = 1
            found = []
        if not left:
            return found
        last: dict[str, Stored] = {}
        for subject in subjects:
            for stored in await self.all(stream, subject, 0):
                last[stored.subject] = stored
        return sorted(last.values(), key=lambda stored: stored.seq)

    async def at(self, stream: str, seq: int) -> Stored | None:
        """The message at one place."""
        found, _ = await self._ask(stream, {"seq": seq, "batch": 1})
        return found[0] if found and found[0].seq == seq else None

    async def _ask(self, stream: str, body: dict[str, object]) -> tuple[list[Stored], int]:
        while True:
            batch, end = Batch(), None
            key = str(next(self._counter))
            self._batches[key] = batch
            try:
                if self._client.is_connected:
                    await self._client.publish(f"$JS.API.DIRECT.GET.{stream}", _encode(body), reply=self._inbox + key)
                    end = await _ended(batch)
            except TimeoutError:
                pass  # unknown: a read harms nothing, so it is simply made again
            finally:
                del self._batches[key]
            answer = wire.status(end) if end else None
            if end and answer == "204":
                return batch.found, int((end.headers or {}).get("Nats-Num-Pending", "0"))
            if answer == "404":
                return [], 0
            if answer == "413":
                raise TooManyError(f"{stream}: more than the server gives at once")
            if end and answer not in ("503", None):
                raise BusError(f"{stream}: reading {body} gave {answer} {(end.headers or {}).get('Description', '')}")
            await asyncio.sleep(PAUSE_S)

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
