"""The outbox: every publish stays in it until the server has answered, and goes out again until then."""

import asyncio
import itertools
from collections.abc import Callable

from actors.bus.memory.server import MemoryServer
from actors.bus.memory.stream import EXPECT, MESSAGE_ID, NONCE, Publication
from actors.bus.memory.virtual import call_later
from actors.bus.port import Headers
from protocol import subjects
from protocol.errors import BusError, ConflictError, FullError

RESEND_S = 1.0
"""How long an answer may take before the message goes out again."""

ROOM_PAUSE_S = 1.0
"""How long to wait before a message goes out again to a stream that is full."""


class Entry:
    """One message on its way."""

    __slots__ = ("answer", "publication")

    def __init__(self, publication: Publication) -> None:
        self.publication = publication
        self.answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()


class Outbox:
    """The publishes of one process that have no answer yet. `soon` brings an answer home, if the connection lasts."""

    def __init__(self, server: MemoryServer, name: str, soon: Callable[[Callable[[], None]], None]) -> None:
        self._server = server
        self._name = name
        self._soon = soon
        self._counter = itertools.count(1)
        self._entries: dict[int, Entry] = {}
        self._connected = server.is_up

    def send(self, subject: str, data: bytes, expect: int | None, headers: Headers) -> asyncio.Future[int]:
        """Take a message; it goes out now, or when the server is back."""
        key = next(self._counter)
        own = dict(headers)
        if expect is None:
            own.setdefault(MESSAGE_ID, f"{self._name}-{key}")
        else:
            own |= {EXPECT: str(expect), NONCE: f"{self._name}-{key}"}
        entry = Entry(Publication(subject=subject, data=data, expect=expect, headers=own))
        self._entries[key] = entry
        entry.answer.add_done_callback(lambda _: self._entries.pop(key, None))
        self._transmit(entry)
        return entry.answer

    def lost(self) -> None:
        """The server is away, or the process is dead: nothing goes out."""
        self._connected = False

    def back(self) -> None:
        """The server is back: everything without an answer goes out again, in its old order."""
        self._connected = True
        for entry in list(self._entries.values()):
            self._transmit(entry)

    def close(self) -> None:
        """Whoever still waits for an answer gets none."""
        self._connected = False
        for entry in list(self._entries.values()):
            entry.answer.cancel()

    def _transmit(self, entry: Entry) -> None:
        if not self._connected or entry.answer.done():
            return
        try:
            seq = self._server.publish(entry.publication)
        except ConflictError as error:
            seq = self._recognise(entry)
            tell = _refused(entry, error) if seq is None else _stored(entry, seq)
        except FullError as error:
            if subjects.waits_for_room(entry.publication.subject):
                call_later(self._server.clock, ROOM_PAUSE_S, lambda: self._transmit(entry))
                return
            tell = _refused(entry, error)
        except BusError as error:
            tell = _refused(entry, error)
        else:
            tell = _stored(entry, seq)
        if self._server.unknown_publishes(entry.publication.subject):
            call_later(self._server.clock, RESEND_S, lambda: self._transmit(entry))
        else:
            self._soon(tell)

    def _recognise(self, entry: Entry) -> int | None:
        """Where a refused message stands already, if it is itself what is in its way."""
        stream = self._server.stream_of(entry.publication.subject)
        return stream.own(entry.publication) if stream else None


def _stored(entry: Entry, seq: int) -> Callable[[], None]:
    return lambda: None if entry.answer.done() else entry.answer.set_result(seq)


def _refused(entry: Entry, error: BusError) -> Callable[[], None]:
    return lambda: None if entry.answer.done() else entry.answer.set_exception(error)
