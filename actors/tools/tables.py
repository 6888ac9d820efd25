"""Tables: read-only SQL over the CSV, JSON and SQLite files of a folder."""

import itertools
import sqlite3
import time
import weakref
from collections.abc import Sequence
from pathlib import Path

from actors.tools.folder import File, Kept
from actors.tools.table import Table, Tables
from actors.tools.table_files import TABLES, load
from actors.tools.tool import Tool, tool
from protocol.errors import ToolError

MOST_ROWS = 100
MOST_CELL = 200
MOST_MEMORY = 256_000_000
"""Bytes that SQLite may hold in the whole process: the tables, and what a query sorts and groups on the way."""
TIME_S = 5.0

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


def build(folder: Path) -> list[Tool]:
    """`list_tables` and `query_tables` for one folder."""
    kept = Kept(folder, TABLES, Database.of_files)

    @tool
    def list_tables() -> str:
        """List the tables there are: name, file to cite, number of rows, columns with their types, first row."""
        with kept.use() as database:
            return _listing(database.content)

    @tool
    def query_tables(sql: str) -> str:
        """Query the tables with one SELECT in SQLite's SQL and get the rows as text.

        Args:
            sql: such as SELECT region, SUM(revenue_eur) FROM revenue_by_region GROUP BY region;
                call list_tables first for the names. Only reading is possible.
        """
        with kept.use() as database:
            return database.query(sql)

    return [list_tables, query_tables]


class Database:
    """Tables in a database in memory that cannot be written to any more. Not for two threads at once."""

    def __init__(self, content: Tables) -> None:
        self.content = content
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._connection.close)
        self._connection.execute("pragma temp_store = memory")
        self._connection.execute(f"pragma hard_heap_limit = {MOST_MEMORY}")
        for table in content.tables:
            _fill(self._connection, table)
        self._connection.execute("pragma query_only = on")
        for limit, value in _LIMITS.items():
            self._connection.setlimit(limit, value)
        self._connection.set_authorizer(_authorize)

    @classmethod
    def of_files(cls, files: Sequence[File]) -> "Database":
        """The database of the tables in these files."""
        return cls(load(files))

    def query(self, sql: str) -> str:
        """The rows of one SELECT as a text table; ToolError says what SQLite did not like."""
        until = time.monotonic() + TIME_S
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
            raise ToolError(self._fault(error, late=time.monotonic() > until)) from error
        if not titles:
            raise ToolError("this is not a query: write one SELECT")
        return _text(titles, rows)

    def _fault(self, error: Exception, *, late: bool) -> str:
        text = str(error)
        if late:
            return f"the query took longer than {TIME_S:g} s and was stopped: ask for less"
        if "not authorized" in text or "authorization denied" in text or "prohibited" in text:
            return f"only reading with SELECT is allowed, without PRAGMA, ATTACH or recursion ({text})"
        names = ", ".join(table.name for table in self.content.tables) or "none"
        return f"SQLite says: {text}. The tables are: {names}"


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


def _listing(content: Tables) -> str:
    lines = [_described(table) for table in content.tables] or ["There are no tables in the folder."]
    return "\n".join([*lines, *content.problems])


def _described(table: Table) -> str:
    columns = ", ".join(f"{column.name} {column.kind}" for column in table.columns)
    first = f"; first row: {', '.join(map(_cell, table.rows[0]))}" if table.rows else ""
    return f"{table.name} ({table.source}), {len(table.rows):,} rows: {columns}{first}"


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
