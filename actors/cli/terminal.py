"""Words for a person and data for a program: what goes to which stream, and in which form.

What comes from a run may hold anything: control characters never reach a terminal.
"""

import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

import click
import msgspec

if TYPE_CHECKING:  # rich is loaded for a terminal alone
    from rich.console import Console

KEPT = "\n\t"
BAR = "│ "
"""What stands before each line of a text that is quoted."""

WIDEST = 22
"""How wide a column may be on a terminal, unless it is the last."""

LAST, GAP = 20, 2
"""How much room the last column needs, and how much is left between two."""


def tell(text: str) -> None:
    """Say something on standard error; on a terminal, lines are broken between words."""
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns
        text = wrapped(clean(text), width)
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def write(text: str) -> None:
    """Write a result on standard output."""
    sys.stdout.write(f"{clean(text) if sys.stdout.isatty() else text}\n")


def write_words(text: str) -> None:
    """Write words for a person on standard output; on a terminal, lines are broken between them."""
    write(wrapped(clean(text), shutil.get_terminal_size().columns) if sys.stdout.isatty() else text)


def write_json(value: object) -> None:
    """Write a result as JSON on standard output, and note that there is one."""
    if context := click.get_current_context(silent=True):
        context.find_root().ensure_object(dict)["wrote_json"] = True
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n")


def clean(text: str) -> str:
    """The text without characters that a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(char for char in text if char in KEPT or unicodedata.category(char)[0] != "C")


def wrapped(text: str, width: int) -> str:
    """The text with its long lines broken between words; what goes on is set in, or stands behind the same bar."""
    return "\n".join(_wrapped(line, width) for line in text.split("\n"))


def _wrapped(line: str, width: int) -> str:
    if len(line) < width:
        return line
    indent = BAR if line.startswith(BAR) else "  "
    return textwrap.fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def one_line(text: str, most: int = 0) -> str:
    """The text on one line, cut where it is longer than `most` characters."""
    line = " ".join(text.split())
    return line if not most or len(line) <= most else line[: most - 1].rstrip() + "…"


def console(stream: TextIO) -> "Console":
    """A console on a stream that takes every text as it is."""
    from rich.console import Console

    return Console(file=stream, markup=False, highlight=False, emoji=False, soft_wrap=not stream.isatty())


def is_screen(stream: TextIO) -> bool:
    """Whether the stream is a terminal on which lines can be drawn again."""
    return stream.isatty() and not console(stream).is_dumb_terminal


def table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], into: TextIO | None = None, *, whole: bool = False
) -> None:
    """Write a table: fitted to a terminal, the last column giving way; whole and aligned for a pipe.

    With `whole` nothing is cut on a terminal either: what does not fit goes on in the next line.
    """
    stream = sys.stdout if into is None else into
    lines = [[one_line(clean(cell)) for cell in row] for row in rows]
    if stream.isatty():
        _fitted(headers, lines, stream, whole=whole)
        return
    widths = [max(len(cell) for cell in column) for column in zip(headers, *lines, strict=True)]
    for line in [headers, *lines]:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        stream.write("  ".join(cells).rstrip() + "\n")


def listing(headers: Sequence[str], rows: Sequence[Sequence[str]], *, below: int) -> None:
    """A table in which nothing is cut: where the terminal is too narrow, the last `below` columns go under the row.

    What stands there is broken between words and set in. For a pipe it is a table like any other.
    """
    lines = [[one_line(clean(cell)) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(headers, *lines, strict=True)]
    screen = shutil.get_terminal_size().columns
    if not sys.stdout.isatty() or sum(widths) + GAP * (len(widths) - 1) <= screen:
        below = 0
    first = len(headers) - below
    for line in [headers, *lines]:
        cells = [cell.ljust(width) for cell, width in zip(line[:first], widths[:first], strict=True)]
        sys.stdout.write((" " * GAP).join(cells).rstrip() + "\n")
        for cell in line[first:] if line is not headers else ():
            if cell:
                sys.stdout.write(_set_in(cell, screen) + "\n")


def _set_in(text: str, width: int) -> str:
    lead = " " * 2 * GAP
    return textwrap.fill(
        text, width, initial_indent=lead, subsequent_indent=lead, break_long_words=False, break_on_hyphens=False
    )


def _fitted(headers: Sequence[str], rows: Sequence[Sequence[str]], stream: TextIO, *, whole: bool) -> None:
    from rich.cells import cell_len
    from rich.table import Table

    screen = console(stream)
    columns = list(zip(headers, *rows, strict=True))
    widths = [min(WIDEST, max(map(cell_len, column))) for column in columns[:-1]]
    while screen.width - sum(widths) - GAP * len(widths) < LAST and max(widths, default=0) > LAST // 2:
        widths[widths.index(max(widths))] -= 1
    drawn = Table(box=None, padding=(0, GAP, 0, 0), header_style="dim", pad_edge=False, expand=True)
    for header, width in zip(headers, [*widths, None], strict=True):
        ratio, overflow = 1 if width is None else None, "fold" if whole else "ellipsis"
        drawn.add_column(header, no_wrap=not whole, overflow=overflow, width=width, ratio=ratio)
    for row in rows:
        drawn.add_row(*row)
    screen.print(drawn)
