"""Listings: reading names, passages, tables and rows out of what a tool gave back, in whatever form it wrote them."""

import json
import re
from typing import Any, cast

import msgspec

from actors.model_server.offline.words import word_set

_ENUMERATION = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_NAMED = re.compile(r"^\[?(\w[\w./ -]{0,79}?)\]?(?:\s+[\u2014\u2013|]\s*|\s*:\s+|\s+-\s+)(\S.*)$")
_FILE = re.compile(r"\b[\w-]+(?:/[\w-]+)*\.[a-z]{2,5}\b")
_SPOKEN_TABLE = re.compile(
    r"^(?:table\s+)?[\"`']?([A-Za-z_]\w*)[\"`']?\s*(?:\([^)]*\))?[^:(]*:\s*([^;]+)", re.IGNORECASE
)
_CALLED_TABLE = re.compile(r"^(?:create table\s+)?[\"`']?([A-Za-z_]\w*)[\"`']?\s*\((.+)\)", re.IGNORECASE)
_COLUMN = re.compile(r"^[\"`']?([A-Za-z_]\w*)[\"`']?(?:\s+\(?([A-Za-z]+)\)?)?")
_NOTHING = re.compile(r"^\W*(?:no|nothing|none|0|not found|empty)\b|\bno (?:match|result|document|row)", re.IGNORECASE)
_EMPTY = re.compile(r"^\W*(?:nothing|none|not found|no (?:match|result|document|passage|row|hit)\w*)\b", re.IGNORECASE)
SHORT = 200
_NUMERIC = word_set("integer int real float double numeric decimal number bigint")


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of text and the name of what it stands in."""

    name: str
    text: str


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """A column of a table; `numeric` is None where the listing does not say."""

    name: str
    numeric: bool | None


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table and its columns; `source` is what to cite it as."""

    name: str
    source: str
    columns: tuple[Column, ...]


def is_empty(output: str) -> bool:
    """Whether a tool says that it found nothing."""
    text = output.strip()
    if not text or text in ("[]", "{}", "null") or _EMPTY.match(text):
        return True
    return len(text) < SHORT and _NOTHING.search(text) is not None


def passages(output: str) -> list[Passage]:
    """The named passages of a tool's output: lines of `name — text`, or a JSON list of objects."""
    objects = _json_passages(output)
    if objects is not None:
        return objects
    found: list[Passage] = []
    for raw in output.splitlines():
        line = _ENUMERATION.sub("", raw).strip()
        if match := _NAMED.match(line):
            found.append(Passage(name=match.group(1).strip(), text=match.group(2).strip()))
        elif line and found and raw.startswith((" ", "\t")):
            found[-1] = Passage(name=found[-1].name, text=f"{found[-1].text} {line}")
    return found


def names(output: str) -> list[str]:
    """The names in a tool's output that may be asked for: of passages, of files, or lines of a single word."""
    lines = [_ENUMERATION.sub("", line).strip() for line in output.splitlines()]
    single = [line for line in lines if line and " " not in line]
    return list(dict.fromkeys([*(one.name for one in passages(output)), *_FILE.findall(output), *single]))


def files(text: str) -> list[str]:
    """The names in a text that look like files."""
    return list(dict.fromkeys(_FILE.findall(text)))


def tables(output: str) -> list[Table]:
    """The tables of a listing: lines of `sales(region TEXT, sum REAL)` or `sales (sales.csv): region, sum`."""
    found: list[Table] = []
    for raw in output.splitlines():
        line = _ENUMERATION.sub("", raw).strip()
        match = _SPOKEN_TABLE.match(line) or _CALLED_TABLE.match(line)
        columns = [_column(part.strip()) for part in match.group(2).split(",")] if match else []
        known = tuple(column for column in columns if column)
        if match and known:
            source = next(iter(files(line)), match.group(1))
            found.append(Table(name=match.group(1), columns=known, source=source))
    return found


def rows(output: str) -> list[list[str]]:
    """The rows of a printed table, its heading first; empty if it is none."""
    lines = [line.strip().strip("|") for line in output.splitlines() if line.strip()]
    for separator in ("|", "\t", ","):
        cut = [[cell.strip() for cell in line.split(separator)] for line in lines]
        cut = [row for row in cut if not all(set(cell) <= set("-=:+ ") for cell in row)]
        same = [row for row in cut if len(row) == len(cut[0])] if cut else []
        if same and (len(same[0]) > 1 or separator == ",") and len(same) >= 2:
            return same
    return []


def _column(text: str) -> Column | None:
    match = _COLUMN.match(text)
    if match is None:
        return None
    kind = match.group(2)
    return Column(name=match.group(1), numeric=None if kind is None else kind.lower() in _NUMERIC)


def _json_passages(output: str) -> list[Passage] | None:
    if not output.lstrip().startswith(("[", "{")):
        return None
    try:
        value = json.loads(output)
    except ValueError:
        return None
    items = cast("list[Any]", value if isinstance(value, list) else [value])
    objects = [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]
    return [
        Passage(name=_first(one, "name title id path url"), text=_first(one, "text passage snippet content summary"))
        for one in objects
    ]


def _first(item: dict[str, Any], fields: str) -> str:
    return next((str(item[field]) for field in fields.split() if item.get(field)), "")
