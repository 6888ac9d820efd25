"""Evidence: what documents and tables say for or against a claim."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from actors.tools.database import Database, StoredTable
from actors.tools.passages import Passage, sentences
from actors.tools.statement import MONEY, MONTHS, PERCENT, Quantity, Statement, read
from actors.tools.table import Column, Value

ENOUGH = 0.6
"""The part of a claim's words that a sentence with figures must share to be about the same thing."""
ALMOST_ALL = 0.8
"""The same for a sentence whose words are all there is to compare."""
MOST_VALUES = 2_000
"""A column with more different values than this holds names or notes, not kinds."""

Stance = Literal["for", "against", "near"]

# "between 12 and 20" is one clause.
_CLAUSE = re.compile(r"[,;:]\s|\s(?:and|but|while)\s(?!\d)|(?<!\d)\s(?:and|but|while)\s")
_AVERAGE = frozenset({"averag", "mean", "typical", "median"})
_MONEY_COLUMNS = {"eur": 1.0, "usd": 1.0, "gbp": 1.0, "keur": 1e3, "kusd": 1e3, "meur": 1e6, "musd": 1e6}
_PERCENT_COLUMNS = ("pct", "percent", "percentage")


class Evidence(NamedTuple):
    """One source's word on a claim; `near` speaks of it without settling it. `weight` is how much of it, up to 1."""

    stance: Stance
    source: str
    text: str
    weight: float


def from_passage(claim: Statement, passage: Passage) -> Iterator[Evidence]:
    """What each sentence of a passage says on the claim, as far as it speaks of the same thing."""
    around = read(f"{passage.source.replace('-', ' ')}. {passage.heading}")
    known = around.marks | read(passage.text).marks
    for sentence in sentences(passage.text):
        said = read(sentence)
        shared = len(claim.stems & (said.stems | around.stems)) / max(1, len(claim.stems))
        if shared >= ENOUGH and claim.stems & said.stems and claim.marks <= known:
            yield Evidence(_stance(claim, said, sentence, shared), passage.source, sentence, shared)


def _stance(claim: Statement, said: Statement, sentence: str, shared: float) -> Stance:
    words_alone: Stance = "near" if shared < ALMOST_ALL else "for" if claim.negated == said.negated else "against"
    if not claim.quantities:
        return words_alone
    stances = {_figure_stance(claim, figure, sentence) for figure in claim.quantities}
    if "against" in stances:
        # Another time, another product, or a change instead of a level is no contradiction.
        same_subject = said.marks <= claim.marks and said.change == claim.change
        return "against" if same_subject else "near"
    if "near" in stances:
        return "near"
    return "for" if claim.negated == said.negated else words_alone


def _figure_stance(claim: Statement, figure: Quantity, sentence: str) -> Stance:
    clauses = [read(clause) for clause in _CLAUSE.split(sentence)]
    found = [(len(part.stems & claim.stems), other) for part in clauses for other in part.quantities]
    speaking = [(score, other) for score, other in found if figure.rivals(other) or figure.agrees(other)]
    closest = [other for score, other in speaking if score == max(score for score, _ in speaking)]
    if any(figure.agrees(other) for other in closest):
        return "for"
    return "against" if closest else "near"


def from_table(claim: Statement, database: Database, table: StoredTable) -> Evidence | None:
    """What the rows that the claim speaks of add up to, next to the claim's own figure."""
    days = any(mark.startswith("day") for mark in claim.marks)
    if not claim.quantities or claim.change or days:
        return None
    conditions, left = _conditions(claim, database, table)
    where = [str(condition) for condition in conditions]
    if left or _shared(claim, table, where) < ENOUGH:
        return None
    rows, measured = _measured(claim, database, table, conditions)
    if measured is None or not rows:
        return None
    what, actual = measured
    rivals = [figure for figure in claim.quantities if figure.rivals(actual)]
    agrees = any(figure.agrees(actual) for figure in claim.quantities)
    if not rivals and not agrees:
        return None
    condition = f" where {', '.join(where)}" if where else ""
    many = f"{rows:,} row{'' if rows == 1 else 's'}"
    text = f"{what}{condition} ({many}): {round(actual.value, 2):,.15g}"
    return Evidence("for" if agrees else "against", table.source, text, 1.0)


class _Condition(NamedTuple):
    """A column, and those of its values that the claim speaks of."""

    column: Column
    values: list[str]

    def __str__(self) -> str:
        first, last = self.values[0], self.values[-1]
        return f"{self.column.name} = {first if len(self.values) == 1 else f'{first} to {last}'}"


