"""Progress: what a person sees of a run while it goes on, as a fold over its record. Draws nothing itself."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from actors.record import Recorded
from actors.run.board import Status, TaskState
from actors.run.limits import Limits
from actors.run.state import RunState
from protocol import subjects
from protocol.events import Planned
from protocol.messages import Handoff, Result
from protocol.steps import ConfirmAsked, Confirmed, ModelCalled, Step, ToolCalled

State = Literal["waiting", "running", "retrying", "done", "failed", "skipped", "stopped"]

_STATES: dict[Status, State] = {
    "waiting": "waiting",
    "ready": "waiting",
    "handed": "running",
    "returned": "retrying",
    "resting": "retrying",
    "completed": "done",
    "failed": "failed",
    "skipped": "skipped",
}
SETTLED = frozenset[State]({"done", "failed", "skipped", "stopped"})


class Block(msgspec.Struct, frozen=True):
    """What is of interest in one block of a model's turn."""

    type: str = ""
    id: str = ""
    name: str = ""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One task, at one moment. `seconds` is None until it was handed out; `trouble` is why it failed or is skipped."""

    id: str
    worker: str
    intent: str
    state: State
    attempt: int
    seconds: float | None
    doing: str
    tools: int
    trouble: str = ""


@dataclass
class _Mark:
    """What is known of a task beside its state: when it was handed out, what it does, which tools it used."""

    heard_at: float = 0.0
    handed_at: float = 0.0
    took_s: float | None = None
    calls: dict[str, str] = field(default_factory=dict[str, str])
    thinking: bool = False
    tools: Counter[str] = field(default_factory=Counter[str])


class Progress:
    """Where a run stands. Moments (`now`) are those of a clock that never goes back."""

    def __init__(self, limits: Limits) -> None:
        self.state = RunState(limits)
        self._marks: dict[str, _Mark] = {}

    def take(self, entry: Recorded, now: float) -> None:
        """Take in one message of the record, seen at that moment."""
        self.state.fold(entry.message, entry.time, entry.seq)
        match entry.message:
            case Handoff(task=task):
                self._marks[task] = _Mark(heard_at=now, handed_at=entry.time, tools=self.tools(task))
            case Result(task=task):
                mark = self._marks.setdefault(task, _Mark(handed_at=entry.time))
                mark.took_s = max(0.0, entry.time - mark.handed_at)
                mark.calls.clear()
                mark.thinking = False
            case ModelCalled() | ToolCalled() | ConfirmAsked() | Confirmed():
                self._step(subjects.address_of(entry.subject).task, entry.message)
            case _:
                pass

    @property
    def proposed(self) -> Planned | None:
        """The plan that waits for a person; None once somebody has decided about it."""
        return self.state.under_review

    def rows(self, now: float) -> list[Row]:
        """The tasks in the order of the plan, without those that a revision has dropped."""
        rows: list[Row] = []
        for task in self.state.tasks.values():
            if task.status == "dropped":
                continue
            state = _STATES[task.status]
            if self.state.answer and state not in SETTLED:
                state = "stopped"
            mark = self._marks.get(task.task.id, _Mark())
            rows.append(
                Row(
                    id=task.task.id,
                    worker=task.worker,
                    intent=" ".join(task.intent.split()),
                    state=state,
                    attempt=task.attempt,
                    seconds=self._seconds(mark, state, now),
                    doing=_doing(mark) if state == "running" else "",
                    tools=mark.tools.total(),
                    trouble=_trouble(task, state),
                )
            )
        return rows

    def tools(self, task: str) -> Counter[str]:
        """Which tools were called for a task, and how often, over all attempts."""
        return self._marks[task].tools if task in self._marks else Counter()

    def took_s(self, task: str) -> float | None:
        """How long the last attempt took from handing out to its result."""
        return self._marks[task].took_s if task in self._marks else None

    def _step(self, task: str, step: Step) -> None:
        mark = self._marks.setdefault(task, _Mark())
        match step:
            case ModelCalled():
                mark.calls = {block.id: block.name for block in _blocks(step) if block.type == "tool_use"}
            case ToolCalled():
                mark.tools[step.tool] += 1
                mark.calls.pop(step.call, None)
            case ConfirmAsked():
                mark.calls.pop(step.call, None)  # in front: it is what a person should see
                mark.calls = {step.call: f"{step.tool}?"} | mark.calls
            case Confirmed():
                mark.calls[step.call] = step.tool
            case _:
                pass
        mark.thinking = not mark.calls

    def _seconds(self, mark: _Mark, state: State, now: float) -> float | None:
        if state == "running":
            return max(0.0, now - mark.heard_at)
        return mark.took_s


def _doing(mark: _Mark) -> str:
    if mark.calls:
        return next(iter(mark.calls.values()))
    return "thinking" if mark.thinking else ""


def _trouble(task: TaskState, state: State) -> str:
    if state == "retrying":
        error = task.result.error if task.result else None
        return " ".join(error.message.split()) if error else ""
    return " ".join(task.cause.split()) if state in ("failed", "skipped") else ""


def _blocks(step: ModelCalled) -> list[Block]:
    try:
        return msgspec.json.decode(step.content, type=list[Block])
    except msgspec.MsgspecError:
        return []
