"""The card of one task: what its workers saw, what they said and called, what came of it, and what it cost."""

from collections.abc import Iterator
from typing import Any

import msgspec

from observability import names
from observability.page.markup import Markup, element, join
from observability.redaction import redacted
from observability.run_view import Call, Execution, TaskView, Try
from observability.span import Moment
from observability.wording import cost, count, seconds
from protocol.messages import Artifact, Context, Handoff, Result, Usage
from protocol.steps import ModelCalled, ToolCalled

LONGEST_CONTEXT = 1500
LONG = 1500
"""Characters from which a text is folded away."""

_blocks = msgspec.json.Decoder(list[dict[str, Any]])


def card(task: TaskView, *, content: bool) -> Markup:
    """Everything about one task; without `content`, no word of what was asked and said."""
    heading = element(
        "summary",
        element("span", class_=f"dot {task.status}"),
        element("b", task.id),
        element("span", f" {task.worker} · {_standing(task)}", class_="who"),
        element("span", _figures(task), class_="figures"),
    )
    wrong = element("p", task.error, class_="error") if task.error and task.status != "completed" else ""
    return element(
        "details",
        heading,
        wrong,
        _needs(task),
        (_attempt(one, content=content) for one in task.tries),
        class_="task entry",
        id=f"task-{task.id}",
        data_task=task.id,
        data_state=" ".join(_states(task)),
    )


def text(words: str, *, folded: str = "") -> Markup:
    """A text as it is, in a box of its own that it cannot leave; a long one is folded away below a line."""
    box = element("pre", words, dir="auto", tabindex=0)
    if len(words) <= LONG:
        return box
    told = element("summary", f"{folded or 'text'} ({count(len(words), 'character')})")
    return element("details", told, box, class_="fold")


def spent(usage: Usage) -> str:
    """What something cost, as far as it cost anything."""
    parts = [count(usage.tokens, "token")] if usage.tokens else []
    parts += [count(usage.model_calls, "model call")] if usage.model_calls else []
    parts += [count(usage.tool_calls, "tool call")] if usage.tool_calls else []
    return " · ".join([*parts, cost(usage.usd)] if parts else parts)


def _states(task: TaskView) -> Iterator[str]:
    yield task.status
    if len(task.tries) > 1 or any(len(one.executions) > 1 for one in task.tries):
        yield "again"
    if task.status in ("failed", "declined") or any(
        execution.span.status == "error" for one in task.tries for execution in one.executions
    ):
        yield "wrong"


def _standing(task: TaskView) -> str:
    tried = f" after {len(task.tries)} attempts" if len(task.tries) > 1 else ""
    return task.status + tried + (", dropped from the plan" if task.dropped else "")


def _figures(task: TaskView) -> str:
    took = seconds((task.end_ns - task.start_ns) / 1e9) if task.tries else ""
    return " · ".join(filter(None, [took, spent(task.usage)]))


def _needs(task: TaskView) -> str | Markup:
    if not task.task.depends_on:
        return ""
    links = [element("a", need, href=f"#task-{need}") for need in task.task.depends_on]
    return element("p", "needs ", (join(link, " ") for link in links), class_="needs")


def _attempt(one: Try, *, content: bool) -> Markup:
    outcome = str(one.span.attributes[names.OUTCOME])
    waited = one.span.attributes.get(names.QUEUE_WAIT_S)
    facts = [f"attempt {one.attempt.address.attempt}", one.attempt.address.worker, outcome, seconds(one.span.seconds)]
    facts += [f"waited {seconds(float(str(waited)))}"] if waited else []
    heading = element("h4", " · ".join(facts), class_=outcome)
    executions = [_execution(execution, one, content=content) for execution in one.executions]
    saw = _saw(one.attempt.handoff) if content and one.attempt.handoff else ""
    gave = _gave(one.attempt.result, content=content) if one.attempt.result else ""
    return element("section", heading, saw, executions, gave, class_="attempt")


