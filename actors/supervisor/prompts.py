"""What the roles of a supervisor are asked, and the tools by which they answer. Results are quoted as data."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import msgspec

from actors.model.port import ToolSpec
from actors.run.answer import gaps_of
from actors.run.board import TaskState
from actors.run.react import reason_of
from actors.run.reading import to_read
from actors.run.state import RunState
from actors.supervisor.instructions import NEW_PLAN, STRATEGIES
from protocol.messages import Card, Contradiction, Plan, Request, Result

PLAN_TOOL = "submit_plan"
INTENT_TOOL = "submit_intent"
REPORT_TOOL = "report"
VERDICT_TOOL = "submit_verdicts"


def plan_tool(workers: Mapping[str, Sequence[Card]]) -> ToolSpec:
    """The tool by which a plan is handed in: the schema of Plan, with `worker` limited to those alive."""
    schema = inline_schema(Plan)
    schema["properties"].pop("revision")
    schema["properties"]["cannot"] = {
        "type": "string",
        "description": "Why nobody here can do what is asked; then leave the tasks empty.",
    }
    task = schema["properties"]["tasks"]["items"]
    for name in ("budget", "artifacts", "fallback"):
        task["properties"].pop(name)
    task["properties"]["worker"] = {
        "type": "string",
        "enum": list(workers),
        "description": "Who does it:\n" + "\n".join(worker_line(name, cards) for name, cards in workers.items()),
    }
    task["required"] = ["id", "worker", "intent", "success"]
    return ToolSpec(name=PLAN_TOOL, description="Hand in the plan for the request.", schema=schema)


def worker_line(name: str, cards: Sequence[Card]) -> str:
    """One line about a kind of worker: what it is good for, its tools, and how busy it is."""
    card = cards[0]
    tools = f" [tools: {', '.join(card.tools)}]" if card.tools else ""
    busy, room = sum(c.inflight for c in cards), sum(c.capacity for c in cards)
    slow = "; a person: takes minutes where others take seconds" if card.person else ""
    return f"{name}: {card.summary}{tools} (busy {busy}/{room}{slow})"


def planning(request: Request, faults: Sequence[str], most_tasks: int) -> str:
    """What the planner is asked."""
    parts = [f"<request>\n{request.text}\n</request>", f"At most {most_tasks} tasks."]
    budget = {name: value for name, value in msgspec.to_builtins(request.budget).items() if value is not None}
    if budget:
        parts.append("Budget of the whole run: " + ", ".join(f"{value} {name}" for name, value in budget.items()) + ".")
    if faults:
        parts.append(_refused(faults))
    return "\n\n".join(parts)


def replanning(state: RunState, reasons: Sequence[str], faults: Sequence[str]) -> str:
    """What the planner is asked when the plan it made no longer fits."""
    request = state.request or Request()
    rows = "\n".join(_standing(task) for task in state.tasks.values() if task.status != "dropped")
    listed = escape("\n".join(f"- {reason}" for reason in reasons))
    parts = [
        planning(request, (), state.limits.planner_tasks),
        f"<plan>\n{rows}\n</plan>",
        f"<why>\n{listed}\n</why>",
        NEW_PLAN,
    ]
    return "\n\n".join([*parts, _refused(faults)] if faults else parts)


def refining(task: TaskState) -> str:
    """What the refiner is asked."""
    return (
        f"<intent>\n{escape(task.intent)}\n</intent>\n\n<success>\n{escape(task.task.success)}\n</success>\n\n"
        f"<worker>\n{task.worker}\n</worker>\n\n<attempt>\n{task.attempt}\n</attempt>\n\n"
        f"<error>\n{escape(reason_of(task))}\n</error>"
    )


def intent_tool() -> ToolSpec:
    """The tool by which a new intent is handed in."""
    schema = {"type": "object", "properties": {"intent": {"type": "string"}}, "required": ["intent"]}
    return ToolSpec(name=INTENT_TOOL, description="Hand in the new intent.", schema=schema)


def report_tool() -> ToolSpec:
    """The tool by which the synthesizer says how sure it is, and what is wrong or missing."""
    texts = {"type": "array", "items": {"type": "string"}}
    contradiction = {
        "type": "object",
        "properties": {"tasks": texts, "claim": {"type": "string"}},
        "required": ["tasks", "claim"],
    }
    properties = {
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "contradictions": {"type": "array", "items": contradiction},
        "gaps": texts | {"description": "What the answer does not cover."},
        "more": texts | {"description": "Further work without which the request is not answered; usually none."},
    }
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return ToolSpec(name=REPORT_TOOL, description="Say how sure the answer is and what is missing.", schema=schema)


def synthesis(state: RunState) -> str:
    """What the synthesizer is asked: the same text in whatever order the results came in."""
    request, plan = state.request, state.plan
    parts = [
        f"<request>\n{escape(request.text) if request else ''}\n</request>",
        f"<results>\n{quoted(state, to_read(state))}\n</results>",
    ]
    if gaps := gaps_of(state):
        parts.append("<gaps>\n" + escape("\n".join(f"- {gap}" for gap in gaps)) + "\n</gaps>")
    if plan:
        instruction = " ".join([STRATEGIES[plan.strategy], plan.instruction]).strip()
        parts.append(f"<instruction>\n{escape(instruction)}\n</instruction>")
    return "\n\n".join(parts)


def condensing(state: RunState, results: Sequence[Result]) -> str:
    """What the condenser is asked."""
    text = escape(state.request.text) if state.request else ""
    return f"<request>\n{text}\n</request>\n\n<results>\n{quoted(state, results)}\n</results>"


def judging(state: RunState, contradictions: Sequence[Contradiction]) -> str:
    """What the judge is asked: the disputed results only."""
    disputed = {name for contradiction in contradictions for name in contradiction.tasks}
    results = [result for result in to_read(state) if result.task in disputed] or to_read(state)
    rows = "\n".join(f"{n}. {escape(c.claim)} (tasks: {', '.join(c.tasks)})" for n, c in enumerate(contradictions, 1))
    return (
        f"<disputed>\n{quoted(state, results)}\n</disputed>\n\n<contradictions>\n{rows}\n</contradictions>\n\n"
        f"Give {len(contradictions)} verdicts, in that order."
    )


def verdict_tool() -> ToolSpec:
    """The tool by which verdicts are handed in."""
    verdict = {
        "type": "object",
        "properties": {
            "number": {"type": "integer"},
            "resolution": {"type": "string", "description": "Who is right and why; empty if it cannot be settled."},
        },
        "required": ["number", "resolution"],
    }
    schema = {
        "type": "object",
        "properties": {"verdicts": {"type": "array", "items": verdict}},
        "required": ["verdicts"],
    }
    return ToolSpec(name=VERDICT_TOOL, description="Hand in the verdicts.", schema=schema)


def quoted(state: RunState, results: Sequence[Result]) -> str:
    """Results as data, each with where it comes from."""
    rows: list[str] = []
    for result in results:
        known = state.tasks.get(result.task)
        named = {
            "task": result.task,
            "worker": result.worker,
            "status": result.status,
            "builds_on": " ".join(known.task.depends_on) if known else "",
        }
        attributes = " ".join(f"{name}={quoteattr(value)}" for name, value in named.items())
        rows.append(f"<result {attributes}>\n{escape(result.output)}\n</result>")
    return "\n".join(rows)


def _refused(faults: Sequence[str]) -> str:
    listed = "\n".join(f"- {fault}" for fault in faults)
    return f"<refused>\nYour last plan was refused:\n{listed}\n</refused>\nHand in one without these faults."


def _standing(task: TaskState) -> str:
    needs = f" needs {', '.join(task.task.depends_on)}" if task.task.depends_on else ""
    line = f"{task.task.id} ({task.worker}) [{task.status}]{needs}: {task.intent}"
    if task.status == "completed" and task.result:
        line += f"\n  result: {task.result.output[:500]}"
    return escape(line)


def inline_schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON schema of a Struct with every reference put in place, as model providers want it."""
    schema = msgspec.json.schema(kind)
    definitions: dict[str, Any] = schema.get("$defs", {})

    def resolved(node: Any) -> Any:
        if isinstance(node, dict):
            found: dict[str, Any] = node  # pyright: ignore[reportUnknownVariableType]
            if "$ref" in found:
                return resolved(definitions[found["$ref"].rpartition("/")[2]])
            return {key: resolved(value) for key, value in found.items() if key not in ("$defs", "title")}
        if isinstance(node, list):
            return [resolved(item) for item in node]  # pyright: ignore[reportUnknownVariableType]
        return node

    return resolved(schema)
