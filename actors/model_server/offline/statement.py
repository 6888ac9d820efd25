"""SELECT: one statement for a question, from the columns of a table and the values that stand in them."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from actors.model_server.offline.figures import operation
from actors.model_server.offline.listing import Column, Table
from actors.model_server.offline.words import stem, stems, word_set, words

MOST_GROUPS = 24
COUNTED = "number"
"""What a column is called that counts rows."""


Values = Mapping[str, Sequence[str]]

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_HIGH = word_set("highest most largest biggest top best maximum max greatest strongest longest")
_LOW = word_set("lowest least smallest worst minimum min fewest weakest shortest")
_COUNT = re.compile(r"\bhow many\b|\bcount\b|\bnumber of\b", re.IGNORECASE)
_AVERAGE = word_set("average mean typical usual")
_NOT_ADDED = re.compile(r"hour|rate|percent|margin|age|score|price|time|duration|day|level", re.IGNORECASE)
_EACH = word_set("by per each every")
_WHICH = _EACH | {"which", "what"}


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """What rows are put together by: a column, or the year at the beginning of one."""

    sql: str
    title: str


def column_words(column: Column) -> list[str]:
    """The words in the name of a column."""
    return words(column.name.replace("_", " "))


def select(question: str, table: Table, values: Values) -> str:
    """The statement that answers the question as well as its words allow."""
    years = _years(question)
    groups = _groups(question, table, values, years)
    measure, title = _measure(question, table)
    fields = [*(f"{one.sql} AS {one.title}" if one.sql != one.title else one.sql for one in groups)]
    parts = ["SELECT", ", ".join([*fields, f"{measure} AS {title}"]), "FROM", table.name]
    if conditions := _conditions(question, table, values, years):
        parts.append("WHERE " + " AND ".join(conditions))
    if groups:
        parts.append("GROUP BY " + ", ".join(one.sql for one in groups))
        parts.append(f"ORDER BY {_order(question, groups, title)}")
    return " ".join(parts)


def _years(question: str) -> list[str]:
    """The years a question names; for growth in a single year also the one before."""
    found = sorted(set(_YEAR.findall(question)))
    before = [str(int(found[0]) - 1)] if len(found) == 1 and operation(question) == "growth" else []
    return before + found


def _measure(question: str, table: Table) -> tuple[str, str]:
    """What is counted, added up or averaged, and what to call it."""
    asked = stems(question)
    numeric = [column for column in table.columns if column.numeric]
    unsure = [column for column in table.columns if column.numeric is None and stems(column_words(column)) & asked]
    named = [column for column in numeric if stems(column_words(column)) & asked]
    if (not numeric and not unsure) or (_COUNT.search(question) and not named):
        return "COUNT(*)", COUNTED
    column = max([*numeric, *unsure], key=lambda one: len(stems(column_words(one)) & asked))
    found = set(words(question))
    if found & _AVERAGE or (_NOT_ADDED.search(column.name) and not found & {"total", "sum"}):
        return f"ROUND(AVG({column.name}), 2)", f"average_{column.name}"
    return f"SUM({column.name})", f"total_{column.name}"


def _groups(question: str, table: Table, values: Values, years: Sequence[str]) -> list[Group]:
    asked = set(words(question))
    yearly = len(years) > 1 or bool(asked & {"year", "annual"}) or operation(question) == "growth"
    groups: list[Group] = []
    for column in table.columns:
        known = values.get(column.name, ())
        named = bool(mentioned(question, known))
        # A column with a value of its own for nearly every row tells nothing apart.
        called = column.numeric is not True and len(known) <= MOST_GROUPS and _called(question, column)
        if called or named:
            groups.append(Group(sql=column.name, title=column.name))
        elif yearly and _dated(column, known):
            groups.append(Group(sql=_year_of(column), title="year"))
    if not groups and asked & _EACH:
        text = [column for column in table.columns if 1 < len(set(values.get(column.name, ()))) <= 12]
        groups = [
            Group(sql=column.name, title=column.name) for column in text if not _dated(column, values[column.name])
        ]
    return groups[:2]


def _called(question: str, column: Column) -> bool:
    """Whether the question names the column as what to tell apart: 'by region', 'which region', 'regions'."""
    found = words(question)
    own = {stem(word) for word in column_words(column)}
    for at, word in enumerate(found):
        near = set(found[max(0, at - 2) : at])
        if stem(word) in own and (near & _WHICH or word.endswith("s")):
            return True
    return False


def _conditions(question: str, table: Table, values: Values, years: Sequence[str]) -> list[str]:
    conditions: list[str] = []
    for column in table.columns:
        known = values.get(column.name, ())
        if found := mentioned(question, known):
            conditions.append(f"{column.name} IN ({', '.join(map(_quoted, found))})")
        elif years and _dated(column, known):
            conditions.append(f"{_year_of(column)} IN ({', '.join(map(_quoted, years))})")
        elif years and column.numeric and column.name.lower() == "year":
            conditions.append(f"{column.name} IN ({', '.join(years)})")
    return conditions


def mentioned(question: str, known: Sequence[str]) -> list[str]:
    """The values that the question names, whole, by their words."""
    text = f" {' '.join(words(question))} "
    return [value for value in known if words(value) and f" {' '.join(words(value))} " in text]


def _dated(column: Column, known: Sequence[str]) -> bool:
    """Whether the values begin with a year."""
    if column.name.lower() == "year":
        return True
    return bool(known) and all(_YEAR.match(value) for value in known)


def _year_of(column: Column) -> str:
    return column.name if column.name.lower() == "year" else f"substr({column.name}, 1, 4)"


def _order(question: str, groups: Sequence[Group], title: str) -> str:
    found = set(words(question))
    if found & _HIGH:
        return f"{title} DESC LIMIT 10"
    return f"{title} ASC LIMIT 10" if found & _LOW else ", ".join(one.sql for one in groups)


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
