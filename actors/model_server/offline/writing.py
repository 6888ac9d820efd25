"""Writing: a document made of the results of earlier tasks, and the tables that go into it."""

import re
from typing import Any, cast

import msgspec

from actors.model_server.offline.intent import plain_intent, whole_request
from actors.model_server.offline.job import Job, Use
from actors.model_server.offline.quoting import MISSING
from actors.model_server.offline.schema import Hints, Schema, filled, properties, required, resolved
from actors.model_server.offline.shape import Offer
from actors.model_server.offline.titles import heading, readable, title
from actors.model_server.offline.turn import ToolCall
from actors.model_server.offline.words import CITED, sentences, shortened, stems, words

MOST_ROWS = 20
MOST_LINES = 30
MOST_CHARACTERS = 2_000
_LABELLED = re.compile(r"^(.{2,80}?):\s+(.*\d.*?)\s*(?:\[([^\]]+)\])?\.?$")
_POINT = re.compile(r"^([a-z][a-z ]{1,20}): ")
_HEADING = re.compile(r"heading|title|name|header", re.IGNORECASE)
_BODY = re.compile(r"body|text|content|paragraphs?", re.IGNORECASE)


class Chapter(msgspec.Struct, frozen=True, kw_only=True):
    """A heading and what stands under it."""

    heading: str
    body: str


def table_calls(job: Job) -> list[ToolCall]:
    """A table of the figures, where one is asked for and there are any."""
    if job.uses_of("table") or not {"table", "compare", "comparison", "figures"} & set(words(plain_intent(job))):
        return []
    found = table_rows(job)
    return [_table_call(one, found) for one in job.of_shape("table")[:1] if found]


def document_calls(job: Job) -> list[ToolCall]:
    """The document, laid out by the tool for it."""
    if job.uses_of("document"):
        return []
    return [_document_call(one, job) for one in job.of_shape("document")[:1] if job.context or job.uses]


def chapters(job: Job) -> list[Chapter]:
    """One chapter for each earlier result, then the tables, then what is missing."""
    found: list[Chapter] = []
    gaps: list[str] = []
    for part in job.context:
        lines = [line for line in part.text.splitlines() if not line.startswith("#")]
        gaps += [line for line in lines if MISSING.match(line)]
        body = "\n".join(line for line in lines if not MISSING.match(line)).strip()
        if body:
            found.append(Chapter(heading=heading(part.task, whole_request(job)), body=body))
    found += [Chapter(heading="Figures", body=use.output.strip()) for use in job.done("table")]
    for tool in dict.fromkeys(use.tool for use in job.done("other")):
        lines = [line for use in job.done("other") if use.tool == tool for line in cited_lines(use)]
        found.append(Chapter(heading=readable(tool), body="\n".join(dict.fromkeys(lines))))
    if gaps:
        found.append(Chapter(heading="Open points", body="\n".join(f"- {line.lstrip('- ')}" for line in gaps)))
    return found or [Chapter(heading="Nothing to report", body="The tasks before this one gave no results.")]


def cited_lines(use: Use, asked: str = "") -> list[str]:
    """What a tool gave: line by line where its lines name their sources, else one line with the tool as its source."""
    lines = _asked_for([line.rstrip() for line in use.output.splitlines() if line.strip()], asked)
    if not any(CITED.search(line) for line in lines):
        return [f"- {shortened(use.output, MOST_CHARACTERS)} [{use.tool}]"] if lines else []
    return [f"- {line}" if CITED.search(line) else f"  {line}" for line in lines[:MOST_LINES]]


def _asked_for(lines: list[str], asked: str) -> list[str]:
    """Of lines that each tell one point, as in `range km: 80`, those on the points that were asked for, if any was."""
    points = [match.group(1) if (match := _POINT.match(line)) else "" for line in lines]
    wanted = stems(asked)
    named = [line for line, point in zip(lines, points, strict=True) if stems(point) & wanted]
    return named if named and all(points) else lines


def table_rows(job: Job) -> list[list[str]]:
    """The figures of earlier results: what, how much, and where it stands."""
    lines = [(part.worker, sentence) for part in job.context for sentence in sentences(part.text)]
    matches = [(worker, match) for worker, line in lines if (match := _LABELLED.match(line))]
    found = [[match.group(1), match.group(2), match.group(3) or worker] for worker, match in matches]
    return found[:MOST_ROWS]


def as_markdown(job: Job) -> str:
    """The document without the help of a tool."""
    parts = [f"## {one.heading}\n\n{one.body}" for one in chapters(job)]
    return "\n\n".join([f"# {title(plain_intent(job), whole_request(job))}", *parts])


def _document_call(one: Offer, job: Job) -> ToolCall:
    schema = one.tool.input_schema
    listed = resolved(properties(schema)[one.parameter], schema)
    item = resolved(cast("Schema", listed.get("items") or {}), schema)
    given: dict[str, Any] = {one.parameter: [_chapter(chapter, item, schema) for chapter in chapters(job)]}
    for name in properties(schema):
        if name != one.parameter and _HEADING.search(name):
            given[name] = title(plain_intent(job), whole_request(job))
    return ToolCall(one.tool.name, _completed(given, schema, schema, job.intent))


def _chapter(chapter: Chapter, item: Schema, root: Schema) -> Any:
    known = properties(item)
    if not known:
        return f"{chapter.heading}\n\n{chapter.body}"
    given = {name: chapter.heading for name in known if _HEADING.search(name)}
    given |= {name: chapter.body for name in known if _BODY.search(name) and name not in given}
    return _completed(given, item, root, chapter.body)


def _table_call(one: Offer, found: list[list[str]]) -> ToolCall:
    columns = next(name for name in properties(one.tool.input_schema) if name != one.parameter)
    given: dict[str, Any] = {columns: ["What", "Figure", "Source"], one.parameter: found}
    return ToolCall(one.tool.name, _completed(given, one.tool.input_schema, one.tool.input_schema, ""))


def _completed(given: dict[str, Any], schema: Schema, root: Schema, text: str) -> dict[str, Any]:
    missing = [name for name in required(schema) if name not in given]
    return given | {name: filled(properties(schema).get(name, {}), root, Hints(text, [])) for name in missing}
