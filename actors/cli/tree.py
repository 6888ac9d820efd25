"""A run as a tree for a terminal: what was decided, who worked on what, what they called, and how long it took.

What fits on a few screens is drawn whole. Of longer ones, the calls of tasks that went well are counted, not drawn.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from actors.cli.terminal import one_line
from observability import names
from observability.run_view import Call, Execution, RunView, TaskView, Thought, Try
from observability.span import Moment, Span
from observability.wording import cost, count, seconds
from protocol.messages import Usage
from protocol.steps import ToolCalled

MOST_LINES = 120
LONGEST = 160
MARKS = {"completed": "✓", "failed": "✗", "declined": "✗", "lost": "✗", "skipped": "-"}
WRONG = ("failed", "declined", "lost")

Style = Literal["", "bad", "odd", "dim"]


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the tree and what hangs below it; `folded` tells that not everything does."""

    text: str
    start_ns: int
    end_ns: int
    style: Style = ""
    cost: str = ""
    below: tuple["Node", ...] = ()
    folded: bool = False

    @property
    def size(self) -> int:
        """How many lines it takes."""
        return 1 + sum(node.size for node in self.below)


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A node in its place: `lead` is what the branches look like to the left of it."""

    lead: str
    node: Node


def tree(view: RunView, *, full: bool = False) -> Node:
    """The run as a tree. Long ones are folded unless they are wanted in full."""
    whole = _run(view, folded=False)
    if full or whole.size <= MOST_LINES:
        return whole
    return msgspec.structs.replace(_run(view, folded=True), folded=True)


def lines(node: Node, lead: str = "", branch: str = "") -> Iterator[Line]:
    """The tree line by line."""
    yield Line(lead=branch, node=node)
    for number, child in enumerate(node.below):
        last = number + 1 == len(node.below)
        yield from lines(child, lead + ("  " if last else "│ "), lead + ("└ " if last else "├ "))


def _run(view: RunView, *, folded: bool) -> Node:
    parts = [_thought(thought) for thought in view.thoughts]
    parts += [_task(task, view, folded=folded) for task in view.tasks]
    parts += [_moment(moment) for moment in view.moments if _is_telling(moment)]
    root = view.root
    style: Style = "bad" if root.status == "error" else ""
    text = f"run · team {view.record.request.team or '?'} · {view.status}" + _wrong(root)
    below = tuple(sorted(parts, key=lambda node: node.start_ns))
    return Node(text=text, start_ns=root.start_ns, end_ns=root.end_ns, style=style, cost=_cost(view.usage), below=below)


def _thought(thought: Thought) -> Node:
    span = thought.span
    told = span.attributes
    facts = [f"✗ {span.name}" if span.error else span.name]
    if names.TASKS in told:
        facts.append(count(int(str(told[names.TASKS])), "task"))
    if names.RESULTS_READ in told:
        facts.append(f"{count(int(str(told[names.RESULTS_READ])), 'result')} read")
    if reason := str(told.get(names.REASON, "")):
        facts.append(one_line(reason, LONGEST))
    below = tuple(_span(call, "model") for call in thought.calls if len(thought.calls) > 1)
    return _node(span, " · ".join(facts) + _wrong(span), below)


def _task(task: TaskView, view: RunView, *, folded: bool) -> Node:
    style: Style = "bad" if task.status in WRONG else "odd" if task.status != "completed" or task.again else ""
    text = f"{MARKS.get(task.status, '…')} {task.id} · {task.worker} · {task.status}"
    if task.status != "completed" and task.error:
        text += f": {one_line(task.error, LONGEST)}"
    if not task.tries:
        return Node(text=text, start_ns=view.root.end_ns, end_ns=view.root.end_ns, style=style)
    fold, first = folded and task.status == "completed", task.tries[0]
    if task.again or len(task.tries) > 1:
        text += f" · {count(len(task.tries), 'attempt')}"
        parts = [_try(one, fold=fold) for one in task.tries] + [_again(span) for span in task.again]
        below = tuple(sorted(parts, key=lambda node: node.start_ns))
    else:
        text += _calls(first) if fold else ""
        below = _executions(first, fold=fold)
    start, end = task.start_ns, task.end_ns
    return Node(text=text, start_ns=start, end_ns=end, style=style, cost=_cost(task.usage), below=below)


def _try(one: Try, *, fold: bool) -> Node:
    outcome = str(one.span.attributes[names.OUTCOME])
    error = next((f": {execution.span.error}" for execution in one.executions[-1:] if execution.span.error), "")
    text = f"{MARKS.get(outcome, '…')} #{one.attempt.address.attempt} {one.attempt.address.worker} · {outcome}"
    text += one_line(error, LONGEST) + (_calls(one) if fold else "")
    style: Style = "bad" if outcome in WRONG else ""
    start, end = one.span.start_ns, one.span.end_ns
    below = _executions(one, fold=fold)
    return Node(text=text, start_ns=start, end_ns=end, style=style, cost=_cost(one.usage), below=below)


def _executions(one: Try, *, fold: bool) -> tuple[Node, ...]:
    """Who worked on it, if that was more than one; else what was called."""
    if len(one.executions) > 1:
        return tuple(_execution(execution, fold=fold) for execution in one.executions)
    return () if fold else tuple(node for execution in one.executions for node in _inside(execution))


def _execution(execution: Execution, *, fold: bool) -> Node:
    span = execution.span
    outcome = str(span.attributes[names.OUTCOME])
    text = f"{MARKS.get(outcome, '…')} {span.instance or 'a worker'} · {outcome}" + _wrong(span)
    return _node(span, text, () if fold else _inside(execution))


def _inside(execution: Execution) -> tuple[Node, ...]:
    parts = [_call(call) for call in execution.calls] + [_moment(moment) for moment in execution.moments]
    return tuple(sorted(parts, key=lambda node: node.start_ns))


def _call(call: Call) -> Node:
    if isinstance(call.step, ToolCalled):
        return _span(call.span, f"tool {call.step.tool}")
    return msgspec.structs.replace(_span(call.span, "model"), cost=_cost(call.step.usage))


def _span(span: Span, what: str) -> Node:
    model = span.attributes.get(names.REQUEST_MODEL, "")
    return _node(span, f"{what} {model}".rstrip() + _wrong(span))


def _again(span: Span) -> Node:
    reason = one_line(str(span.attributes.get(names.REASON, "")), LONGEST)
    worker = f" to {span.attributes[names.AGENT]}" if span.name == "reroute" else ""
    return _node(span, f"↻ {span.name}{worker}: {reason}", style="odd")


def _moment(moment: Moment) -> Node:
    facts = [moment.name.removeprefix(names.moment(""))]
    for name, value in moment.attributes.items():
        if name != names.TOOL_CALL and value != "":
            facts.append(("by " if name == names.BY else "") + one_line(str(value), LONGEST))
    return Node(text="· " + " · ".join(facts), start_ns=moment.time_ns, end_ns=moment.time_ns, style="dim")


def _is_telling(moment: Moment) -> bool:
    """Whether it is not told by a task or by the run anyway."""
    return moment.name not in {names.moment(kind) for kind in ("gave_up", "skipped", "finished")}


def _node(span: Span, text: str, below: tuple[Node, ...] = (), style: Style = "") -> Node:
    told = span.attributes
    tokens = int(str(told.get(names.INPUT_TOKENS, 0))) + int(str(told.get(names.OUTPUT_TOKENS, 0)))
    usd = told.get(names.USD)
    parts = [f"{tokens:,} tok"] if tokens else []
    parts += [cost(float(str(usd)))] if usd else []
    bad: Style = "bad" if span.status == "error" else style
    return Node(text=text, start_ns=span.start_ns, end_ns=span.end_ns, style=bad, cost=" ".join(parts), below=below)


def _wrong(span: Span) -> str:
    return f" · {one_line(span.error, LONGEST)}" if span.error else ""


def _calls(one: Try) -> str:
    found: Sequence[Call] = [call for execution in one.executions for call in execution.calls]
    return f" · {count(len(found), 'call')}" if found else ""


def _cost(usage: Usage) -> str:
    parts = [f"{usage.tokens:,} tok"] if usage.tokens else []
    parts += [cost(usage.usd)] if usage.usd else []
    return " ".join(parts)


def took(node: Node) -> str:
    """How long it took; nothing for what took no time."""
    return seconds((node.end_ns - node.start_ns) / 1e9) if node.end_ns > node.start_ns else ""
