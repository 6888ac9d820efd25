"""The state of a run: a fold over its messages, in the order in which they were stored.

What always holds: a message that was folded before, comes late, or speaks of something unknown changes nothing. Each
fold costs what it changes, not the size of the plan: a fan-out of a thousand tasks is a thousand small steps.
"""

from typing import Literal

import msgspec

from protocol.controls import Cancel, Control
from protocol.events import (
    Cancelled,
    Event,
    Expired,
    Finished,
    Planned,
    PlanRejected,
    Retrying,
    Skipped,
    Started,
    Synthesized,
    Waiting,
)
from protocol.messages import Answer, Handoff, Plan, Request, Result, Task, Usage
from protocol.steps import Step

Status = Literal["waiting", "ready", "handed", "returned", "resting", "completed", "failed", "skipped"]
SETTLED = frozenset({"completed", "failed", "skipped"})


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a run may do, however the models behave."""

    attempts: int = 3
    plan_tries: int = 3
    deadline_s: float = 600.0
    planner_tasks: int = 32
    request_tasks: int = 1000
    depth: int = 3


class TaskState:
    """Where one task of the plan stands."""

    __slots__ = ("attempt", "cause", "dependents", "not_before", "result", "status", "task", "unmet")

    def __init__(self, task: Task) -> None:
        self.task = task
        self.status: Status = "waiting"
        self.attempt = 1
        self.unmet = len(task.depends_on)
        self.dependents: list[str] = []
        self.result: Result | None = None
        self.not_before = 0.0
        self.cause = ""


class RunState:
    """Everything that is known of a run, and what is due because of it.

    `ready`, `returned`, `lost` and `resting` hold the ids of tasks about which something is to be decided.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.request: Request | None = None
        self.epoch = 0
        self.started_at = 0.0
        self.plan: Plan | None = None
        self.rejections: list[PlanRejected] = []
        self.waits: set[str] = set()
        self.tasks: dict[str, TaskState] = {}
        self.open = 0
        self.ready: dict[str, None] = {}
        self.returned: dict[str, None] = {}
        self.lost: dict[str, None] = {}
        self.resting: dict[str, None] = {}
        self.cancel_asked: Cancel | None = None
        self.cancelled: Cancelled | None = None
        self.expired: Expired | None = None
        self.synthesis: Synthesized | None = None
        self.answer: Answer | None = None
        self.spent = Usage()

    @property
    def deadline(self) -> float:
        """The moment (Unix time) after which only what is there counts."""
        own = self.request.deadline_s if self.request else None
        return self.started_at + (own if own is not None and own > 0 else self.limits.deadline_s)

    @property
    def handed(self) -> list[TaskState]:
        """The tasks that are with a worker."""
        return [task for task in self.tasks.values() if task.status == "handed"]

    def fold(self, message: Event | Handoff | Result | Control | Step, at: float) -> None:
        """Take in one message that was stored at that moment."""
        match message:
            case Result():
                self._result(message)
            case Handoff():
                self._handoff(message)
            case Started():
                self._started(message, at)
            case Planned():
                self._planned(message)
            case PlanRejected():
                self.rejections.append(message)
                self.spent += message.usage
            case Waiting():
                self.waits.add(message.reason)
            case Retrying():
                self._retrying(message)
            case Skipped():
                self._skipped(message)
            case Cancelled():
                self.cancelled = self.cancelled or message
            case Expired():
                self.expired = self.expired or message
            case Synthesized():
                self._synthesized(message)
            case Finished():
                self.answer = self.answer or message.answer
            case Cancel():
                self.cancel_asked = self.cancel_asked or message
            case _:
                pass  # steps are the worker's own affair; some controls ask for nothing at this stage

    def _started(self, message: Started, at: float) -> None:
        if self.request is None:
            self.request = message.request
            self.started_at = at
        self.epoch = max(self.epoch, message.epoch)

    def _planned(self, message: Planned) -> None:
        if self.plan is not None:
            return
        self.plan = message.plan
        self.spent += message.usage
        self.tasks = {task.id: TaskState(task) for task in message.plan.tasks}
        self.open = len(self.tasks)
        for state in self.tasks.values():
            for needed in state.task.depends_on:
                self.tasks[needed].dependents.append(state.task.id)
            if not state.unmet:
                self._make_ready(state)

    def _handoff(self, message: Handoff) -> None:
        state = self.tasks.get(message.task)
        if state is None or state.status not in ("ready", "resting") or message.attempt != state.attempt:
            return
        state.status = "handed"
        self.ready.pop(message.task, None)
        self.resting.pop(message.task, None)

    def _result(self, message: Result) -> None:
        state = self.tasks.get(message.task)
        if state is None or state.status != "handed" or message.attempt != state.attempt:
            return
        self.spent += message.usage
        state.result = message
        if message.status == "completed":
            self._settle(state, "completed")
        elif self._may_retry(state, message):
            state.status = "returned"
            self.returned[message.task] = None
        else:
            state.cause = message.error.message if message.error else message.output or message.status
            self._settle(state, "failed")

    def _may_retry(self, state: TaskState, result: Result) -> bool:
        again = result.status == "failed" and (result.error is None or result.error.retryable)
        return again and state.attempt < self.limits.attempts

    def _retrying(self, message: Retrying) -> None:
        state = self.tasks.get(message.task)
        if state is None or state.status != "returned" or message.attempt != state.attempt + 1:
            return
        state.status = "resting"
        state.attempt = message.attempt
        state.not_before = message.not_before
        self.returned.pop(message.task, None)
        self.resting[message.task] = None

    def _skipped(self, message: Skipped) -> None:
        state = self.tasks.get(message.task)
        if state is None or state.status in SETTLED:
            return
        state.cause = message.cause
        self._settle(state, "skipped")

    def _synthesized(self, message: Synthesized) -> None:
        if self.synthesis is None:
            self.synthesis = message
            self.spent += message.usage

    def _settle(self, state: TaskState, status: Status) -> None:
        """A task has come to its end; what waited for it is ready, or lost with it."""
        state.status = status
        self.open -= 1
        for due in (self.ready, self.returned, self.lost, self.resting):
            due.pop(state.task.id, None)
        for name in state.dependents:
            dependent = self.tasks[name]
            if dependent.status != "waiting":
                continue
            if status != "completed" and state.task.id not in dependent.task.optional:
                self.lost[name] = None
            dependent.unmet -= 1
            if dependent.unmet == 0 and name not in self.lost:
                self._make_ready(dependent)

    def _make_ready(self, state: TaskState) -> None:
        state.status = "ready"
        self.ready[state.task.id] = None
