"""Documents: tidy Markdown out of parts, so that every document of the team looks alike."""

import re
from collections.abc import Sequence

import msgspec

from actors.tools.tool import tool
from protocol.errors import ToolError

CONTENTS_FROM = 4
"""A document with fewer sections than this is seen at a glance and needs no table of contents."""

_FIGURE = re.compile(r"[-+−]?[$€£]?\d[\d,.]*\s?[%kKmM]?")  # noqa: RUF001 - the minus sign as people type it


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One section of a document."""

    heading: str
    body: str


@tool
def format_document(title: str, sections: list[Section]) -> str:
    """Lay out a document in tidy Markdown; with more than three sections it gets a table of contents.

    Args:
        title: the title, in one line
        sections: heading and body of each section in order; bodies are Markdown
    """
    if not _line(title):
        raise ToolError("the document needs a title")
    if not sections or not all(_line(section.heading) for section in sections):
        raise ToolError("the document needs at least one section, and each section a heading")
    blocks = [f"# {_line(title)}"]
    if len(sections) >= CONTENTS_FROM:
        blocks.append(_contents([_line(section.heading) for section in sections]))
    for section in sections:
        blocks += [f"## {_line(section.heading)}", _body(section)]
    return "\n\n".join(block for block in blocks if block) + "\n"


@tool
def make_table(columns: list[str], rows: list[list[str]]) -> str:
    """Lay out a Markdown table; columns of figures are set to the right.

    Args:
        columns: the titles of the columns
        rows: the rows, each with as many cells as there are columns
    """
    if not columns:
        raise ToolError("the table needs at least one column")
    for number, row in enumerate(rows, 1):
        if len(row) != len(columns):
            raise ToolError(f"row {number} has {len(row)} cells, but there are {len(columns)} columns")
    cells = [[_escaped(cell) for cell in row] for row in [columns, *rows]]
    widths = [max(3, *(len(row[place]) for row in cells)) for place in range(len(columns))]
    right = [_figures([row[place] for row in cells[1:]]) for place in range(len(columns))]
    rule = ["-" * (width - 1) + ":" if to_right else "-" * width for width, to_right in zip(widths, right, strict=True)]
    lines = [_aligned(row, widths, right) for row in cells]
    return "\n".join(f"| {' | '.join(row)} |" for row in [lines[0], rule, *lines[1:]]) + "\n"


def _line(text: str) -> str:
    return " ".join(text.split()).lstrip("# ")


def _body(section: Section) -> str:
    lines = [line.rstrip() for line in section.body.strip().splitlines()]
    # Writers like to repeat the heading at the top of the body.
    if lines and lines[0].startswith("#") and _line(lines[0]) == _line(section.heading):
        lines = lines[1:]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _contents(headings: Sequence[str]) -> str:
    seen: list[str] = []
    lines: list[str] = []
    for heading in headings:
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        again = seen.count(anchor)
        seen.append(anchor)
        lines.append(f"- [{heading}](#{anchor}{f'-{again}' if again else ''})")
    return "\n".join(lines)


def _escaped(cell: str) -> str:
    return " ".join(cell.split()).replace("\\", "\\\\").replace("|", "\\|")


def _figures(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(_FIGURE.fullmatch(cell) for cell in filled)


def _aligned(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    return [
        cell.rjust(width) if to_right else cell.ljust(width)
        for cell, width, to_right in zip(row, widths, right, strict=True)
    ]
