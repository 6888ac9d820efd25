"""CSV files as typed tables."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from actors.tools.folder import File

TABLES = (".csv", ".tsv")
MOST_COLUMNS = 200
MOST_INT = 2**63
MOST_DIGITS = 40

Kind = Literal["INTEGER", "REAL", "TEXT"]
Value = str | int | float | None

# A leading zero means a code, such as a postal code, not a number.
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,18})")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,2})?")
_NOT_NAME = re.compile(r"\W+")


class Column(NamedTuple):
    """A column and the kind of its values; an empty cell is None in any kind."""

    name: str
    kind: Kind


class Table(NamedTuple):
    """One CSV file. `source` is the name of the file, as an answer cites it."""

    name: str
    source: str
    columns: tuple[Column, ...]
    rows: list[tuple[Value, ...]]


class Tables(NamedTuple):
    """All tables of a folder, and why some file is not among them."""

    tables: tuple[Table, ...]
    problems: tuple[str, ...] = ()


def load(files: Sequence[File]) -> Tables:
    """Read the files; one that cannot be read is named as a problem and costs the others nothing."""
    tables: list[Table] = []
    problems: list[str] = []
    for file in files:
        name = unique(_NOT_NAME.sub("_", file.name.rpartition(".")[0]).strip("_"), [t.name for t in tables])
        try:
            tables.append(read(name, file.name, file.text()))
        except (csv.Error, OSError, ValueError) as error:
            problems.append(f"{file.name} is not a table: {error}")
    return Tables(tuple(tables), tuple(problems))


def read(name: str, source: str, text: str) -> Table:
    """The table in the text of a CSV file, or ValueError or csv.Error."""
    lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)))
    filled = [line for line in lines if any(cell.strip() for cell in line)]
    if not filled:
        raise ValueError("it is empty")
    if len(filled[0]) > MOST_COLUMNS:
        raise ValueError(f"it has {len(filled[0]):,} columns; the limit is {MOST_COLUMNS}")
    names = _column_names(filled[0])
    cells = [[cell.strip() for cell in (line + [""] * len(names))[: len(names)]] for line in filled[1:]]
    kinds: list[Kind] = [_kind(line[place] for line in cells) for place in range(len(names))]
    rows = [tuple(_value(cell, kind) for cell, kind in zip(line, kinds, strict=True)) for line in cells]
    return Table(name, source, tuple(map(Column, names, kinds)), rows)


def unique(name: str, taken: Iterable[str]) -> str:
    """The name, with a number behind it if it is taken already; SQL does not tell upper case from lower."""
    used = {other.casefold() for other in taken}
    wanted = name or "column"
    tries = (wanted if number == 1 else f"{wanted}_{number}" for number in range(1, len(used) + 2))
    return next(name for name in tries if name.casefold() not in used)


def _delimiter(text: str) -> str:
    first = text.lstrip().partition("\n")[0]
    return max(",;\t|", key=first.count)


def _column_names(header: Sequence[str]) -> list[str]:
    names: list[str] = []
    for title in header:
        names.append(unique(_NOT_NAME.sub("_", title.strip()).strip("_"), names))
    return names


def _kind(cells: Iterable[str]) -> Kind:
    filled = [cell for cell in cells if cell]
    if not filled:
        return "TEXT"
    if all(_WHOLE.fullmatch(cell) and abs(int(cell)) < MOST_INT for cell in filled):
        return "INTEGER"
    if all(_DECIMAL.fullmatch(cell) and len(cell) <= MOST_DIGITS for cell in filled):
        return "REAL"
    return "TEXT"


def _value(cell: str, kind: Kind) -> Value:
    if not cell:
        return None
    return int(cell) if kind == "INTEGER" else float(cell) if kind == "REAL" else cell
