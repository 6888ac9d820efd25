import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools import table
from actors.tools.database import Database
from actors.tools.folder import files
from actors.tools.json_tables import read_json, read_json_lines
from actors.tools.sqlite_tables import read_sqlite
from actors.tools.table import Column, Table
from actors.tools.table_files import TABLES, read_each
from protocol.errors import ToolError


def from_json(content: object) -> list[Table]:
    return read_json("t", "t.json", json.dumps(content))


def shape(found: list[Table]) -> dict[str, list[str]]:
    return {one.name: [column.name for column in one.columns] for one in found}


def make_database(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def database(folder: Path) -> Database:
    return Database.of_files(files(folder, TABLES))


def query(folder: Path, sql: str) -> str:
    return database(folder).query(sql, 60.0)


def load(folder: Path) -> list[Table]:
    found: list[Table] = []
    read_each(files(folder, TABLES), found.append)
    return found


def test_a_list_of_objects_is_a_table_with_every_field_as_a_column() -> None:
    (found,) = from_json([{"a": 1, "b": "x"}, {"a": 2.5, "c d": True}, {"b": None}])
    assert found.columns == (Column("a", "REAL"), Column("b", "TEXT"), Column("c_d", "INTEGER"))
    assert found.rows == [(1.0, "x", None), (2.5, None, 1), (None, None, None)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([1, 2], {"t": ["value"]}),
        ({"a": 1, "b": [1, 2]}, {"t": ["a", "b"]}),
        ({"x": {"n": 1}, "y": {"n": 2}}, {"t": ["key", "n"]}),
        ({"rows": [{"n": 1}]}, {"t": ["n"]}),
        ({"as of": "May", "rows": [{"n": 1}]}, {"t": ["as_of"], "t_rows": ["n"]}),
        ({"a": [{"n": 1}], "b": [{"m": 1}]}, {"t_a": ["n"], "t_b": ["m"]}),
    ],
)
def test_every_shape_of_json_with_rows_in_it_becomes_tables(content: object, expected: dict[str, list[str]]) -> None:
    assert shape(from_json(content)) == expected


def test_what_is_nested_stays_json_that_sql_can_look_into(tmp_path: Path) -> None:
    (tmp_path / "o.json").write_text('[{"id": 1, "items": [{"sku": "A", "n": 2}]}]')
    assert query(tmp_path, "SELECT json_extract(items, '$[0].sku') AS sku FROM o") == "sku\nA"


def test_json_lines_are_a_table() -> None:
    (found,) = read_json_lines("log", "log.jsonl", '{"a": 1}\n\n{"a": 2}\n')
    assert found.rows == [(1,), (2,)]


def test_a_number_too_big_for_sql_is_kept_as_text() -> None:
    (found,) = from_json([{"n": 2**70}])
    assert found.columns[0].kind == "REAL"
    (found,) = from_json([{"n": 10**400}])
    assert found.rows == [(str(10**400),)]


@pytest.mark.parametrize("text", ["", "{", "[]", "[{}]", "3", '"x"', "[[1]]", '[{"a":1}, 2]', "[" * 100_000, "\ud800"])
def test_json_without_rows_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"it is not JSON|it holds no rows|its "):
        read_json("t", "t.json", text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
        max_leaves=12,
    )
)
def test_any_json_is_tables_that_fill_a_database_or_a_value_error(content: Any) -> None:
    try:
        found = from_json(content)
    except ValueError:
        return
    filled = Database()
    for one in named_apart(found):
        filled.add(one)


def named_apart(found: list[Table]) -> list[Table]:
    named: list[Table] = []
    for one in found:
        named.append(one._replace(name=table.unique(one.name, [other.name for other in named])))
    return named


def test_the_tables_of_a_sqlite_file_are_read_with_their_kinds(tmp_path: Path) -> None:
    make_database(
        tmp_path / "shop.db",
        "create table orders (id integer primary key, price real, note, picture blob)",
        "insert into orders values (1, 2.5, 'x', x'00ff'), (2, 3, 7, null)",
        "create view v as select * from orders",
        "create virtual table f using fts5(a)",
    )
    found = load(tmp_path)
    orders = next(one for one in found if one.name == "orders")
    assert orders.source == "shop.db"
    assert [column.kind for column in orders.columns] == ["INTEGER", "REAL", "TEXT", "TEXT"]
    assert orders.rows == [(1, 2.5, "x", "(2 bytes)"), (2, 3.0, "7", None)]
    assert not {"v", "f"} & {one.name for one in found}


def test_one_query_joins_csv_json_and_sqlite(tmp_path: Path) -> None:
    (tmp_path / "price.csv").write_text("sku,eur\nA,10\nB,20\n")
    (tmp_path / "stock.json").write_text('{"A": {"n": 3}, "B": {"n": 4}}')
    make_database(tmp_path / "names.sqlite", "create table names (sku, name)", "insert into names values ('B', 'Bolt')")
    sql = "SELECT name, eur * n AS worth FROM price JOIN stock ON key = sku JOIN names USING (sku)"
    assert query(tmp_path, sql) == "name | worth\nBolt | 80"
    listing = database(tmp_path).listing()
    assert "names (names.sqlite), 1 rows" in listing
    assert "stock (stock.json), 2 rows: key TEXT, n INTEGER" in listing


def test_tables_of_one_name_get_names_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n\n1\n")
    (tmp_path / "a.json").write_text('[{"n": 2}]')
    assert query(tmp_path, "SELECT a.n, a_2.n AS m FROM a, a_2") == "n | m\n1 | 2"


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO orders VALUES (2)",
        "DROP TABLE orders",
        "ATTACH '{path}' AS shop",
        "PRAGMA journal_mode = delete",
        "SELECT * FROM pragma_database_list",
        "SELECT readfile('{path}')",
        "SELECT writefile('{path}', 'x')",
        "VACUUM INTO '{path}.copy'",
    ],
)
def test_a_sqlite_file_is_never_written_or_attached(tmp_path: Path, sql: str) -> None:
    path = make_database(tmp_path / "shop.db", "create table orders (id)", "insert into orders values (1)")
    before = path.read_bytes()
    with pytest.raises(ToolError):
        query(tmp_path, sql.replace("{path}", str(path)))
    assert query(tmp_path, "SELECT * FROM orders") == "id\n1"
    assert (path.read_bytes(), names(tmp_path)) == (before, ["shop.db"])


def test_a_file_that_only_says_it_is_sqlite_is_a_problem_and_costs_the_others_nothing(tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_text("not a database, but long enough to be looked at as one " * 10)
    (tmp_path / "good.csv").write_text("n\n1\n")
    found = database(tmp_path)
    assert [one.name for one in found.tables] == ["good"]
    assert "bad.db is not a table: SQLite cannot read it" in found.problems[0]


def test_changes_beside_the_file_are_told_and_not_overlooked(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "live.db")) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("create table t (a)")
        connection.commit()
        with pytest.raises(ValueError, match="wal_checkpoint"):
            read_sqlite("live.db", tmp_path / "live.db")


def test_a_table_that_is_too_big_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_ROWS", 2)
    with pytest.raises(ValueError, match="more than 2 rows"):
        from_json([{"a": 1}] * 3)
    with pytest.raises(ValueError, match="columns"):
        from_json([{str(n): n for n in range(201)}])


def test_names_that_need_care_are_read(tmp_path: Path) -> None:
    make_database(tmp_path / "odd name?#.db", 'create table "a""b; drop" ("x y", "select")')
    (found,) = load(tmp_path)
    assert (found.name, [column.name for column in found.columns]) == ("a_b_drop", ["x_y", "select"])
