"""CSV files as typed tables."""

import csv
import io
import re
from collections.abc import Iterable

from actors.tools.table import MOST_INT, Column, Kind, Table, Value, check_size, column_names

CSV = (".csv", ".tsv")
MOST_DIGITS = 40

# A leading zero means a code, such as a postal code, not a number.
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,18})")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,2})?")


def read(name: str, source: str, text: str) -> Table:
    """The table in the text of a CSV file, or ValueError or csv.Error."""
    lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)))
    filled = [line for line in lines if any(cell.strip() for cell in line)]
    if not filled:
        raise ValueError("it is empty")
    check_size(len(filled[0]), len(filled) - 1)
    names = column_names(filled[0])
    cells = [[cell.strip() for cell in (line + [""] * len(names))[: len(names)]] for line in filled[1:]]
    kinds: list[Kind] = [_kind(line[place] for line in cells) for place in range(len(names))]
    rows = [tuple(_value(cell, kind) for cell, kind in zip(line, kinds, strict=True)) for line in cells]
    return Table(name, source, tuple(map(Column, names, kinds)), rows)


def _delimiter(text: str) -> str:
    first = text.lstrip().partition("\n")[0]
    return max(",;\t|", key=first.count)


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
