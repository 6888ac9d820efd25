"""The two tools every agent has: to decline a task, and to report what breaks the plan."""

from collections.abc import Sequence
from typing import Any, cast

from actors.model.port import ToolSpec
from protocol.steps import Step, ToolCalled

DECLINE = "decline_task"
FINDING = "report_finding"


def _spec(name: str, description: str, field: str) -> ToolSpec:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {field: {"type": "string"}},
        "required": [field],
        "additionalProperties": False,
    }
    return ToolSpec(name=name, description=description, schema=schema)


SPECS = (
    _spec(
        DECLINE,
        "Only if this task is not your kind of work, or its premise is false: hand it back, saying why and who could "
        "do it. Not for work that is merely hard or finds nothing.",
        "reason",
    ),
    _spec(
        FINDING,
        "Only if you found something that makes the whole plan wrong, such as a false premise: tell the planner.",
        "finding",
    ),
)
FIELDS = {DECLINE: "reason", FINDING: "finding"}


def said_in(arguments: object, field: str) -> str:
    """What the model had to say, however it said it."""
    said = cast("dict[str, Any]", arguments).get(field) if isinstance(arguments, dict) else arguments
    return str(said or "").strip() or "no reason given"


def declined(steps: Sequence[Step]) -> str | None:
    """Why the task was handed back; None if it was not."""
    return next((step.output for step in steps if isinstance(step, ToolCalled) and step.tool == DECLINE), None)


def findings(steps: Sequence[Step]) -> tuple[str, ...]:
    """What the planner should know."""
    return tuple(step.output for step in steps if isinstance(step, ToolCalled) and step.tool == FINDING and step.output)
