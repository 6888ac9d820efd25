"""The tables of a folder in an SQLite database in memory that can only be read."""

import itertools
import sqlite3
import time
import weakref
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from actors.tools.folder import File
from actors.tools.table import Column, Table, Value
from actors.tools.table_files import read_each
from protocol.errors import ToolError

MOST_ROWS = 100
MOST_CELL = 200
MOST_MEMORY = 256_000_000
"""Bytes that SQLite may hold in the whole process: the tables, and what a query sorts and groups on the way."""

_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)
# The one loads code, the other hands out an address in memory.
_FORBIDDEN_FUNCTIONS = ("load_extension", "fts3_tokenizer")
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 10_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}
_STEPS = 1_000


class StoredTable(NamedTuple):
    """A table in the database: everything but its rows, which SQLite alone holds."""

    name: str
    source: str
    columns: tuple[Column, ...]
    rows: int
    first: tuple[Value, ...]


class Database:
    """Tables in a database in memory. It cannot be written to once it is filled. Not for two threads at once."""

    def __init__(self) -> None:
        self.tables: list[StoredTable] = []
        self.problems: tuple[str, ...] = ()
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._connection.close)
        self._connection.execute("pragma temp_store = memory")
        self._connection.execute(f"pragma hard_heap_limit = {MOST_MEMORY}")

    @classmethod
    def of_files(cls, files: Sequence[File]) -> "Database":
        """The database of the tables in these files, read one after the other."""
        database = cls()
        database.problems = read_each(files, database.add)
        database.close_for_writing()
        return database

    def add(self, table: Table) -> None:
        """Store a table. Its Python rows are not kept: they take eight times the memory of SQLite's."""
        _fill(self._connection, table)
        first = table.rows[0] if table.rows else ()
        self.tables.append(StoredTable(table.name, table.source, table.columns, len(table.rows), first))

    def close_for_writing(self) -> None:
        """From here on only SELECT is allowed, within limits."""
        self._connection.execute("pragma query_only = on")
        for limit, value in _LIMITS.items():
            self._connection.setlimit(limit, value)
        self._connection.set_authorizer(_authorize)

    def listing(self) -> str:
        """One line for each table, and one for each file that is not a table."""
        lines = [_described(table) for table in self.tables] or ["There are no tables in the folder."]
        return "\n".join([*lines, *self.problems])

    def cells(self, table: StoredTable, columns: Sequence[Column]) -> Iterator[tuple[Value, ...]]:
        """These columns of each row of a table, in the order of the file."""
        names = ", ".join(f'"{column.name}"' for column in columns) or "1"
        return self._connection.execute(f'select {names} from "{table.name}" order by rowid')  # noqa: S608 - see _fill

    def query(self, sql: str, time_s: float) -> str:
        """The rows of one SELECT as a text table; ToolError says what SQLite did not like.

        SQLite checks the clock between its steps only, and one step may take many seconds. A caller that needs the
        limit to hold runs this in a process that can be killed.
        """
        until = time.monotonic() + time_s
        self._connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
        try:
            cursor = self._connection.execute(sql)
            # Each row is cut before the next one is read: a hundred of them may have gigabytes.
            rows = [list(map(_cell, row)) for row in itertools.islice(cursor, MOST_ROWS + 1)]
            titles = [str(column[0]) for column in cursor.description or ()]
            cursor.close()
        except MemoryError as error:
            raise ToolError(f"the query needs more than {MOST_MEMORY:,} bytes of memory: ask for less") from error
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            late = time.monotonic() > until
            raise ToolError(too_slow(time_s) if late else self._fault(str(error))) from error
        finally:
            self._connection.set_progress_handler(None, 0)
        if not titles:
            raise ToolError("this is not a query: write one SELECT")
        return _text(titles, rows)

    def _fault(self, text: str) -> str:
        if "not authorized" in text or "authorization denied" in text or "prohibited" in text:
            return f"only reading with SELECT is allowed, without PRAGMA, ATTACH or recursion ({text})"
        names = ", ".join(table.name for table in self.tables) or "none"
        return f"SQLite says: {text}. The tables are: {names}"


def too_slow(time_s: float) -> str:
    """The reason a model reads for a query that was stopped."""
    return f"the query took longer than {time_s:g} s and was stopped: ask for less"


def _authorize(action: int, _: str | None, name: str | None, _database: str | None, _by: str | None) -> int:
    if action not in _ALLOWED:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and name in _FORBIDDEN_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _fill(connection: sqlite3.Connection, table: Table) -> None:
    # Names hold letters, digits and underscores only, so quoting them is enough.
    columns = ", ".join(f'"{column.name}" {column.kind}' for column in table.columns)
    places = ", ".join("?" * len(table.columns))
    connection.execute(f'create table "{table.name}" ({columns})')
    connection.execute("begin")
    connection.executemany(f'insert into "{table.name}" values ({places})', table.rows)  # noqa: S608 - see above
    connection.execute("commit")


def _described(table: StoredTable) -> str:
    columns = ", ".join(f"{column.name} {column.kind}" for column in table.columns)
    first = f"; first row: {', '.join(map(_cell, table.first))}" if table.rows else ""
    return f"{table.name} ({table.source}), {table.rows:,} rows: {columns}{first}"


def _text(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    shown = rows[:MOST_ROWS]
    lines = [" | ".join(map(_cell, titles)), *(" | ".join(row) for row in shown)]
    if not shown:
        lines.append("(no rows)")
    if len(rows) > MOST_ROWS:
        lines.append(f"(cut after {MOST_ROWS} rows: aggregate, or use WHERE and LIMIT)")
    return "\n".join(lines)


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = f"{value:.15g}" if isinstance(value, float) else " ".join(str(value).split())
    return text if len(text) <= MOST_CELL else f"{text[:MOST_CELL]}…"
