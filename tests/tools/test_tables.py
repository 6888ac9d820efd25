import contextlib
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.teams import SHIPPED
from actors.tools import tables
from actors.tools.database import Database
from actors.tools.folder import files
from actors.tools.table_files import TABLES
from protocol.errors import ToolError

REVENUE = (
    "quarter,region,revenue_eur,share\n2025-Q1,Europe,2480000,0.5\n2025-Q1,Asia,720000,\n2025-Q2,Europe,2590000,0.25\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "revenue.csv").write_text(REVENUE)
    return tmp_path


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def database(folder: Path) -> Database:
    return Database.of_files(files(folder, TABLES))


def query(folder: Path, sql: str) -> str:
    return database(folder).query(sql, 60.0)


async def test_the_tables_are_listed_with_columns_types_and_rows(folder: Path) -> None:
    listing, _ = tables.build(folder)
    assert await listing.call({}) == (
        "revenue (revenue.csv), 3 rows: quarter TEXT, region TEXT, revenue_eur INTEGER, share REAL;"
        " first row: 2025-Q1, Europe, 2480000, 0.5"
    )


async def test_a_folder_without_tables_says_so_and_a_bad_file_is_named(tmp_path: Path) -> None:
    listing, _ = tables.build(tmp_path)
    assert await listing.call({}) == "There are no tables in the folder."
    (tmp_path / "bad.csv").write_text("")
    assert "bad.csv is not a table: it is empty" in await listing.call({})


def test_a_query_returns_a_header_and_rows(folder: Path) -> None:
    sql = "SELECT region, SUM(revenue_eur) AS total, MAX(share) FROM revenue GROUP BY region ORDER BY 2 DESC;"
    assert query(folder, sql) == "region | total | MAX(share)\nEurope | 5070000 | 0.5\nAsia | 720000 | "


def test_common_table_expressions_and_windows_work(folder: Path) -> None:
    sql = "WITH r AS (SELECT * FROM revenue) SELECT SUM(revenue_eur) OVER (ORDER BY quarter, region) s FROM r LIMIT 1"
    assert query(folder, sql) == "s\n720000"


def test_no_rows_are_said_to_be_none(folder: Path) -> None:
    assert query(folder, "SELECT region FROM revenue WHERE 0") == "region\n(no rows)"


def test_many_rows_and_long_cells_are_cut_with_a_note(folder: Path) -> None:
    (folder / "many.csv").write_text("n\n" + "\n".join(map(str, range(101))))
    text = query(folder, "SELECT n FROM many")
    assert len(text.splitlines()) == 102
    assert text.endswith("(cut after 100 rows: aggregate, or use WHERE and LIMIT)")
    assert "cut" not in query(folder, "SELECT n FROM many LIMIT 100")
    assert query(folder, "SELECT hex(zeroblob(400)) AS z") == "z\n" + "0" * 200 + "…"


async def test_a_changed_file_is_seen_by_the_next_query(folder: Path) -> None:
    _, ask = tables.build(folder)
    assert await ask.call({"sql": "SELECT COUNT(*) c FROM revenue"}) == "c\n3"
    (folder / "revenue.csv").write_text(REVENUE + "2025-Q2,Asia,810000,\n")
    assert await ask.call({"sql": "SELECT COUNT(*) c FROM revenue"}) == "c\n4"


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO revenue VALUES ('a', 'b', 1, 1)",
        "UPDATE revenue SET share = 1 RETURNING share",
        "DELETE FROM revenue",
        "REPLACE INTO revenue VALUES ('a', 'b', 1, 1)",
        "DROP TABLE revenue",
        "CREATE TABLE other (a)",
        "CREATE TEMP TABLE other (a)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE VIRTUAL TABLE v USING fts5(a)",
        "ALTER TABLE revenue ADD COLUMN x",
        "ATTACH '{folder}/new.db' AS new",
        "DETACH main",
        "VACUUM INTO '{folder}/new.db'",
        "VACUUM",
        "PRAGMA query_only = off",
        "PRAGMA table_info(revenue)",
        "SELECT * FROM pragma_table_info('revenue')",
        "BEGIN",
        "SAVEPOINT s",
        "ANALYZE",
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('simple')",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n",
        "SELECT 1; DELETE FROM revenue",
    ],
)
def test_only_reading_is_possible(folder: Path, sql: str) -> None:
    ask = database(folder)
    with pytest.raises(ToolError):
        ask.query(sql.replace("{folder}", str(folder)), 60.0)
    assert ask.query("SELECT COUNT(*) c, SUM(share) s FROM revenue", 60.0) == "c | s\n3 | 0.75"
    assert names(folder) == ["revenue.csv"]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("DELETE FROM revenue", "only reading with SELECT is allowed"),
        ("SELECT profit FROM revenue", r"no such column: profit\. The tables are: revenue"),
        ("SELECT 1 FROM sales", "no such table: sales"),
        ("SELEC", "syntax error"),
        ("", "write one SELECT"),
        ("-- nothing", "write one SELECT"),
        ("SELECT ?", "SQLite says"),
        ("SELECT 1\x00", "SQLite says"),
        ("SELECT zeroblob(100000000)", "too big"),
        ("SELECT CAST(x'ff' AS TEXT)", "UTF-8"),
        ("SELECT " + "1," * 9000 + "1", "SQLite says"),
        ("SELECT \ud800", "SQLite says"),
    ],
)
def test_a_refusal_says_why(folder: Path, sql: str, reason: str) -> None:
    with pytest.raises(ToolError, match=reason):
        query(folder, sql)


