"""The tables of a folder: from CSV, JSON and SQLite files alike."""

import csv
from collections.abc import Sequence

from actors.tools import csv_tables
from actors.tools.csv_tables import CSV
from actors.tools.folder import File
from actors.tools.json_tables import JSON, JSON_LINES, read_json, read_json_lines
from actors.tools.sqlite_tables import SQLITE, read_sqlite
from actors.tools.table import Table, Tables, plain_name, unique

TABLES = (*CSV, *JSON, *JSON_LINES, *SQLITE)


def load(files: Sequence[File]) -> Tables:
    """Read the files; one that cannot be read is named as a problem and costs the others nothing."""
    tables: list[Table] = []
    problems: list[str] = []
    for file in files:
        try:
            found = _read(file)
        except (csv.Error, OSError, ValueError) as error:
            problems.append(f"{file.name} is not a table: {error}")
            continue
        for table in found:
            tables.append(table._replace(name=unique(table.name, [other.name for other in tables])))
    return Tables(tuple(tables), tuple(problems))


def _read(file: File) -> list[Table]:
    name, suffix = plain_name(file.name.rpartition(".")[0]), file.path.suffix.lower()
    if suffix in SQLITE:
        return read_sqlite(file.name, file.path)
    if suffix in JSON:
        return read_json(name, file.name, file.text())
    if suffix in JSON_LINES:
        return read_json_lines(name, file.name, file.text())
    return [csv_tables.read(name, file.name, file.text())]
