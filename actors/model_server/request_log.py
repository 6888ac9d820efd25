"""The request log: one JSON line when a request comes in, before anything else happens, and one when it is over."""

import time
from pathlib import Path
from typing import Any, Literal, TextIO

import msgspec

from actors.model_server.offline.request import Asked

Ending = Literal["answered", "cut", "gone", "refused"]
"""How a request ended: answered in full, cut off on purpose, given up by the client, or not a valid request."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A request that is under way."""

    n: int
    role: str
    model: str
    key: str


class RequestLog:
    """Every request that was made, appended to a file and flushed line by line; without a file it only counts."""

    def __init__(self, path: Path | None = None) -> None:
        self._count = 0
        self._file: TextIO | None = None
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a", encoding="utf-8")

    def asked(self, asked: Asked, role: str) -> Entry:
        """Note that a request came in."""
        self._count += 1
        entry = Entry(n=self._count, role=role, model=asked.model, key=asked.key)
        self._write(entry, "asked", turns=len(asked.messages), stream=asked.stream, last=asked.user_texts[-1])
        return entry

    def refused(self, status: int, reason: str) -> Entry:
        """Note a request that could not be read."""
        self._count += 1
        entry = Entry(n=self._count, role="", model="", key="")
        self._write(entry, "refused", status=status, reason=reason)
        return entry

    def ended(self, entry: Entry, ending: Ending, status: int) -> None:
        """Note how a request ended."""
        self._write(entry, ending, status=status)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, entry: Entry, event: str, **facts: Any) -> None:
        if self._file is not None:
            line = {"time": time.time(), "event": event, **msgspec.to_builtins(entry), **facts}
            self._file.write(msgspec.json.encode(line).decode() + "\n")
            self._file.flush()
