"""The story of one run, told from its record: the data behind `handoff show`."""

from itertools import pairwise
from typing import Literal

import msgspec

from actors.cli.control_story import ControlStory, controls_of
from actors.cli.progress import SETTLED, Progress, State
from actors.record import Recorded
from actors.run.board import TaskState
from actors.run.limits import Limits
from actors.run.revision import changes
from actors.run.state import RunState
from actors.run_index import RunStatus, Summary
from protocol.events import Replanned
from protocol.messages import Answer, Fault, Plan, Request, Usage


class TaskStory(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one task. `seconds` is what its worker says it took."""

    id: str
    worker: str
    status: State | Literal["dropped"]
    attempt: int
    needs: tuple[str, ...] = ()
    intent: str = ""
    instance: str = ""
    seconds: float | None = None
    usage: Usage = Usage()
    tools: dict[str, int] = {}
    output: str = ""
    confidence: float | None = None
    error: Fault | None = None
    cause: str = ""


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """One change of the plan: why, and what became different."""

    number: int
    reasons: tuple[str, ...]
    changes: tuple[str, ...]


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """One run, whole. `proposed` is a plan that waits for approval, and `asked` the sequence of its `planned` Event."""

    run: str
    status: RunStatus
    team: str
    began: float
    request: Request | None = None
    proposed: Plan | None = None
    asked: int = 0
    plan: Plan | None = None
    tasks: tuple[TaskStory, ...] = ()
    refused_plans: tuple[tuple[str, ...], ...] = ()
    waits: tuple[str, ...] = ()
    controls: tuple[ControlStory, ...] = ()
    revisions: tuple[Revision, ...] = ()
    usage: Usage = Usage()
    spending: dict[str, Usage] = {}
    answer: Answer | None = None


def story_of(run: str, record: list[Recorded], limits: Limits) -> Story | None:
    """The story in a record; None if nobody has begun with it."""
    progress = Progress(limits)
    for entry in record:
        progress.take(entry, entry.time)
    state = progress.state
    if state.request is None:
        return _story_of_end(run, record[-1].time, state.answer) if state.answer else None
    states: dict[str, State] = {row.id: row.state for row in progress.rows(record[-1].time)}
    return Story(
        run=run,
        status=_status(progress),
        team=state.request.team,
        began=state.started_at,
        request=state.request,
        proposed=progress.proposed.plan if progress.proposed else None,
        asked=state.review.proposed_seq if progress.proposed else 0,
        plan=state.plan,
        tasks=tuple(_task(task, states.get(name), progress) for name, task in state.tasks.items()),
        refused_plans=tuple(rejection.faults for rejection in state.rejections),
        waits=tuple(state.waits),
        controls=controls_of(state, record),
        revisions=_revisions(state, record),
        usage=state.answer.usage if state.answer else state.spent,
        spending=(state.answer.spending if state.answer else {}) or state.spending,
        answer=state.answer,
    )


def _story_of_end(run: str, ended: float, answer: Answer) -> Story:
    """The story of a run of which only the end is kept: the rest gave way when the store was full, or aged out."""
    return Story(
        run=run,
        status=answer.status,
        team="",
        began=ended - answer.timing.wall_s,
        usage=answer.usage,
        spending=answer.spending,
        answer=answer,
    )


def story_of_waiting(summary: Summary) -> Story:
    """The story of a request that nobody has taken yet."""
    request = Request(id=summary.run, text=summary.text, team=summary.team)
    return Story(run=summary.run, status="waiting", team=summary.team, began=summary.began, request=request)


def _status(progress: Progress) -> RunStatus:
    if progress.state.answer:
        return progress.state.answer.status
    if progress.proposed:
        return "review"
    return "running" if progress.state.plan else "planning"


def _revisions(state: RunState, record: list[Recorded]) -> tuple[Revision, ...]:
    reasons = {
        entry.message.plan.revision: entry.message.reasons for entry in record if isinstance(entry.message, Replanned)
    }
    return tuple(
        Revision(number=new.revision, reasons=reasons.get(new.revision, ()), changes=tuple(changes(old, new)))
        for old, new in pairwise(state.plans)
    )


def _task(task: TaskState, state: State | None, progress: Progress) -> TaskStory:
    result = task.result
    name = task.task.id
    took = result.usage.seconds if result and result.usage.seconds else progress.took_s(name)
    return TaskStory(
        id=name,
        worker=task.worker,
        status=state or "dropped",
        attempt=task.attempt,
        needs=task.task.depends_on,
        intent=task.intent,
        instance=result.instance if result else "",
        seconds=took if state in SETTLED else None,
        usage=result.usage if result else Usage(),
        tools=dict(progress.tools(name)),
        output=result.output if result else "",
        confidence=result.confidence if result else None,
        error=result.error if result else None,
        cause=task.cause,
    )


def tree_of(plan: Plan) -> list[tuple[int, str]]:
    """The tasks as a tree, by depth and id: each below one of those it needs, the deepest of them."""
    tasks = {task.id: task for task in plan.tasks}
    depth: dict[str, int] = {}
    below: dict[str, list[str]] = {"": []}
    stack = list(reversed(tasks))
    while stack:
        name = stack[-1]
        missing = [needed for needed in tasks[name].depends_on if needed not in depth]
        if missing:
            stack += missing
            continue
        stack.pop()
        if name not in depth:
            parent = max(tasks[name].depends_on, key=lambda needed: depth[needed], default="")
            depth[name] = depth[parent] + 1 if parent else 0
            below.setdefault(parent, []).append(name)
    drawn: list[tuple[int, str]] = []
    left = list(reversed(below[""]))
    while left:
        name = left.pop()
        drawn.append((depth[name], name))
        left += reversed(below.get(name, []))
    return drawn
