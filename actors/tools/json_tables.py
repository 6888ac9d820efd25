"""JSON files as tables.

A list of objects is a table. An object of such lists is one table for each. An object of objects is a table with
the names in the column `key`. Any other object is a table of one row. What is nested deeper is kept as JSON text,
for SQLite's json functions.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

from actors.tools.table import Table, Value, plain_name, table_of

JSON = (".json",)
JSON_LINES = (".jsonl", ".ndjson")

Object = Mapping[str, Any]


def read_json(name: str, source: str, text: str) -> list[Table]:
    """The tables in the text of a JSON file, or ValueError."""
    content = _decoded(text)
    if not isinstance(content, dict):
        return [_table(name, source, _rows(content))]
    parts = cast("Object", content)
    lists = {key: value for key, value in parts.items() if _is_list_of_objects(value)}
    if lists:
        return list(_several(name, source, parts, lists))
    if parts and all(isinstance(value, dict) for value in parts.values()):
        return [_table(name, source, [{"key": key, **value} for key, value in parts.items()])]
    return [_table(name, source, [parts])]


def read_json_lines(name: str, source: str, text: str) -> list[Table]:
    """The table in the text of a file with one JSON object a line, or ValueError."""
    return [_table(name, source, _rows([_decoded(line) for line in text.splitlines() if line.strip()]))]


def _decoded(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        raise ValueError(f"it is not JSON: {error}") from error


def _several(name: str, source: str, parts: Object, lists: Mapping[str, Any]) -> Iterator[Table]:
    rest = {key: value for key, value in parts.items() if key not in lists}
    if rest:
        yield _table(name, source, [rest])
    for key, rows in lists.items():
        yield _table(f"{name}_{plain_name(key)}" if rest or len(lists) > 1 else name, source, _rows(rows))


def _is_list_of_objects(value: object) -> bool:
    rows = cast("list[Any]", value) if isinstance(value, list) else []
    return bool(rows) and all(isinstance(row, dict) for row in rows)


def _rows(content: object) -> list[Object]:
    if not isinstance(content, list) or not content:
        raise ValueError("it holds no rows: a list of objects is needed")
    rows = cast("list[Any]", content)
    if all(isinstance(row, dict) for row in rows):
        return rows
    if any(isinstance(row, dict | list) for row in rows):
        raise ValueError("its rows are not all objects: a list of objects is needed")
    return [{"value": row} for row in rows]


def _table(name: str, source: str, rows: Sequence[Object]) -> Table:
    titles = list(dict.fromkeys(title for row in rows for title in row))
    if not titles:
        raise ValueError("its objects are empty")
    return table_of(name, source, titles, [[_value(row.get(title)) for title in titles] for row in rows])


def _value(value: object) -> Value:
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, str | int | float):
        return value
    return msgspec.json.encode(value).decode()