def _saw(handoff: Handoff) -> Markup:
    success = [element("h5", "success means"), text(handoff.success)] if handoff.success else []
    return element(
        "div",
        element("h5", "asked"),
        text(handoff.intent, folded="intent"),
        success,
        (_context(part) for part in handoff.context),
        _artifacts(handoff.artifacts),
        class_="saw",
    )


def _context(part: Context) -> Markup:
    """What it was told of another task: the beginning, because the whole stands there."""
    head, left = part.output[:LONGEST_CONTEXT], len(part.output) - LONGEST_CONTEXT
    origin = element("a", part.task, href=f"#task-{part.task}")
    more = element("p", f"… {count(left, 'character')} more", class_="note") if left > 0 else ""
    return element("div", element("h5", "told by ", origin, f" ({part.worker})"), text(head), more)


def _execution(execution: Execution, one: Try, *, content: bool) -> Markup:
    span = execution.span
    who = span.instance or span.service
    outcome = str(span.attributes[names.OUTCOME])
    several = len(one.executions) > 1
    heading = element("h5", f"{who}: {outcome}", class_=outcome) if several else element("h5", f"done by {who}")
    lost = element("p", span.error, class_="error") if several and span.error else ""
    parts = [(call.span.start_ns, _call(call, content=content)) for call in execution.calls]
    parts += [(moment.time_ns, _moment(moment)) for moment in execution.moments]
    turns = [part for _, part in sorted(parts, key=lambda part: part[0])]
    return element("div", heading, lost, turns, class_="execution")


def _moment(moment: Moment) -> Markup:
    facts = [str(value) for name, value in moment.attributes.items() if name != names.TOOL_CALL]
    return element("h5", " · ".join([moment.name.rpartition(".")[2].replace("_", " "), *facts]), class_="moment")


def _call(call: Call, *, content: bool) -> Markup:
    match call.step:
        case ModelCalled() as step:
            heading = element("h5", f"{call.span.name} · {seconds(call.span.seconds)} · {spent(step.usage)}")
            return element("div", heading, _said(step) if content else "", class_="model")
        case ToolCalled() as step:
            outcome = "failed" if step.failed else "returned"
            size = count(len(step.output), "character")
            heading = element("h5", f"tool {step.tool} {outcome} {size} · {seconds(step.seconds)}")
            output = text(step.output, folded="output") if content else ""
            return element("div", heading, output, class_="tool failed" if step.failed else "tool")


def _said(step: ModelCalled) -> list[Markup]:
    """What the model said, block by block; what is no list of blocks is shown as it is."""
    try:
        blocks = _blocks.decode(step.content)
    except msgspec.MsgspecError:
        return [text(bytes(step.content).decode(errors="replace"))]
    return [_block(block) for block in blocks]


def _block(block: dict[str, Any]) -> Markup:
    match block:
        case {"type": "text", "text": str(words)}:
            return text(words)
        case {"type": "tool_use", "name": str(name)}:
            return join(element("h5", f"calls {name}"), text(_pretty(block.get("input")), folded="arguments"))
        case {"type": str(kind)}:
            return join(element("h5", kind), text(_pretty(block), folded=kind))
        case _:
            return text(_pretty(block))


def _pretty(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode(errors="replace")


def _gave(result: Result, *, content: bool) -> Markup:
    sure = f" · confidence {result.confidence:.0%}" if result.confidence is not None else ""
    heading = element("h5", f"result: {result.status}{sure}", class_=result.status)
    fault = (
        element("p", redacted(f"{result.error.kind}: {result.error.message}"), class_="error") if result.error else ""
    )
    output = text(result.output, folded="output") if content and result.output else ""
    found = element("ul", (element("li", finding) for finding in result.findings)) if content else ""
    return element("div", heading, fault, output, found, _artifacts(result.artifacts), class_="gave")


def _artifacts(artifacts: tuple[Artifact, ...]) -> list[Markup]:
    return [
        element("p", f"artifact {found.name}, {count(found.size, 'byte')}, {found.digest}", class_="note")
        for found in artifacts
    ]
