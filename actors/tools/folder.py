"""The files of a data folder, and what is made of them and kept until they change."""

import itertools
import os
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from protocol.errors import ToolError

T = TypeVar("T")

MOST_FILES = 2_000
MOST_BYTES = 20_000_000


class File(NamedTuple):
    """One file. `name` is its path within the folder, with slashes; it is what an answer cites."""

    name: str
    path: Path
    mtime_ns: int
    size: int

    def text(self, limit: int | None = None) -> str:
        """Its text, or the first `limit` characters of it; what is not UTF-8 is replaced, not refused."""
        with self.path.open(encoding="utf-8-sig", errors="replace") as stream:
            return stream.read() if limit is None else stream.read(limit)


def files(folder: Path, suffixes: Sequence[str]) -> tuple[File, ...]:
    """The files with these suffixes in the folder and below, in order of name.

    Left out are hidden, unreadable and very big ones, those whose names cannot be printed, and links that lead
    out of the folder.
    """
    root = folder.resolve()
    found = (file for path in _walk(root) if path.suffix.lower() in suffixes for file in _file(root, path))
    return tuple(sorted(itertools.islice(found, MOST_FILES)))


def _walk(root: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(where, name) for name in sorted(names) if not name.startswith("."))


def _file(root: Path, path: Path) -> Iterator[File]:
    try:
        real = path.resolve(strict=True)
        state = real.stat()
    except (OSError, RuntimeError):
        return  # gone between listing and looking, or a link in a circle
    name = path.relative_to(root).as_posix()
    inside = real.is_relative_to(root) and real.is_file() and name.isprintable()
    if inside and state.st_size <= MOST_BYTES and os.access(real, os.R_OK):
        yield File(name, real, state.st_mtime_ns, state.st_size)


class Kept(Generic[T]):
    """Something made of a folder's files: made when first used, and anew when a name, time or size has changed.

    One user at a time, because tools run in threads.
    """

    def __init__(self, folder: Path, suffixes: Sequence[str], make: Callable[[Sequence[File]], T]) -> None:
        self._folder = folder
        self._suffixes = suffixes
        self._make = make
        self._lock = threading.Lock()
        self._seen: tuple[File, ...] | None = None
        self._made: T | None = None

    @contextmanager
    def use(self) -> Generator[T]:
        """What is made of the files as they are now, for one user; ToolError if there is no room for it."""
        with self._lock:
            seen = files(self._folder, self._suffixes)
            if self._made is None or seen != self._seen:
                self._made, self._seen = self._remade(seen), seen
            yield self._made

    def _remade(self, seen: Sequence[File]) -> T:
        try:
            return self._make(seen)
        except MemoryError as error:
            size = sum(file.size for file in seen)
            raise ToolError(
                f"the {len(seen):,} files of the folder, {size:,} bytes, are too much to be held in memory: "
                "keep fewer there"
            ) from error
