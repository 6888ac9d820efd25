"""The worker: which tools to use next, and when there is nothing left to do, what to say."""

import re

from actors.model.offline.calculating import derived_calls, stated, stated_calls
from actors.model.offline.claims import claim_calls
from actors.model.offline.concepts import concepts, likeness
from actors.model.offline.figures import numbers
from actors.model.offline.job import Job, read_job
from actors.model.offline.lookup import plain_intent, read_calls, search_calls
from actors.model.offline.querying import list_calls, query_calls
from actors.model.offline.report import report
from actors.model.offline.request import Asked
from actors.model.offline.schema import Hints, filled
from actors.model.offline.turn import Spoken, ToolCall, text_turn, tool_turn
from actors.model.offline.words import subject_words
from actors.model.offline.writing import document_calls, table_calls

MOST_TURNS = 6
MOST_CALLS = 8
_TABLE_WORDS = re.compile(r"\btables?\b|\bdata\b|\brows?\b", re.IGNORECASE)


def work(asked: Asked) -> Spoken:
    """The next turn of a worker: tools while they help, then the report."""
    job = read_job(asked)
    calls = next_calls(job) if job.turns < MOST_TURNS else []
    return tool_turn(calls) if calls else text_turn(report(job))


def next_calls(job: Job) -> list[ToolCall]:
    """The calls of the first phase that has any: gather, calculate, then check and write."""
    for phase in (_gather, derived_calls, claim_calls, table_calls, document_calls):
        fresh = _fresh(job, phase(job))
        if fresh:
            return fresh[:MOST_CALLS]
    return []


def _gather(job: Job) -> list[ToolCall]:
    calls = stated_calls(job)
    # A calculation that is spelled out needs no table, unless the intent speaks of one.
    if not stated(job) or _TABLE_WORDS.search(plain_intent(job)):
        calls += list_calls(job) + query_calls(job)
    return calls + search_calls(job) + read_calls(job) + other_calls(job)


def other_calls(job: Job) -> list[ToolCall]:
    """Tools of no known shape, once each, with the smallest valid input: all if there are no others, else what fits."""
    offers = job.of_shape("other")
    used = {use.tool for use in job.uses}
    wanted = concepts(plain_intent(job))
    only = len(offers) == len(job.offers)
    calls: list[ToolCall] = []
    for one in offers:
        fits = likeness(wanted, concepts(f"{one.tool.name} {one.tool.description}")) > 0
        if one.tool.name not in used and (fits or only):
            calls.append(ToolCall(one.tool.name, _minimal(job, one.tool.input_schema)))
    return calls[:3]


def _minimal(job: Job, schema: dict[str, object]) -> dict[str, object]:
    text = " ".join(subject_words(plain_intent(job))) or job.intent
    return filled({**schema, "type": "object"}, schema, Hints(text, numbers(job.intent)))


def _fresh(job: Job, calls: list[ToolCall]) -> list[ToolCall]:
    """Only what was not asked before: the same call again would give the same answer."""
    seen = [(use.tool, use.input) for use in job.uses]
    fresh: list[ToolCall] = []
    for call in calls:
        if (call.name, dict(call.input)) not in seen:
            seen.append((call.name, dict(call.input)))
            fresh.append(call)
    return fresh