def _shared(claim: Statement, table: StoredTable, where: Sequence[str]) -> float:
    """The part of the claim's words that the table knows: the revenue of a customer is not that of the company."""
    known = read("; ".join([table.name, *(column.name for column in table.columns), *where])).stems
    return len(claim.stems & known) / max(1, len(claim.stems))


def _conditions(claim: Statement, database: Database, table: StoredTable) -> tuple[list[_Condition], frozenset[str]]:
    """The conditions for the rows that the claim speaks of, and the marks that no column knows."""
    conditions, left = list[_Condition](), claim.marks
    for column in table.columns:
        if column.kind != "TEXT":
            continue
        chosen, known = _chosen(claim, _distinct(database.cells(table, [column])))
        if chosen:
            conditions.append(_Condition(column, chosen))
            left = left - known
    return conditions, left


def _distinct(cells: Iterable[tuple[Value, ...]]) -> list[str]:
    """The different values of a column in the order of the rows; none if there are too many."""
    found: dict[str, None] = {}
    for (cell,) in cells:
        if cell is not None:
            found[str(cell)] = None
        if len(found) > MOST_VALUES:
            return []
    return list(found)


def _chosen(claim: Statement, cells: Sequence[str]) -> tuple[list[str], frozenset[str]]:
    values = {cell: read(cell) for cell in cells}
    times = {cell: _time(said) for cell, said in values.items()}
    if all(times.values()):
        wanted = _time_marks(claim.marks)
        return [cell for cell in values if wanted and wanted <= times[cell]], wanted
    chosen = [
        cell
        for cell, said in values.items()
        if (said.marks or said.stems) and said.marks <= claim.marks and (said.marks or said.stems <= claim.stems)
    ]
    return chosen, frozenset(mark for cell in chosen for mark in values[cell].marks)


def _time_marks(marks: frozenset[str]) -> frozenset[str]:
    return frozenset(mark for mark in marks if mark in MONTHS or mark.isdigit() or re.fullmatch(r"q[1-4]", mark))


def _time(said: Statement) -> frozenset[str]:
    """The times a cell lies in: its own, and the quarter of its month; empty if it is not a time."""
    marks = _time_marks(said.marks)
    if said.stems or not any(mark.isdigit() for mark in marks):
        return frozenset()
    return marks | {f"q{MONTHS.index(mark) // 3 + 1}" for mark in marks if mark in MONTHS}


def _measured(
    claim: Statement, database: Database, table: StoredTable, conditions: Sequence[_Condition]
) -> tuple[int, tuple[str, Quantity] | None]:
    """How many rows the conditions choose, and what the claim counts in them.

    That is the sum or mean of the column that the claim names, or the number of rows if it names the table.
    """
    named = [(len(read(column.name).stems & claim.stems), place) for place, column in enumerate(table.columns)]
    score, place = max(
        ((score, place) for score, place in named if table.columns[place].kind != "TEXT"), default=(0, 0)
    )
    column = table.columns[place] if score else None
    rows, numbers, total = _added(database, table, conditions, column)
    if column:
        mean = bool(claim.stems & _AVERAGE) or _unit(column)[0] == PERCENT
        how = "mean of " if mean else "sum of " if numbers > 1 else ""
        value = total / (max(1, numbers) if mean else 1)
        return rows, (f"{how}{column.name}", Quantity(value * _unit(column)[1], 0.0, _unit(column)[0]))
    if read(table.name).stems & claim.stems:
        units = [figure.unit for figure in claim.quantities if figure.unit not in (MONEY, PERCENT)]
        return rows, (f"rows of {table.name}", Quantity(float(rows), 0.0, units[0] if units else "row"))
    return rows, None


def _added(
    database: Database, table: StoredTable, conditions: Sequence[_Condition], column: Column | None
) -> tuple[int, int, float]:
    """The number of rows that meet the conditions, how many of them have a figure in the column, and its sum."""
    allowed = [frozenset(condition.values) for condition in conditions]
    wanted = [condition.column for condition in conditions] + ([column] if column else [])
    rows, numbers, total = 0, 0, 0.0
    for row in database.cells(table, wanted):
        if not all(cell in values for cell, values in zip(row, allowed, strict=False)):
            continue
        rows += 1
        if column and row[-1] is not None:
            numbers += 1
            total += float(row[-1] or 0)
    return rows, numbers, total


def _unit(column: Column) -> tuple[str, float]:
    parts = column.name.lower().split("_")
    for part in parts:
        if part in _MONEY_COLUMNS:
            return MONEY, _MONEY_COLUMNS[part]
        if part in _PERCENT_COLUMNS:
            return PERCENT, 1.0
    return min(read(parts[0]).stems, default=""), 1.0
