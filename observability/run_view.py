"""One run, arranged for a reader: its decisions, and each task with its attempts, executions and calls."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from observability import names, span_ids
from observability.redaction import redacted
from observability.run_record import Attempt, Entry, Record, sorted_record
from observability.run_spans import spans_of
from observability.span import Moment, Span
from protocol.events import Approved, GaveUp, Planned, Replanned, Skipped
from protocol.messages import Plan, Task, Usage
from protocol.steps import ModelCalled, ToolCalled

TaskStatus = Literal["completed", "failed", "declined", "skipped", "running", "waiting", "unfinished"]
OF_TASKS = ("refine", "retry", "reroute")


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One call to a model or of a tool, and what was said."""

    span: Span
    step: ModelCalled | ToolCalled


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """One worker at one attempt."""

    span: Span
    calls: tuple[Call, ...]

    @property
    def moments(self) -> tuple[Moment, ...]:
        """What happened meanwhile and took no time, such as a question to a person."""
        return tuple(moment for moment in self.span.events if moment.name != names.EXCEPTION)


class Try(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt at a task. `span` is that of its handoff."""

    span: Span
    attempt: Attempt
    executions: tuple[Execution, ...]

    @property
    def usage(self) -> Usage:
        """What it cost; of one without a result, what its calls cost so far."""
        if self.attempt.result:
            return self.attempt.result.usage
        return sum((at.step.usage for at in self.attempt.steps if isinstance(at.step, ModelCalled)), Usage())


class TaskView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one task. `again` are the decisions to try again; `dropped` tells that the plan changed."""

    id: str
    task: Task
    status: TaskStatus
    reason: str = ""
    dropped: bool = False
    tries: tuple[Try, ...] = ()
    again: tuple[Span, ...] = ()

    @property
    def worker(self) -> str:
        """Who had it last."""
        return self.tries[-1].attempt.address.worker if self.tries else self.task.worker

    @property
    def usage(self) -> Usage:
        """What all attempts cost."""
        return sum((one.usage for one in self.tries), Usage())

    @property
    def start_ns(self) -> int:
        """When it was first handed out; 0 for one that never was."""
        return self.tries[0].span.start_ns if self.tries else 0

    @property
    def end_ns(self) -> int:
        """When its last attempt ended."""
        return self.tries[-1].span.end_ns if self.tries else 0

    @property
    def error(self) -> str:
        """What was wrong at last."""
        errors = [execution.span.error for one in self.tries[-1:] for execution in one.executions[-1:]]
        return next(filter(None, errors), self.reason)


class Thought(msgspec.Struct, frozen=True, kw_only=True):
    """One decision about the whole run, and the calls to a model that it took."""

    span: Span
    calls: tuple[Span, ...]


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    """A run as a reader wants it. Times of everything in it are between those of `client`."""

    record: Record
    spans: tuple[Span, ...]
    client: Span
    root: Span
    plan: Plan | None
    thoughts: tuple[Thought, ...]
    tasks: tuple[TaskView, ...]

    @property
    def status(self) -> str:
        """What became of it; `running` also for one that was cut off."""
        return self.record.finished.answer.status if self.record.finished else "running"

    @property
    def usage(self) -> Usage:
        """What was spent so far."""
        if self.record.finished:
            return self.record.finished.answer.usage
        decided = [getattr(at.event, "usage", Usage()) for at in self.record.log]
        return sum([*decided, *(task.usage for task in self.tasks)], Usage())

    @property
    def moments(self) -> tuple[Moment, ...]:
        """What happened to the run and took no time."""
        return self.root.events


def view_of(run: str, entries: Iterable[Entry], *, content: bool = False) -> RunView | None:
    """The run in a record; None if nobody has begun with it. With `content`, spans tell what was said."""
    kept = list(entries)
    spans = spans_of(run, kept, content=content)
    if not spans:
        return None
    record = sorted_record(run, kept)
    below: dict[str, list[Span]] = defaultdict(list)
    for span in spans:
        below[span.parent].append(span)
    client, root = spans[0], spans[1]
    decisions = [span for span in below[root.id] if span.kind == "internal"]
    plan = newest_plan(record)
    return RunView(
        record=record,
        spans=tuple(spans),
        client=client,
        root=root,
        plan=plan,
        thoughts=tuple(
            Thought(span=span, calls=tuple(below[span.id])) for span in decisions if span.name not in OF_TASKS
        ),
        tasks=_tasks(record, plan, below),
    )


def newest_plan(record: Record) -> Plan | None:
    """The plan that counts."""
    found: Plan | None = None
    for at in record.log:
        if isinstance(at.event, Planned | Replanned | Approved):
            found = at.event.plan or found
    return found


def _tasks(record: Record, plan: Plan | None, below: dict[str, list[Span]]) -> tuple[TaskView, ...]:
    """Every task that was ever planned or handed out: in the order in which they began, the others behind."""
    tries: dict[str, list[Try]] = defaultdict(list)
    dispatches = {span.id: span for span in below[span_ids.root(record.run)]}
    for attempt in record.attempts.values():
        tries[attempt.address.task].append(_try(attempt, dispatches, below))
    again: dict[str, list[Span]] = defaultdict(list)
    for span in below[span_ids.root(record.run)]:
        if span.name in OF_TASKS:
            again[str(span.attributes[names.TASK])].append(span)
    current = {task.id for task in plan.tasks} if plan else set[str]()
    views = [
        TaskView(
            id=name,
            task=task,
            status=_status(record, name, tries[name]),
            reason=_reason(record, name),
            dropped=plan is not None and name not in current,
            tries=tuple(tries[name]),
            again=tuple(again[name]),
        )
        for name, task in _planned(record, tries).items()
    ]
    return tuple(sorted(views, key=lambda view: view.start_ns or record.end_ns + 1))


def _planned(record: Record, tries: dict[str, list[Try]]) -> dict[str, Task]:
    """Each task as it was planned last; one that no plan names, as its handoff has it."""
    found: dict[str, Task] = {}
    for at in record.log:
        if isinstance(at.event, Planned | Replanned | Approved) and at.event.plan:
            found |= {task.id: task for task in at.event.plan.tasks}
    for name, attempts in tries.items():
        handoff = attempts[0].attempt.handoff
        needs = tuple(part.task for part in handoff.context) if handoff else ()
        intent = handoff.intent if handoff else ""
        worker = attempts[0].attempt.address.worker
        found.setdefault(name, Task(id=name, worker=worker, intent=intent, depends_on=needs))
    return found


def _try(attempt: Attempt, dispatches: Mapping[str, Span], below: dict[str, list[Span]]) -> Try:
    run, _, _, task, number = attempt.address
    dispatch = span_ids.dispatch(run, task, number)
    executions: list[Execution] = []
    for found, steps in zip(below[dispatch], attempt.executions(), strict=True):
        called = [at.step for at in steps if isinstance(at.step, ModelCalled | ToolCalled)]
        calls = [Call(span=call, step=step) for call, step in zip(below[found.id], called, strict=True)]
        executions.append(Execution(span=found, calls=tuple(calls)))
    return Try(span=dispatches[dispatch], attempt=attempt, executions=tuple(executions))


def _reason(record: Record, task: str) -> str:
    """Why it was given up or skipped."""
    for at in record.log:
        match at.event:
            case GaveUp(task=name, reason=reason) | Skipped(task=name, cause=reason) if name == task:
                return redacted(reason)
            case _:
                pass
    return ""


def _status(record: Record, task: str, tries: list[Try]) -> TaskStatus:
    skipped = any(isinstance(at.event, Skipped) and at.event.task == task for at in record.log)
    given_up = any(isinstance(at.event, GaveUp) and at.event.task == task for at in record.log)
    over = record.finished is not None
    result = tries[-1].attempt.result if tries else None
    if result and (over or given_up or result.status != "failed"):
        return result.status
    if skipped:
        return "skipped"
    if given_up:
        return "failed"
    if over:
        return "unfinished"
    return "running" if tries else "waiting"