def test_a_query_that_takes_too_long_is_stopped_and_the_next_one_works(folder: Path) -> None:
    (folder / "many.csv").write_text("n\n" + "\n".join(map(str, range(1000))))
    ask = database(folder)
    with pytest.raises(ToolError, match=r"took longer than 0\.05 s"):
        ask.query("SELECT SUM(a.n * b.n * c.n * d.n) FROM many a, many b, many c, many d", 0.05)
    assert ask.query("SELECT COUNT(*) c FROM many", 60.0) == "c\n1000"


def test_a_function_cannot_fill_the_memory(folder: Path) -> None:
    assert len(query(folder, "SELECT length(printf('%1000000000d', 1)) AS n")) < 20


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT hex(zeroblob(499000)) AS z FROM many a, many b ORDER BY random()",
        "SELECT COUNT(DISTINCT hex(zeroblob(400000)) || a.n || b.n) FROM many a, many b",
    ],
)
def test_what_a_query_sorts_or_groups_cannot_fill_the_memory(folder: Path, sql: str) -> None:
    (folder / "many.csv").write_text("n\n" + "\n".join(map(str, range(1000))))
    ask = database(folder)
    with pytest.raises(ToolError, match="of memory: ask for less"):
        ask.query(sql, 60.0)
    assert ask.query("SELECT COUNT(*) c FROM many", 60.0) == "c\n1000"


def test_rows_are_cut_one_by_one_so_that_wide_ones_are_never_held_together(folder: Path) -> None:
    (folder / "many.csv").write_text("n\n" + "\n".join(map(str, range(1000))))
    ask = database(folder)
    wide = ", ".join(["z"] * 20)
    tracemalloc.start()
    try:
        text = ask.query(f"WITH s AS (SELECT hex(zeroblob(100000)) z) SELECT {wide} FROM s, many", 60.0)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert text.count("…") == 20 * 100
    assert most < 40_000_000  # together they have 400 MB


SAMPLE = database(SHIPPED / "default" / "data")
WORDS = [
    "SELECT",
    "*",
    "FROM",
    "revenue_by_region",
    "WHERE",
    "region",
    "=",
    "'Europe'",
    "(",
    ")",
    ",",
    "1",
    ";",
    "ATTACH",
    "PRAGMA",
]


@given(st.text(max_size=60) | st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_no_query_raises_anything_but_a_tool_error(sql: str) -> None:
    with contextlib.suppress(ToolError):
        assert SAMPLE.query(sql, 60.0)
