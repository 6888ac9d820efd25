"""Filling in a table from what TOML gave: each key by itself, so that every fault is told at once."""

import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

T = TypeVar("T", bound=msgspec.Struct)


class Faults:
    """What is wrong with one file. Each fault begins with the file and the place in it."""

    def __init__(self, file: Path) -> None:
        self._file = _as_seen_from_here(file)
        self.found: list[str] = []

    def add(self, where: str, text: str) -> None:
        """Take note of one fault; `where` is empty for the file as a whole."""
        self.found.append(f"{self._file}: {where}: {text}" if where else f"{self._file}: {text}")


def _as_seen_from_here(file: Path) -> str:
    try:
        return str(file.relative_to(Path.cwd()))
    except (OSError, ValueError):  # it lies elsewhere, or where we are is gone
        return str(file)


def filled(kind: type[T], values: object, where: str, faults: Faults, **instead: str) -> T | None:
    """The table with those of the values that fit, and every other told; None if a key is missing that it needs.

    `instead` stands in for keys that are missing, so that the rest can still be looked at.
    """
    table = table_of(values)
    if table is None:
        faults.add(where, f"must be a table (got {shown(values)})")
        return None
    known = {field.name: field for field in msgspec.structs.fields(kind)}
    given: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            faults.add(where, f"there is no key {key[:64]!r}{nearest(key, known)}")
            continue
        try:
            given[key] = msgspec.convert(value, known[key].type)
        except msgspec.ValidationError as error:
            faults.add(where, f"{key}: {_as_list(key, value, error) or _plain(error)} (got {shown(value)})")
    needed = [field.name for field in known.values() if field.required]
    for name in needed:
        if name not in table:
            faults.add(where, f"{name!r} is missing")
    given = instead | given
    return kind(**given) if all(name in given for name in needed) else None


def table_of(value: object) -> dict[str, Any] | None:
    """The value as a table, if it is one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def list_of(value: object) -> list[Any] | None:
    """The value as a list, if it is one."""
    return cast("list[Any]", value) if isinstance(value, list) else None


def nearest(word: str, known: Mapping[str, object] | list[str]) -> str:
    """A hint at what may have been meant, or at all there is."""
    near = difflib.get_close_matches(word, list(known), n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; there are: {', '.join(known)}" if known else ""


def shown(value: object) -> str:
    """A value as a person may see it, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _plain(error: msgspec.ValidationError) -> str:
    return str(error).replace("`", "").replace("Expected array", 'Expected a list such as ["..."]')


def _as_list(key: str, value: object, error: msgspec.ValidationError) -> str:
    """How a lone text is written where a list belongs."""
    if not isinstance(value, str) or "Expected `array`" not in str(error):
        return ""
    words = value.split() if key == "command" else [value]
    return f"must be a list: write {key} = [{', '.join(json.dumps(word, ensure_ascii=False) for word in words)}]"
