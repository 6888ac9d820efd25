"""A table: named columns of one kind each, whatever file it was read from."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

MOST_COLUMNS = 200
MOST_ROWS = 200_000
MOST_INT = 2**63

Kind = Literal["INTEGER", "REAL", "TEXT"]
Value = str | int | float | None

_NOT_NAME = re.compile(r"\W+")


class Column(NamedTuple):
    """A column and the kind of its values; an empty cell is None in any kind."""

    name: str
    kind: Kind


class Table(NamedTuple):
    """One table. `source` is the name of the file, as an answer cites it."""

    name: str
    source: str
    columns: tuple[Column, ...]
    rows: list[tuple[Value, ...]]


def table_of(name: str, source: str, titles: Sequence[str], rows: Sequence[Sequence[Value]]) -> Table:
    """The table of these values, each column of the kind that fits all of its values; ValueError if it is too big."""
    check_size(len(titles), len(rows))
    columns = [[row[place] for row in rows] for place in range(len(titles))]
    kinds: list[Kind] = [_kind(column) for column in columns]
    typed = zip(*(map(_VALUES[kind], column) for kind, column in zip(kinds, columns, strict=True)), strict=True)
    return Table(name, source, tuple(map(Column, column_names(titles), kinds)), list(typed))


def check_size(columns: int, rows: int) -> None:
    """ValueError if a table of this size is too big to be held."""
    if columns > MOST_COLUMNS:
        raise ValueError(f"it has {columns:,} columns; the limit is {MOST_COLUMNS}")
    if rows > MOST_ROWS:
        raise ValueError(f"it has more than {MOST_ROWS:,} rows")


def unique(name: str, taken: Iterable[str]) -> str:
    """The name, with a number behind it if it is taken already; SQL does not tell upper case from lower."""
    used = {other.casefold() for other in taken}
    wanted = name or "column"
    tries = (wanted if number == 1 else f"{wanted}_{number}" for number in range(1, len(used) + 2))
    return next(name for name in tries if name.casefold() not in used)


def plain_name(title: str) -> str:
    """A title as a name that needs no quotes in SQL: letters, digits and underscores."""
    return _NOT_NAME.sub("_", title.strip()).strip("_")


def column_names(titles: Sequence[str]) -> list[str]:
    """A name of its own for each title."""
    names: list[str] = []
    for title in titles:
        names.append(unique(plain_name(title), names))
    return names


def _kind(values: Sequence[Value]) -> Kind:
    filled = [value for value in values if value is not None]
    if filled and all(isinstance(value, int) and abs(value) < MOST_INT for value in filled):
        return "INTEGER"
    if filled and all(isinstance(value, float) or (isinstance(value, int) and abs(value) < 1e300) for value in filled):
        return "REAL"
    return "TEXT"


def _whole(value: Value) -> Value:
    return None if value is None else int(value)


def _real(value: Value) -> Value:
    return None if value is None else float(value)


def _text(value: Value) -> Value:
    return None if value is None else str(value)


_VALUES = {"INTEGER": _whole, "REAL": _real, "TEXT": _text}
