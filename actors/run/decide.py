"""What to do next: a pure function of the state of a run and the time.

A decision is data. Carrying it out ends in a message, and folding that message is what makes the decision go away; so
a run that is taken up again after a crash decides the same, and repeats nothing that was stored.
"""

import hashlib

import msgspec

from actors.run.answer import answer_of
from actors.run.plan_check import plan_faults, request_faults
from actors.run.state import RunState
from protocol.events import Cancelled, Event, Expired, Planned, PlanRejected, Retrying, Skipped
from protocol.messages import Answer, Context, Request, Task, Usage

BACKOFF_S = 0.5
BACKOFF_CEILING_S = 30.0


class Append(msgspec.Struct, frozen=True):
    """Write an Event that follows from the state alone."""

    event: Event


class Dispatch(msgspec.Struct, frozen=True):
    """Hand a task to its worker, with what it needs to know."""

    task: Task
    attempt: int
    context: tuple[Context, ...]


class CallPlanner(msgspec.Struct, frozen=True):
    """Ask the planner, telling it what was wrong so far."""

    faults: tuple[str, ...]


class CallSynthesizer(msgspec.Struct, frozen=True):
    """Ask the synthesizer for one text made of the results."""


class Finish(msgspec.Struct, frozen=True):
    """End the run."""

    answer: Answer


class WakeAt(msgspec.Struct, frozen=True):
    """Nothing more to do before that moment, unless a message comes."""

    time: float


Decision = Append | Dispatch | CallPlanner | CallSynthesizer | Finish | WakeAt


def decide(state: RunState, now: float) -> list[Decision]:
    """Everything that is due now, in the order in which it should be done."""
    if state.answer is not None or state.request is None:
        return []
    if state.cancel_asked and not state.cancelled:
        return [Append(Cancelled(reason=state.cancel_asked.reason))]
    if state.cancelled:
        return [Finish(answer_of(state, now))]
    if now >= state.deadline and not state.expired:
        return [Append(Expired(deadline=state.deadline))]
    wake: list[Decision] = [] if state.expired else [WakeAt(state.deadline)]
    if state.plan is None:
        return [_towards_a_plan(state, state.request, now), *wake]
    if state.open and not state.expired:
        return _work(state, now) + wake
    return [_towards_an_end(state, state.request, now), *wake]


def _towards_a_plan(state: RunState, request: Request, now: float) -> Decision:
    if state.expired:
        return Finish(answer_of(state, now))
    if faults := request_faults(request):
        return Append(PlanRejected(faults=tuple(faults))) if not state.rejections else Finish(answer_of(state, now))
    if request.plan is not None:
        if state.rejections:
            return Finish(answer_of(state, now))
        faults = plan_faults(request.plan, state.limits.request_tasks)
        return Append(PlanRejected(faults=tuple(faults)) if faults else Planned(plan=request.plan, usage=Usage()))
    if len(state.rejections) >= state.limits.plan_tries:
        return Finish(answer_of(state, now))
    return CallPlanner(state.rejections[-1].faults if state.rejections else ())


def _work(state: RunState, now: float) -> list[Decision]:
    decisions: list[Decision] = [
        # Only when all it waited for has come to its end: the cause then names them all, in whatever order they ended.
        Append(Skipped(task=name, cause=_cause(state, name)))
        for name in state.lost
        if not state.tasks[name].unmet
    ]
    for name in state.returned:
        attempt = state.tasks[name].attempt
        rest = now + backoff_s(f"{state.request and state.request.id}/{name}", attempt)
        decisions.append(Append(Retrying(task=name, attempt=attempt + 1, not_before=rest, reason=_reason(state, name))))
    decisions += [_dispatch(state, name) for name in state.ready]
    for name in state.resting:
        if state.tasks[name].not_before <= now:
            decisions.append(_dispatch(state, name))
        else:
            decisions.append(WakeAt(state.tasks[name].not_before))
    return decisions


def _towards_an_end(state: RunState, request: Request, now: float) -> Decision:
    something = any(task.status == "completed" for task in state.tasks.values())
    if request.synthesis and something and state.synthesis is None:
        return CallSynthesizer()
    return Finish(answer_of(state, now))


def _dispatch(state: RunState, name: str) -> Dispatch:
    task = state.tasks[name]
    return Dispatch(task.task, task.attempt, context_of(state, task.task))


def context_of(state: RunState, task: Task) -> tuple[Context, ...]:
    """The results of the tasks this one depends on, in the order of the plan's own list, and nothing else."""
    found: list[Context] = []
    for name in task.depends_on:
        needed = state.tasks[name]
        if needed.status == "completed" and needed.result:
            result = needed.result
            found.append(
                Context(
                    task=name,
                    worker=result.worker,
                    output=result.output,
                    confidence=result.confidence,
                    artifacts=result.artifacts,
                )
            )
    return tuple(found)


def backoff_s(key: str, attempt: int) -> float:
    """Exponential, with a jitter that is chance to everybody else and the same to whoever resumes the run."""
    jitter = int.from_bytes(hashlib.sha256(f"{key}/{attempt}".encode()).digest()[:4], "big") / 2**32
    return min(BACKOFF_CEILING_S, BACKOFF_S * 2 ** (attempt - 1)) * (0.5 + jitter)


def _cause(state: RunState, name: str) -> str:
    gone = [
        needed
        for needed in state.tasks[name].task.depends_on
        if state.tasks[needed].status in ("failed", "skipped") and needed not in state.tasks[name].task.optional
    ]
    return "needs " + ", ".join(f"{needed} ({state.tasks[needed].status})" for needed in gone)


def _reason(state: RunState, name: str) -> str:
    result = state.tasks[name].result
    return result.error.message if result and result.error else "failed"
