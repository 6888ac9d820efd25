"""A workspace: listing, reading and writing text files below one folder."""

from pathlib import Path

from actors.tools.given import CallKey
from actors.tools.rooted import Rooted
from actors.tools.tool import Tool, tool
from protocol.errors import ToolError

MOST_FILES = 500
DONE = ".done"


def build(folder: Path) -> list[Tool]:
    """`list_files`, `read_file` and `write_file` below one folder."""
    return [*readers(folder), *writers(folder)]


def readers(folder: Path) -> list[Tool]:
    """`list_files` and `read_file`, for a worker that must not change anything."""
    files = Rooted(folder)

    @tool
    def list_files() -> str:
        """List the files there are, one a line: path and size in bytes."""
        found = files.names(MOST_FILES + 1)
        lines = [f"{path} ({size:,} bytes)" for path, size in found[:MOST_FILES]]
        if len(found) > MOST_FILES:
            lines.append(f"(and more: only the first {MOST_FILES} are listed)")
        return "\n".join(lines) or "There are no files yet."

    @tool
    def read_file(path: str) -> str:
        """Read one text file; the first line of what comes back names its source.

        Args:
            path: as list_files gives it, such as notes/plan.md
        """
        return f"[{path}]\n{files.read(path)}"

    return [list_files, read_file]


def writers(folder: Path) -> list[Tool]:
    """`write_file`; a call that is made again after a crash does not write over what came after it."""
    files, done = Rooted(folder), Done(folder / DONE)

    @tool(effect=True)
    def write_file(path: str, text: str, key: CallKey) -> str:
        """Write a text file, new or in place of what was there.

        Args:
            path: where, such as notes/plan.md; folders are made as needed
            text: the whole content of the file
        """
        if told := done.what(key):
            return f"{told} (it had been written before, and was not written again)"
        new = files.write(path, text)
        told = f"{'wrote' if new else 'replaced'} {path}: {len(text.splitlines()):,} lines, {len(text):,} characters"
        done.note(key, told)
        return told

    return [write_file]


class Done:
    """Which calls have been made, kept in a hidden folder, one small file each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._notes = Rooted(folder)

    def what(self, key: CallKey) -> str | None:
        """What a call had to say when it was made; None if it was not."""
        try:
            return self._notes.read(key)
        except ToolError:
            return None

    def note(self, key: CallKey, told: str) -> None:
        """Remember that a call was made."""
        self._folder.mkdir(exist_ok=True)
        self._notes.write(key, told)
