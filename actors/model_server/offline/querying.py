"""Querying tables: list them, look at the values of their columns, then ask one question in SQL."""

from collections.abc import Sequence

import msgspec

from actors.model_server.offline.intent import plain_intent
from actors.model_server.offline.job import Job, Use
from actors.model_server.offline.listing import Table, is_empty, rows, tables
from actors.model_server.offline.shape import Offer
from actors.model_server.offline.statement import Values, column_words, mentioned, select
from actors.model_server.offline.turn import ToolCall
from actors.model_server.offline.words import overlap, stems, words

MOST_LOOKS = 8
MOST_VALUES = 100


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """A query for the values of one column."""

    table: Table
    column: str

    @property
    def statement(self) -> str:
        """The query itself."""
        return f"SELECT DISTINCT {self.column} FROM {self.table.name} ORDER BY {self.column} LIMIT {MOST_VALUES}"  # noqa: S608 - names that the tool itself listed


def list_calls(job: Job) -> list[ToolCall]:
    """Every tool without parameters, once, to see what there is."""
    used = {use.tool for use in job.uses}
    return [ToolCall(one.tool.name, {}) for one in job.of_shape("list") if one.tool.name not in used]


def query_calls(job: Job) -> list[ToolCall]:
    """The next queries: first for the values of columns, then for the answer; once more, plainly, if that failed."""
    offers = job.of_shape("sql")[:1]
    if not offers or not _tables(job):
        return []
    statements = _first(job) if not job.uses_of("sql") else _second(job)
    return [_call(offers[0], statement) for statement in statements]


def best_table(job: Job) -> Table | None:
    """The table that has most in common with the intent, by its names and its values; None if none has anything."""
    wanted = stems(plain_intent(job))
    scored: list[tuple[int, int, Table]] = []
    for at, table in enumerate(_tables(job)):
        values = _values(job, table)
        named = sum(len(mentioned(plain_intent(job), known)) for known in values.values())
        scored.append((overlap(" ".join(_words(table)), wanted) + named, -at, table))
    best = max(scored, key=lambda one: one[:2], default=None)
    return best[2] if best and best[0] else None


def answers(job: Job) -> list[Use]:
    """The queries that were answered with rows, without those that only looked at values."""
    return [use for use in _asked(job) if not use.failed and not is_empty(use.output) and len(rows(use.output)) > 1]


def _first(job: Job) -> list[str]:
    """The values of the best table, or of all where no name says which is the best."""
    table = best_table(job)
    looks = _looks([table] if table else _tables(job))
    if looks:
        return [look.statement for look in looks[:MOST_LOOKS]]
    return [select(plain_intent(job), table, {})] if table else []


def _second(job: Job) -> list[str]:
    table, asked = best_table(job), _asked(job)
    if table is None:
        return []
    if not asked:
        return [select(plain_intent(job), table, _values(job, table))]
    again = len(asked) == 1 and asked[0].failed
    return [f"SELECT * FROM {table.name} LIMIT 20"] if again else []  # noqa: S608 - a name that the tool itself listed


def _tables(job: Job) -> list[Table]:
    return [table for use in job.done("list") for table in tables(use.output)]


def _looks(known: Sequence[Table]) -> list[Look]:
    return [Look(table=one, column=column.name) for one in known for column in one.columns if not column.numeric]


def _asked(job: Job) -> list[Use]:
    looks = {look.statement for look in _looks(_tables(job))}
    return [use for use in job.uses_of("sql") if _statement(use) not in looks]


def _statement(use: Use) -> str:
    return str(next(iter(use.input.values()), ""))


def _call(one: Offer, statement: str) -> ToolCall:
    return ToolCall(one.tool.name, {one.parameter: statement})


def _values(job: Job, table: Table) -> Values:
    """The values of the columns of a table, as far as they were looked at."""
    said = {_statement(use): use.output for use in job.done("sql")}
    found: dict[str, list[str]] = {}
    for look in _looks([table]):
        lines = [line.strip().strip("|").strip() for line in said.get(look.statement, "").splitlines()]
        found[look.column] = [line for line in lines[1:] if line and not line.startswith("(")]
    return found


def _words(table: Table) -> list[str]:
    return [*words(table.name.replace("_", " ")), *(word for column in table.columns for word in column_words(column))]
