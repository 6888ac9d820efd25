"""The worker: which tools to use next, and when there is nothing left to do, what to say."""

import re

from actors.model_server.offline.calculating import derived_calls, stated, stated_calls
from actors.model_server.offline.choosing import acting_calls, other_calls, second_calls, spare_calls, suits
from actors.model_server.offline.claims import claim_calls
from actors.model_server.offline.intent import plain_intent
from actors.model_server.offline.job import Job, read_job
from actors.model_server.offline.listing import is_empty
from actors.model_server.offline.lookup import read_calls, search_calls
from actors.model_server.offline.querying import answers, list_calls, query_calls
from actors.model_server.offline.quoting import quotes
from actors.model_server.offline.report import report
from actors.model_server.offline.request import Asked
from actors.model_server.offline.turn import Spoken, ToolCall, text_turn, tool_turn
from actors.model_server.offline.writing import document_calls, table_calls

MOST_TURNS = 6
MOST_CALLS = 12
_TABLE_WORDS = re.compile(r"\btables?\b|\bdata\b|\brows?\b", re.IGNORECASE)


def work(asked: Asked) -> Spoken:
    """The next turn of a worker: tools while they help, then the report."""
    job = read_job(asked)
    calls = next_calls(job) if job.turns < MOST_TURNS else []
    return tool_turn(calls) if calls else text_turn(report(job))


def next_calls(job: Job) -> list[ToolCall]:
    """The calls of the first phase that has any: gather, calculate, act, then check and write."""
    phases = (_gather, second_calls, _spare, derived_calls, acting_calls, claim_calls, table_calls, document_calls)
    for phase in phases:
        fresh = _fresh(job, phase(job))
        if fresh:
            return fresh[:MOST_CALLS]
    return []


def _gather(job: Job) -> list[ToolCall]:
    calls = stated_calls(job) + other_calls(job)
    # A calculation that is spelled out needs no table, unless the intent speaks of one; nor does what a tool knows.
    if _TABLE_WORDS.search(plain_intent(job)) or not (stated(job) or suits(job)):
        calls += list_calls(job) + query_calls(job)
    return calls + search_calls(job) + read_calls(job)


def _spare(job: Job) -> list[ToolCall]:
    found = quotes(job) or answers(job) or job.done("calculate") or job.context
    given = any(use.output.strip() and not is_empty(use.output) for use in job.done("other"))
    return [] if found or given else spare_calls(job)


def _fresh(job: Job, calls: list[ToolCall]) -> list[ToolCall]:
    """Only what was not asked before: the same call again would give the same answer."""
    seen = [(use.tool, use.input) for use in job.uses]
    fresh: list[ToolCall] = []
    for call in calls:
        if (call.name, dict(call.input)) not in seen:
            seen.append((call.name, dict(call.input)))
            fresh.append(call)
    return fresh
