"""The waterfall: everything that took time, one below the other, each where it was between beginning and end."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from observability import names
from observability.page.markup import Markup, element, join
from observability.run_view import Call, RunView, TaskView, Try
from observability.span import Span
from observability.wording import count, seconds

WIDE, HIGH = 1000, 14
THINNEST = 2.0
TICKS = 5
LONGEST = 200


class Scale(NamedTuple):
    """From when to when the picture goes."""

    start_ns: int
    end_ns: int

    def x(self, time_ns: int) -> float:
        """Where a moment is, out of a thousand."""
        whole = max(1, self.end_ns - self.start_ns)
        return round(min(1.0, max(0.0, (time_ns - self.start_ns) / whole)) * WIDE, 2)


def waterfall(view: RunView) -> Markup:
    """All rows in the order in which they began; what a task called is folded away below it."""
    scale = Scale(view.client.start_ns, view.client.end_ns)
    rows = [(thought.span.start_ns, _thought(thought.span, scale)) for thought in view.thoughts]
    rows += [(task.start_ns, _task(task, scale)) for task in view.tasks if task.tries]
    return element("div", _axis(scale), (row for _, row in sorted(rows, key=lambda row: row[0])), class_="waterfall")


def bar(spans: Sequence[Span], scale: Scale, kind: str = "") -> Markup:
    """Spans side by side on one line."""
    drawn = [_rect(span, scale, kind) for span in spans]
    return element("svg", drawn, class_="bar", viewBox=f"0 0 {WIDE} {HIGH}", preserveAspectRatio="none")


def _rect(span: Span, scale: Scale, kind: str) -> Markup:
    x = min(scale.x(span.start_ns), WIDE - THINNEST)
    width = max(THINNEST, scale.x(span.end_ns) - x)
    declined = span.attributes.get(names.OUTCOME) == "declined"  # no error of a program, and still not what was wanted
    bad = " bad" if span.status == "error" or declined else ""
    return element("rect", x=x, y=1, width=round(width, 2), height=HIGH - 2, class_=f"{kind or span.kind}{bad}")


def _axis(scale: Scale) -> Markup:
    whole = (scale.end_ns - scale.start_ns) / 1e9
    marks = [element("span", seconds(whole * tick / TICKS)) for tick in range(TICKS + 1)]
    return element("div", element("span", class_="label"), element("span", marks, class_="ticks"), class_="row axis")


def _row(label: str | Markup, spans: Sequence[Span], scale: Scale, kind: str = "") -> Markup:
    start, end = min(span.start_ns for span in spans), max(span.end_ns for span in spans)
    told = f"at {seconds((start - scale.start_ns) / 1e9)}, took {seconds((end - start) / 1e9)}"
    return join(
        element("span", label, class_="label", title=told),
        bar(spans, scale, kind),
        element("span", seconds((end - start) / 1e9), class_="took"),
    )


def _thought(span: Span, scale: Scale) -> Markup:
    facts = [span.name]
    if names.TASKS in span.attributes:
        facts.append(count(int(str(span.attributes[names.TASKS])), "task"))
    note = span.error or str(span.attributes.get(names.REASON, ""))
    wrong = element("span", note[:LONGEST], class_="note") if note else ""
    label = join(element("b", " · ".join(facts)), " ", wrong)
    return element("div", _row(label, [span], scale, "thought"), class_="row")


def _task(task: TaskView, scale: Scale) -> Markup:
    waits = [one.span for one in task.tries]
    works = [execution.span for one in task.tries for execution in one.executions]
    tried = f" · {len(task.tries)} attempts" if len(task.tries) > 1 else ""
    tried += " · taken again" if len(works) > len(waits) else ""
    label = join(
        element("span", class_=f"dot {task.status}"),
        element("a", task.id, href=f"#task-{task.id}"),
        element("span", f" {task.worker}{tried}", class_="who"),
    )
    rows = [element("div", row, class_="row call") for row in _inside(task, scale)]
    summary = element("summary", _row(label, waits + works, scale), class_="row")
    return element("details", summary, rows, class_="entry", data_task=task.id)


def _inside(task: TaskView, scale: Scale) -> Iterator[Markup]:
    """What happened within a task: attempts if there were several, calls, and decisions to try again."""
    parts: list[tuple[int, Markup]] = []
    for one in task.tries:
        if len(task.tries) > 1:
            parts.append((one.span.start_ns, _attempt(one, scale)))
        for execution in one.executions:
            if len(one.executions) > 1:
                who = execution.span.instance or "a worker"
                outcome = execution.span.attributes[names.OUTCOME]
                parts.append((execution.span.start_ns, _row(f"{who}: {outcome}", [execution.span], scale)))
            parts += [(call.span.start_ns, _call(call, scale)) for call in execution.calls]
    for span in task.again:
        reason = str(span.attributes.get(names.REASON, ""))[:LONGEST]
        parts.append((span.start_ns, _row(f"↻ {span.name}: {reason}", [span], scale, "thought")))
    yield from (row for _, row in sorted(parts, key=lambda part: part[0]))


def _attempt(one: Try, scale: Scale) -> Markup:
    outcome = one.span.attributes[names.OUTCOME]
    return _row(f"attempt {one.attempt.address.attempt}: {outcome}", [one.span], scale, "attempt")


def _call(call: Call, scale: Scale) -> Markup:
    tool = call.span.attributes.get(names.TOOL)
    return _row(f"tool {tool}" if tool else call.span.name, [call.span], scale, "tool" if tool else "model")
