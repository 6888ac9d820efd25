"""Files below one root: nothing outside can be reached, however a path is written and whatever is done meanwhile.

Every step of a path is opened relative to the folder before it and never through a link, so there is no moment
between a check and its use. Hidden names are out of reach, too.
"""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

from protocol.errors import ToolError

MOST_BYTES = 1_000_000
MOST_PARTS = 16
MOST_NAME = 200

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK opening a pipe would wait for somebody to write into it.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Rooted:
    """The files below one folder, by paths such as `notes/plan.md`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, path: str) -> str:
        """The text of a file; ToolError says why there is none."""
        *folders, name = parts_of(path)
        with _told(path), self._folder(folders) as folder:
            handle = os.open(name, _FILE, dir_fd=folder)
            try:
                data = _content(handle, path)
            finally:
                os.close(handle)
        if b"\0" in data:
            raise ToolError(f"{path!r} is not a text file")
        return data.decode("utf-8-sig", errors="replace")

    def write(self, path: str, text: str) -> bool:
        """Put the text under the path, whole or not at all; folders on the way are made. Whether it is new."""
        *folders, name = parts_of(path)
        data = text.encode(errors="replace")
        if len(data) > MOST_BYTES:
            raise ToolError(f"the text has {len(data):,} bytes; the limit is {MOST_BYTES:,}")
        with _told(path), self._folder(folders, make=True) as folder:
            new = not _is_there(name, folder)
            draft = f".draft-{secrets.token_hex(8)}"
            try:
                with os.fdopen(os.open(draft, _NEW, 0o644, dir_fd=folder), "wb") as stream:
                    stream.write(data)
                    stream.flush()
                    os.fsync(stream.fileno())
                # Over a link this replaces the link, not what it leads to.
                os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(draft, dir_fd=folder)
                raise
        return new

    def names(self, most: int) -> list[tuple[str, int]]:
        """Path and size of the files, in order, at most so many."""
        found: list[tuple[str, int]] = []
        with _told("the folder"), self._folder([]) as root:
            for entry in _walk(root, ""):
                found.append(entry)
                if len(found) >= most:
                    break
        return found

    @contextlib.contextmanager
    def _folder(self, folders: Sequence[str], *, make: bool = False) -> Generator[int]:
        # The root itself may be a link: whoever runs the worker chose it.
        handle = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in folders:
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, 0o755, dir_fd=handle)
                inner = os.open(name, _FOLDER, dir_fd=handle)
                os.close(handle)
                handle = inner
            yield handle
        finally:
            os.close(handle)


def parts_of(path: str) -> list[str]:
    """The names that a path consists of; ToolError if it leads, or could lead, anywhere else."""
    parts = path.split("/")
    if path.startswith(("/", "~")) or "\\" in path or ":" in parts[0]:
        raise ToolError(f"{path[:MOST_NAME]!r} is not a path below the folder: write it such as notes/plan.md")
    if ".." in parts:
        raise ToolError(f"{path[:MOST_NAME]!r} leads out of the folder: paths with .. are refused")
    if not path.isprintable():
        raise ToolError(f"{path[:MOST_NAME]!r} has characters that have no place in a file name")
    if len(parts) > MOST_PARTS or any(len(part.encode(errors="replace")) > MOST_NAME for part in parts):
        raise ToolError(f"{path[:MOST_NAME]!r} is too long or too deep")
    if any(not part or part.startswith(".") for part in parts):
        raise ToolError(f"{path[:MOST_NAME]!r} is hidden or incomplete: name a plain file such as notes/plan.md")
    return parts


def _content(handle: int, path: str) -> bytes:
    state = os.fstat(handle)
    if not stat.S_ISREG(state.st_mode):
        raise ToolError(f"{path!r} is not a file")
    if state.st_size > MOST_BYTES:
        raise ToolError(f"{path!r} has {state.st_size:,} bytes; the limit is {MOST_BYTES:,}")
    with os.fdopen(handle, "rb", closefd=False) as stream:
        return stream.read(MOST_BYTES + 1)


def _is_there(name: str, folder: int) -> bool:
    try:
        state = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(state.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    return True


def _walk(folder: int, before: str) -> Iterator[tuple[str, int]]:
    for name in sorted(os.listdir(folder)):
        path = f"{before}{name}"
        if name.startswith(".") or not name.isprintable() or path.count("/") >= MOST_PARTS:
            continue
        try:
            state = os.stat(name, dir_fd=folder, follow_symlinks=False)
            inner = os.open(name, _FOLDER, dir_fd=folder) if stat.S_ISDIR(state.st_mode) else None
        except OSError:
            continue  # gone or changed since it was listed, or closed to us: the others are listed all the same
        if inner is not None:
            try:
                yield from _walk(inner, f"{path}/")
            finally:
                os.close(inner)
        elif stat.S_ISREG(state.st_mode):
            yield path, state.st_size


_REASONS = {
    errno.ENOENT: "there is no such file",
    errno.ELOOP: "it is a link, and links are not followed",
    errno.ENOTDIR: "a part of the path is not a folder, or is a link, and links are not followed",
    errno.EACCES: "it may not be opened",
}


@contextlib.contextmanager
def _told(path: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise ToolError(f"{path!r}: {_REASONS.get(error.errno or 0, error.strerror or str(error))}") from error
