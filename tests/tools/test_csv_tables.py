import contextlib
import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.csv_tables import read
from actors.tools.database import Database
from actors.tools.folder import files
from actors.tools.table import Column


def kinds(text: str) -> list[str]:
    return [column.kind for column in read("t", "t.csv", text).columns]


def test_whole_numbers_decimals_and_text_are_told_apart() -> None:
    table = read("t", "t.csv", "name,pieces,price\nbolt,3,0.5\nnut,-4,2\n")
    assert table.columns == (Column("name", "TEXT"), Column("pieces", "INTEGER"), Column("price", "REAL"))
    assert table.rows == [("bolt", 3, 0.5), ("nut", -4, 2.0)]


@pytest.mark.parametrize("cell", ["007", "1,200", "1e999", "nan", "inf", "0x10", "1_000", "12%", "٣", "9" * 5000])
def test_what_only_looks_like_a_number_stays_text(cell: str) -> None:
    assert kinds(f'a;b\n"{cell}";x\n') == ["TEXT", "TEXT"]


def test_a_whole_number_beyond_64_bits_is_kept_as_a_decimal() -> None:
    assert kinds(f"a\n{2**63 - 1}\n") == ["INTEGER"]
    assert kinds(f"a\n{2**63}\n") == ["REAL"]


def test_an_empty_cell_is_none_and_does_not_change_the_kind() -> None:
    table = read("t", "t.csv", "a,b\n1,\n,\n2,\n,x\n")
    assert table.rows == [(1, None), (2, None), (None, "x")]
    assert kinds("a,b\n1,\n,x\n") == ["INTEGER", "TEXT"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_in_the_first_line(delimiter: str) -> None:
    assert read("t", "t.csv", f"a{delimiter}b\n1{delimiter}2\n").rows == [(1, 2)]


def test_odd_column_names_become_plain_and_distinct() -> None:
    table = read("t", "t.csv", 'Unit price (€),unit-price,,,UNIT_PRICE,"x""; drop"\n1,2,3,4,5,6\n')
    assert [column.name for column in table.columns] == [
        "Unit_price",
        "unit_price_2",
        "column",
        "column_2",
        "UNIT_PRICE_3",
        "x_drop",
    ]


def test_short_and_long_lines_are_fitted_to_the_header() -> None:
    assert read("t", "t.csv", "a,b\n1\n1,2,3\n").rows == [(1, None), (1, 2)]


def test_a_file_that_is_no_table_is_named_and_the_others_are_loaded(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("\n\n")
    (tmp_path / "wide.csv").write_text(",".join("x" * 201) + "\n")
    (tmp_path / "good.csv").write_text("a\n1\n")
    loaded = Database.of_files(files(tmp_path, (".csv",)))
    assert [table.name for table in loaded.tables] == ["good"]
    assert loaded.problems[0] == "empty.csv is not a table: it is empty"
    assert loaded.problems[1].startswith("wide.csv is not a table: it has 201 columns")


def test_tables_of_one_name_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("sales 2025.csv", "sales-2025.csv", "sub/sales.csv"):
        (tmp_path / name).write_text("a\n1\n")
    loaded = Database.of_files(files(tmp_path, (".csv",)))
    assert [table.name for table in loaded.tables] == ["sales_2025", "sales_2025_2", "sub_sales"]


@given(st.text(max_size=200))
def test_any_text_is_a_table_or_a_named_problem(text: str) -> None:
    with contextlib.suppress(ValueError, csv.Error):
        table = read("t", "t.csv", text)
        assert all(len(row) == len(table.columns) for row in table.rows)
