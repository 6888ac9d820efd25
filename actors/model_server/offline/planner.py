"""The planner: from the words of a request and of the workers alive to a plan."""

import re
from collections.abc import Sequence
from typing import Any, cast

from actors.model_server.offline.clauses import clauses
from actors.model_server.offline.concepts import product
from actors.model_server.offline.drafting import Draft, draft
from actors.model_server.offline.fitness import Candidate, candidate
from actors.model_server.offline.refusal import Refusal, refusal
from actors.model_server.offline.request import Asked
from actors.model_server.offline.schema import (
    Hints,
    Schema,
    filled,
    plan_task,
    planner_worker,
    properties,
    required,
    resolved,
)
from actors.model_server.offline.sections import section
from actors.model_server.offline.turn import Spoken, ToolCall, tool_turn
from actors.model_server.offline.words import INSTRUCTIONS, keywords, shortened, subject_words, words

MOST_TASKS = 12
LONGEST_ID = 28
_NAMED_TASK = re.compile(r"\btask[ =]['\"]([\w-]+)['\"]")
_BUSY = re.compile(r"\s*\(busy [^)]*\)\s*$")
_LINE = re.compile(r"^\W*([A-Za-z0-9_-]{1,32})\W*?:\s*(.*?)\s*(?:\[tools?:\s*([^\]]*)\].*)?$")


def plan(asked: Asked) -> Spoken:
    """The forced tool, used with a plan for the request."""
    tool = asked.forced
    schema = tool.input_schema if tool else {}
    told = refusal(asked)
    text = section(asked.user_texts[0], "request") or asked.user_texts[0]
    drafts = draft(text, candidates(schema, told.dropped), _most(schema, told))
    found: dict[str, Any] = {
        "goal": shortened(text, 300),
        "tasks": _tasks(drafts, text, asked, told),
        "strategy": "merge",
        "instruction": f"Answer the request: {shortened(text, 300)}",
        "rationale": _rationale(drafts),
        "cannot": "",
    }
    return tool_turn([ToolCall(tool.name if tool else "plan", _fitted(found, schema))])


def candidates(schema: Schema, dropped: Sequence[str] = ()) -> list[Candidate]:
    """The workers a plan may use, as the schema names and describes them."""
    worker = planner_worker(schema) or {}
    names = cast("list[str]", worker.get("enum") or [])
    told: dict[str, str] = {}
    for line in str(worker.get("description", "")).splitlines():
        if (match := _LINE.match(_BUSY.sub("", line))) and match.group(1) in names:
            told[match.group(1)] = f"{match.group(2)} . {(match.group(3) or '').replace(',', ' ')}"
    kept = [name for name in names if name not in dropped] or names
    return [candidate(name, told.get(name, "")) for name in kept]


def _most(schema: Schema, told: Refusal) -> int:
    limit = resolved(properties(schema).get("tasks", {}), schema).get("maxItems") or MOST_TASKS
    return max(1, min(int(limit), told.most or MOST_TASKS))


def _tasks(drafts: Sequence[Draft], request: str, asked: Asked, told: Refusal) -> list[dict[str, Any]]:
    taken = set(_NAMED_TASK.findall("\n".join(asked.user_texts)))
    ids: list[str] = []
    for one in drafts:
        ids.append(_id(one, taken))
        taken.add(ids[-1])
    return [
        {
            "id": ids[at],
            "worker": one.worker,
            "intent": _intent(one, request, wordy=told.wordy or len(words(one.clause)) < 4),
            "success": _success(one, request),
            "depends_on": [ids[before] for before in one.after],
            "optional": [],
        }
        for at, one in enumerate(drafts)
    ]


def _id(one: Draft, taken: set[str]) -> str:
    """A short name from the words of the clause, so that it says something to whoever watches."""
    subject = [word for word in keywords(one.clause) if word not in INSTRUCTIONS and word.isascii() and word.isalnum()]
    start = {"gather": [], "produce": ["write"], "check": ["check"]}[one.kind]
    name = "-".join(start + (subject[:4] or [product(one.clause) or "results"]))
    while len(name) > LONGEST_ID and "-" in name:
        name = name.rpartition("-")[0]
    base = name[:LONGEST_ID]
    names = [base, f"{base[:LONGEST_ID]}-{one.worker}"[:32], *(f"{base}-{number}" for number in range(2, 1000))]
    return next(name for name in names if name not in taken)


def _intent(one: Draft, request: str, *, wordy: bool) -> str:
    clause = one.clause[:1].upper() + one.clause[1:]
    whole = shortened(request, 400)
    if one.kind == "produce" and one.after:
        return f'{clause}, from the results of the tasks before this one. The whole request: "{whole}"'
    if one.about:
        return f'{clause.rstrip("?")}, with regard to: "{one.about}"'
    if (wordy or one.joined or one.kind == "check") and len(clauses(request)) > 1:
        return f'{clause}. The whole request: "{whole}"'
    return clause


def _success(one: Draft, request: str) -> str:
    subject = ", ".join((subject_words(one.clause) or subject_words(request))[:6])
    match one.kind:
        case "gather":
            return f"Says what was found on {subject}, each fact with its source, or that nothing was found."
        case "produce":
            return f"A finished text ({subject}) that covers all results before it and keeps their sources."
        case "check":
            return f"Says for each claim ({subject}) whether it is supported, and by what."


def _rationale(drafts: Sequence[Draft]) -> str:
    independent = sum(not one.after for one in drafts)
    return f"{len(drafts)} tasks by word overlap with the workers' summaries, {independent} of them at once."


def _fitted(found: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """Only what the schema knows, and all that it requires."""
    task = plan_task(schema) or {}
    found["tasks"] = [_only(one, task, schema) for one in found["tasks"]]
    return _only(found, schema, schema)


def _only(found: dict[str, Any], schema: Schema, root: Schema) -> dict[str, Any]:
    known = properties(schema)
    kept = {name: value for name, value in found.items() if name in known}
    missing = [name for name in required(schema) if name not in kept]
    return kept | {name: filled(known.get(name, {}), root, Hints("", [])) for name in missing}
