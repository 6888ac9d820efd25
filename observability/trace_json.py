"""A trace as data: each step of a run with its times, its cost and who did it. docs/TRACES.md tells the shape.

Fields are only ever added.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from observability import names
from observability.call_spans import usage_attributes
from observability.run_view import RunView, TaskStatus, TaskView
from observability.span import Attributes, Moment, Span
from protocol.messages import Answer, Usage
from protocol.steps import ModelCalled
from protocol.subjects import TaskAddress

FORMAT = "handoff-trace/1"
SPENT = {
    names.INPUT_TOKENS: "input_tokens",
    names.OUTPUT_TOKENS: "output_tokens",
    names.MODEL_CALLS: "model_calls",
    names.TOOL_CALLS: "tool_calls",
    names.USD: "usd",
}
KINDS = {"client": "model_call", "consumer": "execution"}


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What a step cost, all that is below it included; `usd` is None where no price is known or there is none."""

    input_tokens: int = 0
    output_tokens: int = 0
    model_calls: int = 0
    tool_calls: int = 0
    usd: float | None = None


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened. `offset_s` counts from the request; `seconds` is 0 for what took no time.

    `said` is a turn of the model as the provider gave it; None without content.
    """

    kind: str
    name: str
    span: str
    parent: str
    who: str
    instance: str
    at: float
    offset_s: float
    seconds: float
    task: str = ""
    attempt: int = 0
    outcome: str = ""
    error: str = ""
    spent: Spent = Spent()
    links: tuple[dict[str, str], ...] = ()
    attributes: dict[str, Any] = {}
    said: msgspec.Raw | None = None


class TaskSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one task."""

    id: str
    worker: str
    status: TaskStatus
    needs: tuple[str, ...]
    attempts: int
    dropped: bool
    offset_s: float | None
    seconds: float | None
    error: str
    usage: Usage


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run. `ended` is None while it goes on; `request` and `answer` are only there with content."""

    format: str = FORMAT
    run: str
    team: str
    status: str
    began: float
    ended: float | None
    seconds: float
    usage: Usage
    tasks: tuple[TaskSummary, ...]
    steps: tuple[Step, ...]
    request: str | None = None
    answer: Answer | None = None


def trace_of(view: RunView, *, content: bool = False) -> Trace:
    """The run as data, its steps in the order in which they began."""
    turns = _turns(view)
    steps = [_turn(_step(span, view), turns.get(span.id), content=content) for span in view.spans]
    steps += _results(view)
    steps += [_moment(moment, span, view) for span, moment in _moments(view)]
    finished = view.record.finished
    return Trace(
        run=view.record.run,
        team=view.record.request.team,
        status=view.status,
        began=view.client.start_ns / 1e9,
        ended=view.client.end_ns / 1e9 if finished else None,
        seconds=round(view.client.seconds, 6),
        usage=view.usage,
        tasks=tuple(_task(task, view) for task in view.tasks),
        steps=tuple(sorted(steps, key=lambda step: step.at)),
        request=view.record.request.text if content else None,
        answer=finished.answer if finished and content else None,
    )


def _task(task: TaskView, view: RunView) -> TaskSummary:
    return TaskSummary(
        id=task.id,
        worker=task.worker,
        status=task.status,
        needs=task.task.depends_on,
        attempts=len(task.tries),
        dropped=task.dropped,
        offset_s=_offset(task.start_ns, view) if task.tries else None,
        seconds=round((task.end_ns - task.start_ns) / 1e9, 6) if task.tries else None,
        error="" if task.status == "completed" else task.error,
        usage=task.usage,
    )


def _step(span: Span, view: RunView) -> Step:
    told = span.attributes
    return Step(
        kind=_kind(span, view),
        name=span.name,
        span=span.id,
        parent=span.parent,
        who=span.service,
        instance=span.instance,
        at=span.start_ns / 1e9,
        offset_s=_offset(span.start_ns, view),
        seconds=round(span.seconds, 6),
        task=str(told.get(names.TASK, "")),
        attempt=int(str(told.get(names.ATTEMPT, 0))),
        outcome=str(told.get(names.OUTCOME, told.get(names.STATUS, ""))),
        error=span.error,
        spent=_spent(told),
        links=tuple({"span": link.span, "why": str(link.attributes.get(names.LINK, ""))} for link in span.links),
        attributes={name: value for name, value in told.items() if name not in SPENT},
    )


def _turns(view: RunView) -> dict[str, tuple[TaskAddress, ModelCalled]]:
    """The turns of models inside tasks, and whose they are, by their spans."""
    tries = [one for task in view.tasks for one in task.tries]
    calls = [(one.attempt.address, call) for one in tries for execution in one.executions for call in execution.calls]
    return {call.span.id: (address, call.step) for address, call in calls if isinstance(call.step, ModelCalled)}


def _turn(step: Step, found: tuple[TaskAddress, ModelCalled] | None, *, content: bool) -> Step:
    """A step with what is kept of a turn of the model beyond its span: whose it is, its price, and what it said."""
    if found is None:
        return step
    address, turn = found
    return msgspec.structs.replace(
        step,
        task=address.task,
        attempt=address.attempt,
        spent=msgspec.structs.replace(step.spent, usd=turn.usage.usd),
        said=turn.content if content else None,
    )


def _kind(span: Span, view: RunView) -> str:
    if span.id == view.client.id:
        return "request"
    if span.id == view.root.id:
        return "run"
    if span.kind == "producer":
        return "dispatch"
    if names.TOOL in span.attributes:
        return "tool_call"
    return KINDS.get(span.kind, span.name)


def _results(view: RunView) -> Iterator[Step]:
    """Each result, at the moment when it was stored."""
    for task in view.tasks:
        for one in task.tries:
            result = one.attempt.result
            if result is None or not one.executions:
                continue
            span = one.executions[-1].span
            told = usage_attributes(result.usage)
            yield Step(
                kind="result",
                name="result",
                span=span.id,
                parent=span.id,
                who=span.service,
                instance=result.instance,
                at=span.end_ns / 1e9,
                offset_s=_offset(span.end_ns, view),
                seconds=0.0,
                task=task.id,
                attempt=result.attempt,
                outcome=result.status,
                error=span.error,
                spent=_spent(told),
                attributes={"bytes": len(result.output.encode(errors="replace")), "confidence": result.confidence},
            )


def _moments(view: RunView) -> Iterator[tuple[Span, Moment]]:
    """What took no time, with the span that it happened in."""
    yield from ((view.root, moment) for moment in view.moments)
    for task in view.tasks:
        for one in task.tries:
            yield from ((execution.span, moment) for execution in one.executions for moment in execution.moments)


def _moment(moment: Moment, span: Span, view: RunView) -> Step:
    told = {**span.attributes, **moment.attributes}
    return Step(
        kind=moment.name.removeprefix(names.moment("")),
        name=moment.name,
        span=span.id,
        parent=span.id,
        who=span.service,
        instance=span.instance,
        at=moment.time_ns / 1e9,
        offset_s=_offset(moment.time_ns, view),
        seconds=0.0,
        task=str(told.get(names.TASK, "")),
        attempt=int(str(told.get(names.ATTEMPT, 0))),
        outcome=str(moment.attributes.get(names.OUTCOME, "")),
        attributes=dict(moment.attributes),
    )


def _spent(told: Attributes) -> Spent:
    return msgspec.convert({field: told[name] for name, field in SPENT.items() if name in told}, Spent)


def _offset(time_ns: int, view: RunView) -> float:
    return round((time_ns - view.client.start_ns) / 1e9, 6)
