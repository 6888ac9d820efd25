"""A stream in memory: sequences, compare-and-set, message ids, reads."""

from collections.abc import Iterable, Sequence

import msgspec

from actors.bus.memory.matching import matcher
from actors.bus.port import NO_HEADERS, Headers, Stored
from actors.clock import Clock
from protocol.errors import ConflictError, FullError
from protocol.streams import Stream

MESSAGE_ID = "Nats-Msg-Id"
NONCE = "Handoff-Nonce"
EXPECT = "Nats-Expected-Last-Subject-Sequence"
DUPLICATE_WINDOW_S = 120.0
OVERHEAD_BYTES = 30
"""What a message needs beside its subject, headers and data."""


class Publication(msgspec.Struct, frozen=True, kw_only=True):
    """A message on its way into a stream."""

    subject: str
    data: bytes
    expect: int | None = None
    headers: Headers = NO_HEADERS


class MemoryStream:
    """Messages in the order in which they were stored. A sequence is never used twice."""

    def __init__(self, spec: Stream, clock: Clock, limit: int = 0) -> None:
        self.spec = spec
        self.limit = limit
        self.bytes = 0
        self._clock = clock
        self._takes = tuple(matcher(subject) for subject in spec.subjects)
        self._last_seq = 0
        self._messages: dict[int, Stored] = {}
        self._subjects: dict[str, dict[int, None]] = {}
        self._ids: dict[str, tuple[int, float]] = {}

    def takes(self, subject: str) -> bool:
        """Whether messages on a subject are stored here."""
        return any(takes(subject) for takes in self._takes)

    def check(self, publication: Publication) -> None:
        """Compare-and-set: ConflictError if the subject is not where the publication expects it."""
        self._expire()
        expect = publication.expect
        if expect is not None and self._last_of(publication.subject) != expect:
            raise ConflictError(publication.subject, expect)

    def duplicate(self, publication: Publication) -> int | None:
        """The sequence of a message with the same id, if one was stored within the window."""
        known = self._ids.get(publication.headers.get(MESSAGE_ID, ""))
        if known is None or known[1] + DUPLICATE_WINDOW_S <= self._clock.monotonic():
            return None
        return known[0]

    def append(self, publication: Publication) -> Stored:
        """Store a message; FullError if there is no room for it, unless the oldest may go instead."""
        self._make_room(publication)
        if self.spec.last_only:
            for seq in list(self._subjects.get(publication.subject, {})):
                self.delete(seq)
        self._last_seq += 1
        stored = Stored(
            subject=publication.subject,
            data=publication.data,
            seq=self._last_seq,
            time_ns=int(self._clock.now() * 1e9),
            headers=publication.headers,
        )
        self._messages[stored.seq] = stored
        self.bytes += _size(stored)
        self._subjects.setdefault(stored.subject, {})[stored.seq] = None
        if (message_id := stored.headers.get(MESSAGE_ID)) is not None:
            self._ids[message_id] = (stored.seq, self._clock.monotonic())
        return stored

    def own(self, publication: Publication) -> int | None:
        """The sequence of the very same publication, if it was stored before."""
        nonce = publication.headers.get(NONCE)
        for seq in self._subjects.get(publication.subject, {}):
            if nonce is not None and self._messages[seq].headers.get(NONCE) == nonce:
                return seq
        return None

    def read(self, pattern: str, after: int = 0) -> list[Stored]:
        """Every message under a subject above a sequence, in order."""
        self._expire()
        return self._at(seq for subject in self._under(pattern) for seq in self._subjects[subject] if seq > after)

    def last(self, patterns: Sequence[str]) -> list[Stored]:
        """The last message of each subject that matches any of these, in order."""
        self._expire()
        return self._at({self._last_of(subject) for pattern in patterns for subject in self._under(pattern)})

    def newest(self, pattern: str, limit: int) -> list[Stored]:
        """The messages with the highest sequences under a subject, in order."""
        return self.read(pattern)[-limit:]

    def counts(self, pattern: str) -> dict[str, int]:
        """How many messages there are on each subject that matches."""
        self._expire()
        return {subject: len(self._subjects[subject]) for subject in self._under(pattern)}

    def get(self, seq: int) -> Stored | None:
        """The message at one place."""
        self._expire()
        return self._messages.get(seq)

    def delete(self, seq: int) -> bool:
        """Take one message out; whether it was there."""
        stored = self._messages.pop(seq, None)
        if stored is None:
            return False
        self.bytes -= _size(stored)
        places = self._subjects[stored.subject]
        del places[seq]
        if not places:
            del self._subjects[stored.subject]
        return True

    def purge(self, pattern: str, keep: int = 0) -> int:
        """Delete all but the last `keep` messages under a subject; returns how many were deleted."""
        found = self.read(pattern)
        doomed = found[: max(0, len(found) - keep)]
        return sum(self.delete(stored.seq) for stored in doomed)

    def forget_ids(self) -> None:
        """A restart keeps only the ids of messages that are still there."""
        self._ids = {key: known for key, known in self._ids.items() if known[0] in self._messages}

    def _make_room(self, publication: Publication) -> None:
        size = _size(publication)
        while self.limit and self.bytes + size > self.limit:
            if self.spec.discard == "new" or not self._messages:
                raise FullError(publication.subject, self.spec.name)
            self.delete(next(iter(self._messages)))

    def _under(self, pattern: str) -> list[str]:
        if pattern in self._subjects:
            return [pattern]
        matches = matcher(pattern)
        return [subject for subject in self._subjects if matches(subject)]

    def _last_of(self, subject: str) -> int:
        return next(reversed(self._subjects.get(subject, {})), 0)

    def _at(self, seqs: Iterable[int]) -> list[Stored]:
        return [self._messages[seq] for seq in sorted(seqs)]

    def _expire(self) -> None:
        keep_ns = int(self.spec.max_age.total_seconds() * 1e9)
        if not keep_ns:
            return
        oldest_ns = int(self._clock.now() * 1e9) - keep_ns
        while self._messages and (first := next(iter(self._messages.values()))).time_ns < oldest_ns:
            self.delete(first.seq)


def _size(message: Stored | Publication) -> int:
    headers = sum(len(name) + len(value) + 4 for name, value in message.headers.items())
    return OVERHEAD_BYTES + len(message.subject) + len(message.data) + headers
