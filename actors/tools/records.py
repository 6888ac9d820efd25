"""Records: the rows of one CSV or JSON file of a data folder, for tools that know what they look for."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from actors.tools.folder import files
from protocol.errors import ToolError

SUFFIXES = (".csv", ".json")


@dataclass(frozen=True)
class Record:
    """One row as text by column. `source` is the name of its file, as an answer cites it."""

    source: str
    place: int
    fields: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.fields[column]

    def number(self, column: str) -> float:
        """The figure in a column; ToolError names the row where there is none."""
        try:
            return float(self.fields[column])
        except ValueError as error:
            said = f"{column} is {self.fields[column]!r}, which is not a number"
            raise ToolError(f"{self.source}, row {self.place}: {said}") from error


def read_records(folder: Path, name: str, columns: Sequence[str]) -> list[Record]:
    """All rows of the file, each with at least these columns; ToolError says what the folder or the file lacks."""
    found = next((file for file in files(folder, SUFFIXES) if file.name == name), None)
    wanted = ", ".join(columns)
    if found is None:
        raise ToolError(f"there is no {name} in the data folder: add it with the columns {wanted}")
    try:
        rows = _json_rows(found.text()) if name.endswith(".json") else _csv_rows(found.text())
    except (OSError, ValueError, RecursionError, csv.Error) as error:
        raise ToolError(f"{name} cannot be read: {error}") from error
    missing = sorted({column for row in rows for column in columns if column not in row})
    if missing:
        raise ToolError(f"{name} lacks {', '.join(missing)}; it needs the columns {wanted}")
    return [Record(name, place, row) for place, row in enumerate(rows, start=1)]


def _csv_rows(text: str) -> list[dict[str, str]]:
    lines = csv.DictReader(io.StringIO(text, newline=""), restkey="", restval="")
    return [{name: str(value).strip() for name, value in line.items() if name} for line in lines]


def _json_rows(text: str) -> list[dict[str, str]]:
    value: Any = json.loads(text)
    items = cast("list[Any]", value) if isinstance(value, list) else []
    rows = [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]
    if not rows or len(rows) != len(items):
        raise ValueError("it is not a list of objects")
    return [{name: _text(value) for name, value in row.items()} for row in rows]


def _text(value: object) -> str:
    return "; ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else str(value)
