"""Calculating: the expressions that a job needs worked out, from its own words or from figures that were found."""

import re

import msgspec

from actors.model_server.offline.figures import combined, expressions, figures, from_figures, numbers, operation
from actors.model_server.offline.intent import main_intent, plain_intent
from actors.model_server.offline.job import Job
from actors.model_server.offline.listing import rows
from actors.model_server.offline.querying import answers
from actors.model_server.offline.quoting import quotes
from actors.model_server.offline.turn import ToolCall

MOST = 6
_YEAR = re.compile(r"(?:19|20)\d\d")


class Calculation(msgspec.Struct, frozen=True, kw_only=True):
    """An expression, what it stands for, and the unit of its value."""

    label: str
    expression: str
    unit: str = ""


def stated_calls(job: Job) -> list[ToolCall]:
    """What the intent spells out itself."""
    return _calls(job, stated(job))


def derived_calls(job: Job) -> list[ToolCall]:
    """What can be made of the figures that were found."""
    return _calls(job, derived(job))


def stated(job: Job) -> list[Calculation]:
    """The calculations that the intent spells out."""
    return [Calculation(label="", expression=one) for one in expressions(plain_intent(job))[:MOST]]


def derived(job: Job) -> list[Calculation]:
    """The calculations that the question wants of figures in rows, in quotes or in the results before it."""
    how = operation(main_intent(job))
    if how is None or stated(job):
        return []
    if answers(job):
        return _from_rows(job, how)[:MOST]
    text = "\n".join([*(part.text for part in job.context), *(quote.text for quote in quotes(job))])
    made = from_figures(main_intent(job), figures(text))
    return [Calculation(label=how.capitalize(), expression=made, unit=_unit(how))] if made else []


def _calls(job: Job, wanted: list[Calculation]) -> list[ToolCall]:
    offers = job.of_shape("calculate")[:1]
    if job.uses_of("calculate"):
        return []
    return [
        ToolCall(one.tool.name, {one.parameter: calculation.expression}) for one in offers for calculation in wanted
    ]


def _from_rows(job: Job, how: str) -> list[Calculation]:
    """One calculation for each series of rows that have the same label but for the year; SQL has added up already."""
    if how in ("sum", "average"):
        return []
    series: dict[str, list[tuple[str, float]]] = {}
    for use in answers(job):
        for row in rows(use.output)[1:]:
            value = numbers(row[-1])
            years = [cell for cell in row[:-1] if _YEAR.fullmatch(cell[:4])]
            label = ", ".join(cell for cell in row[:-1] if cell not in years) if how == "growth" else ""
            if value:
                series.setdefault(label, []).append((years[0] if years else "", value[0]))
    if how in ("difference", "ratio") and any(year for pairs in series.values() for year, _ in pairs):
        return _within_years(job, how)
    found: list[Calculation] = []
    for label, pairs in series.items():
        values = [value for _, value in sorted(pairs, key=lambda pair: pair[0])]
        made = combined(how, [values[0], values[-1]]) if len(values) > 1 else None
        if made:
            name = f"{how.capitalize()} of {label}" if label else how.capitalize()
            found.append(Calculation(label=name, expression=made, unit=_unit(how)))
    return found


def _within_years(job: Job, how: str) -> list[Calculation]:
    """One calculation for each year: the first of its rows against the last."""
    years: dict[str, list[tuple[str, float]]] = {}
    for use in answers(job):
        for row in rows(use.output)[1:]:
            year = next((cell for cell in row[:-1] if _YEAR.fullmatch(cell[:4])), "")
            label = ", ".join(cell for cell in row[:-1] if cell != year)
            if value := numbers(row[-1]):
                years.setdefault(year, []).append((label, value[0]))
    found: list[Calculation] = []
    for year, pairs in years.items():
        (first, one), (last, other) = pairs[0], pairs[-1]
        made = combined(how, [one, other]) if len(pairs) > 1 else None
        if made:
            found.append(Calculation(label=f"{how.capitalize()} of {first} and {last}, {year}", expression=made))
    return found


def _unit(how: str) -> str:
    return "percent" if how == "growth" else ""
