"""SQLite files as tables: copied out with reading rights alone, so that nothing is ever attached or written."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from actors.tools.table import MOST_ROWS, Table, Value, plain_name, table_of

SQLITE = (".db", ".sqlite", ".sqlite3")
TIME_S = 5.0

_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)
_STEPS = 10_000


def read_sqlite(source: str, path: Path) -> list[Table]:
    """Every plain table of a SQLite file, or ValueError; views and virtual tables are left out."""
    wal = path.with_name(path.name + "-wal")
    if wal.exists() and wal.stat().st_size:
        raise ValueError("it has changes that are not in the file itself yet: close it or run PRAGMA wal_checkpoint")
    try:
        with closing(_opened(path)) as connection:
            return list(_tables(connection, source))
    except sqlite3.Error as error:
        raise ValueError(f"SQLite cannot read it: {error}") from error


def _opened(path: Path) -> sqlite3.Connection:
    # Immutable: no lock and no journal is ever made beside the file.
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    connection.execute("pragma trusted_schema = off")
    connection.text_factory = _text
    connection.set_authorizer(_authorize)
    until = time.monotonic() + TIME_S
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    return connection


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


def _authorize(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _tables(connection: sqlite3.Connection, source: str) -> Iterator[Table]:
    found: list[tuple[str, str | None]] = connection.execute(
        "select name, sql from sqlite_master where type = 'table' order by name"
    ).fetchall()
    for name, sql in found:
        if name.startswith("sqlite_") or (sql or "").lower().startswith("create virtual"):
            continue
        quoted = name.replace('"', '""')
        cursor = connection.execute(f'select * from "{quoted}"')  # noqa: S608 - quoted, and only reading is allowed
        rows: list[tuple[Any, ...]] = cursor.fetchmany(MOST_ROWS + 1)
        titles = [str(column[0]) for column in cursor.description]
        yield table_of(plain_name(name), source, titles, [[_value(cell) for cell in row] for row in rows])


def _value(cell: Value | bytes) -> Value:
    return f"({len(cell):,} bytes)" if isinstance(cell, bytes) else cell
