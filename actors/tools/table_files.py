"""The tables of a folder: from CSV, JSON and SQLite files alike."""

import csv
from collections.abc import Callable, Sequence

from actors.tools import csv_tables
from actors.tools.csv_tables import CSV
from actors.tools.folder import File
from actors.tools.json_tables import JSON, JSON_LINES, read_json, read_json_lines
from actors.tools.sqlite_tables import SQLITE, read_sqlite
from actors.tools.table import Table, plain_name, unique

TABLES = (*CSV, *JSON, *JSON_LINES, *SQLITE)


def read_each(files: Sequence[File], take: Callable[[Table], None]) -> tuple[str, ...]:
    """Read the files and give each table to `take`, one at a time; return why a file is not among them.

    A file that cannot be read costs the others nothing.
    """
    taken: list[str] = []
    problems: list[str] = []
    for file in files:
        try:
            found = _read(file)
        except (csv.Error, OSError, ValueError) as error:
            problems.append(f"{file.name} is not a table: {error}")
            continue
        for table in found:
            taken.append(unique(table.name, taken))
            take(table._replace(name=taken[-1]))
    return tuple(problems)


def _read(file: File) -> list[Table]:
    name, suffix = plain_name(file.name.rpartition(".")[0]), file.path.suffix.lower()
    if suffix in SQLITE:
        return read_sqlite(file.name, file.path)
    if suffix in JSON:
        return read_json(name, file.name, file.text())
    if suffix in JSON_LINES:
        return read_json_lines(name, file.name, file.text())
    return [csv_tables.read(name, file.name, file.text())]
