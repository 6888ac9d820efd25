"""The report: what a worker says at the end, made of what its tools gave and nothing else."""

import re

from actors.model_server.offline.calculating import Calculation, derived, stated
from actors.model_server.offline.choosing import lacking, unanswered
from actors.model_server.offline.claims import verdicts
from actors.model_server.offline.figures import numbers, operation
from actors.model_server.offline.intent import CONCLUSION, main_intent, plain_intent
from actors.model_server.offline.job import Job, Use
from actors.model_server.offline.listing import is_empty, rows
from actors.model_server.offline.querying import answers, best_table
from actors.model_server.offline.quoting import missing, not_mentioned, nothing_found, shown
from actors.model_server.offline.statement import COUNTED
from actors.model_server.offline.words import overlap, sentences, shortened, stems, subject_words, words
from actors.model_server.offline.writing import as_markdown, cited_lines

MOST_ROWS = 30
_CALCULATE = re.compile(r"^\W*(?:work out|calculate|compute)\b", re.IGNORECASE)
MOST_BEFORE = 4


def report(job: Job) -> str:
    """Everything that was found, with its sources, and what could not be done."""
    if document := [use.output for use in job.done("document")]:
        return "\n\n".join(document)
    found = _conclusion(job) + _others(job) + shown(job) + _table_lines(job) + _calculations(job) + verdicts(job)
    found = list(dict.fromkeys(found))
    found += [] if job.done("calculate") else [line for line in _known_before(job) if line not in found]
    problems = _failures(job) + _unused(job) + _gaps(job, found)
    if found or problems:
        return "\n".join([*found, *problems])
    if job.context:
        return as_markdown(job)
    given = "The tools gave nothing" if job.uses else "None of the tools suits this"
    reason = given if job.offers else "There are no tools to use and no earlier results"
    return f"{reason}, so this could not be done: {shortened(plain_intent(job), 300)}"


def _known_before(job: Job) -> list[str]:
    """What the results before this task already say on it, where the worker is not there to write or check."""
    if job.of_shape("document") or job.of_shape("claim") or not job.offers:
        return []
    wanted = stems(subject_words(plain_intent(job)))
    lines = [line for part in job.context for line in sentences(part.text)]
    return [f"- {line}" for line in lines if overlap(line, wanted) >= min(2, len(wanted))][:MOST_BEFORE]


def _table_lines(job: Job) -> list[str]:
    table = best_table(job)
    source = table.source if table else "table"
    counted = table.name.replace("_", " ") if table else "rows"
    lines: list[str] = []
    for use in answers(job):
        title, *body = rows(use.output)
        for row in body[:MOST_ROWS]:
            label, what, value = ", ".join(row[:-1]) or "All rows", title[-1].replace("_", " "), _grouped(row[-1])
            said = f"{value} {counted}" if title[-1] == COUNTED else f"{what} {value}"
            lines.append(f"- {label}: {said} [{source}]")
    return lines


def _grouped(value: str) -> str:
    """A large whole number as people read it, such as 2,200,000."""
    return f"{int(value):,}" if re.fullmatch(r"-?[1-9]\d{4,}", value) else value


def _known(job: Job) -> dict[str, Calculation]:
    return {one.expression: one for one in [*stated(job), *derived(job)]}


def _calculations(job: Job) -> list[str]:
    known = _known(job)
    lines: list[str] = []
    for use in job.done("calculate"):
        asked = str(next(iter(use.input.values()), ""))
        lines.append(_calculation(use, known.get(asked) or Calculation(label="", expression=asked)))
    return lines


def _conclusion(job: Job) -> list[str]:
    """Which of several came out on top, where that was the question."""
    known = _known(job)
    if not {"fastest", "highest", "most", "largest", "biggest", "best", "strongest"} & set(words(plain_intent(job))):
        return []
    results: list[tuple[float, str]] = []
    for use in job.done("calculate"):
        wanted = known.get(str(next(iter(use.input.values()), "")))
        if wanted and (value := numbers(use.output.rpartition("=")[2])):
            results.append(
                (value[0], f"{wanted.label.partition(' of ')[2] or wanted.label}, {value[0]:.2f} {wanted.unit}")
            )
    return [f"- {CONCLUSION}: {max(results)[1].strip()}"] if len(results) > 1 else []


def _calculation(use: Use, wanted: Calculation) -> str:
    value = use.output.rpartition("=")[2].strip()
    label = wanted.label or "Calculated"
    return f"- {label}: {_rounded(value)}{' ' + wanted.unit if wanted.unit else ''} ({wanted.expression} = {value})"


def _rounded(value: str) -> str:
    try:
        return f"{round(float(value), 2):g}" if abs(float(value)) < 1e6 else value
    except ValueError:
        return value


def _others(job: Job) -> list[str]:
    known = [use for use in job.done("other") if use.output.strip() and not is_empty(use.output)]
    known = [use for use in known if not unanswered(job, use)]
    lists = [use for use in job.done("list") if use.output.strip() and not job.of_shape("sql")]
    tables = [use.output for use in job.done("table") if not job.of_shape("document")]
    return [line for use in [*known, *lists] for line in cited_lines(use, main_intent(job))] + tables


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:].rstrip(" .?!")


def _failures(job: Job) -> list[str]:
    # One document of several that could not be read is no failure.
    read = {use.tool for use in job.done("read")}
    failed = [use for use in job.uses if use.failed and use.tool not in read]
    silent = [use for use in job.done("other") if unanswered(job, use) or is_empty(use.output)]
    if silent and not _others(job):
        return [f"Nothing was found by {use.tool}: {shortened(use.output, 300)}" for use in silent]
    return [f"{use.tool} could not be used: {shortened(use.output, 300)}" for use in failed]


def _unused(job: Job) -> list[str]:
    """The tools that were asked for and left alone, since a guess is not good enough."""
    return [
        f"{tool} was not used: it is not clear what to give for {' and '.join(of)}."
        for tool, of in lacking(job).items()
    ]


def _gaps(job: Job, found: list[str]) -> list[str]:
    if _CALCULATE.search(main_intent(job)) and operation(main_intent(job)) not in ("sum", "average"):
        tried = job.of_shape("calculate") and not job.uses_of("calculate") and not job.done("other")
        if tried:
            return [f"Not calculated: what is needed to {_lowered(main_intent(job))} was not found."]
    looked = bool(job.uses_of("search") or job.uses_of("read"))
    lost = missing(job)
    if looked and not found:
        return [nothing_found(job)]
    if job.uses_of("list") and job.of_shape("sql") and not answers(job) and not found:
        return [f"No table has anything on {', '.join(subject_words(plain_intent(job))[:8])}."]
    return [not_mentioned(lost)] if looked and lost else []
