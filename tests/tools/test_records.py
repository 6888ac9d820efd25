from pathlib import Path

import pytest

from actors.tools.records import read_records
from protocol.errors import ToolError


def test_rows_of_csv_and_of_json_are_read_alike(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,sold\nlamp, 3\n\nchair,\n")
    (tmp_path / "a.json").write_text('[{"name": "lamp", "sold": 3, "colours": ["red", "blue"]}]')
    rows = read_records(tmp_path, "a.csv", ("name", "sold"))
    assert [row.fields for row in rows] == [{"name": "lamp", "sold": "3"}, {"name": "chair", "sold": ""}]
    (row,) = read_records(tmp_path, "a.json", ("name", "sold"))
    assert (row.number("sold"), row["colours"], row.source) == (3.0, "red; blue", "a.json")


def test_a_cell_that_is_no_number_is_named_with_its_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,sold\nlamp,3\nchair,many\n")
    with pytest.raises(ToolError, match=r"a\.csv, row 2: sold is 'many', which is not a number"):
        read_records(tmp_path, "a.csv", ("sold",))[1].number("sold")


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("b.csv", "x,y\n1,2\n", "there is no a.csv in the data folder: add it with the columns name, sold"),
        ("a.csv", "name\nlamp\n", "a.csv lacks sold; it needs the columns name, sold"),
        ("a.json", "[1, 2]", "a.json cannot be read: it is not a list of objects"),
        ("a.json", "{", "a.json cannot be read"),
        ("a.json", "[" * 100_000, "a.json cannot be read"),
    ],
)
def test_a_file_that_does_not_serve_is_told(tmp_path: Path, name: str, text: str, told: str) -> None:
    (tmp_path / name).write_text(text)
    wanted = "a.csv" if name.endswith(".csv") else name
    with pytest.raises(ToolError, match=told):
        read_records(tmp_path, wanted, ("name", "sold"))
