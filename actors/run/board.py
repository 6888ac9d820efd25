"""The board: where each task of a run stands, and about which of them something is to be decided.

Each change costs what it touches, not the size of the plan: a fan-out of a thousand tasks is a thousand small steps.
"""

from collections.abc import Iterable
from typing import Literal

from protocol.messages import Budget, Handoff, Plan, Result, Task

Status = Literal["waiting", "ready", "handed", "returned", "resting", "completed", "failed", "skipped", "dropped"]
UNDER_WAY = frozenset({"ready", "resting", "handed"})
SETTLED = frozenset({"completed", "failed", "skipped", "dropped"})


class TaskState:
    """Where one task stands: who has it in which words, and what came of it.

    `earlier` has the intents and results of the attempts before this one.
    """

    __slots__ = (
        "attempt",
        "cause",
        "dependents",
        "earlier",
        "intent",
        "not_before",
        "reserved",
        "result",
        "status",
        "task",
        "tried",
        "unmet",
        "worker",
    )

    def __init__(self, task: Task) -> None:
        self.task = task
        self.worker = task.worker
        self.intent = task.intent
        self.earlier: tuple[tuple[str, Result], ...] = ()
        self.tried: tuple[str, ...] = ()
        self.status: Status = "waiting"
        self.attempt = 1
        self.unmet = len(task.depends_on)
        self.dependents: list[str] = []
        self.result: Result | None = None
        self.reserved = Budget()
        self.not_before = 0.0
        self.cause = ""


class Board:
    """All tasks. `ready`, `returned`, `lost` and `resting` hold the ids of those that wait for a decision.

    `unwanted` holds those that were dropped while a worker has them, until it says what it spent.
    """

    def __init__(self) -> None:
        self.tasks: dict[str, TaskState] = {}
        self.open = 0
        self.ready: dict[str, None] = {}
        self.returned: dict[str, None] = {}
        self.lost: dict[str, None] = {}
        self.resting: dict[str, None] = {}
        self.unwanted: dict[str, None] = {}

    def lay_out(self, plan: Plan) -> None:
        """Take a plan, or a new revision of it: what keeps its id keeps its state, the rest of the old is dropped."""
        wanted = {task.id for task in plan.tasks}
        for name in [name for name in self.tasks if name not in wanted]:
            self.drop(name)
        new = [self._add(task) for task in plan.tasks if task.id not in self.tasks]
        for state in new:
            for needed in state.task.depends_on:
                self.tasks[needed].dependents.append(state.task.id)
        for state in new:
            self._catch_up(state)

    def _add(self, task: Task) -> TaskState:
        state = self.tasks[task.id] = TaskState(task)
        self.open += 1
        return state

    def _catch_up(self, state: TaskState) -> None:
        """Some of what a new task needs may have come to its end before."""
        for needed in state.task.depends_on:
            before = self.tasks[needed]
            if before.status in SETTLED:
                state.unmet -= 1
                if before.status != "completed" and needed not in state.task.optional:
                    self.lost[state.task.id] = None
        if not state.unmet and state.task.id not in self.lost:
            self._make_ready(state)

    def drop(self, name: str) -> None:
        """A task that the plan no longer has; one that was completed stays for those who build on it."""
        state = self.tasks[name]
        if state.status == "completed":
            return
        if state.status not in SETTLED:
            self.open -= 1
        if state.status == "handed":
            self.unwanted[name] = None
        state.status = "dropped"
        self._forget(name)

    def is_early(self, message: Handoff | Result) -> bool:
        """Whether the event that explains this message is not known yet.

        That is so for an unknown task, attempt or worker, and for a task that still waits for another one.
        """
        state = self.tasks.get(message.task)
        if state is None or state.status in SETTLED:
            return state is None
        worker = message.to_agent if isinstance(message, Handoff) else message.worker
        unexplained = worker != state.worker or state.status == "waiting"
        return message.attempt > state.attempt or (message.attempt == state.attempt and unexplained)

    def hand_out(self, handoff: Handoff) -> None:
        """A task is with the worker that it is meant for."""
        name, state = handoff.task, self.tasks.get(handoff.task)
        if state is None or (handoff.to_agent, handoff.attempt) != (state.worker, state.attempt):
            return
        if state.status == "dropped" and not _reported(state):
            self.unwanted[name] = None
        if state.status not in ("ready", "resting"):
            return
        state.status = "handed"
        state.reserved = handoff.budget
        self.ready.pop(name, None)
        self.resting.pop(name, None)

    def take_back(self, result: Result) -> bool:
        """A result came; whether it counts: nobody speaks for another. What is not completed waits for a decision."""
        state = self.tasks.get(result.task)
        if state is None or state.status not in UNDER_WAY or not _is_from(state, result):
            return False
        self.ready.pop(result.task, None)
        self.resting.pop(result.task, None)
        state.result = result
        if result.status == "completed":
            self.settle(result.task, "completed")
        else:
            state.status = "returned"
            self.returned[result.task] = None
        return True

    def report(self, result: Result) -> bool:
        """A worker let go of a task that was dropped meanwhile; whether what it spent is news."""
        state = self.tasks.get(result.task)
        if state is None or result.task not in self.unwanted or not _is_from(state, result):
            return False
        del self.unwanted[result.task]
        state.result = result
        return True

    def try_again(self, name: str, attempt: int, not_before: float) -> TaskState | None:
        """A returned task will be handed out once more; None if that is no longer so."""
        state = self.tasks.get(name)
        if state is None or state.status != "returned" or attempt != state.attempt + 1:
            return None
        if state.result is not None:
            state.earlier = (*state.earlier, (state.intent, state.result))
        state.status = "resting"
        state.attempt = attempt
        state.not_before = not_before
        self.returned.pop(name, None)
        self.resting[name] = None
        return state

    def reroute(self, name: str, attempt: int, worker: str) -> None:
        """A task goes to another worker: after a failure as a new attempt, before its first as that one."""
        state = self.tasks.get(name)
        if state is None or worker in state.tried:
            return
        again = state.status == "returned" and attempt == state.attempt + 1
        first = state.status in ("ready", "resting") and attempt == state.attempt
        if again:
            self.try_again(name, attempt, 0.0)
        if again or first:
            state.tried = (*state.tried, state.worker)
            state.worker = worker

    def fail(self, name: str, cause: str) -> None:
        """A task failed for good."""
        state = self.tasks.get(name)
        if state is not None and state.status not in SETTLED:
            state.cause = cause
            self.settle(name, "failed")

    def skip(self, name: str, cause: str) -> None:
        """A task will not run."""
        state = self.tasks.get(name)
        if state is not None and state.status not in SETTLED and state.status != "handed":
            state.cause = cause
            self.settle(name, "skipped")

    def settle(self, name: str, status: Status) -> None:
        """A task has come to its end; what waited for it is ready, or lost with it."""
        state = self.tasks[name]
        state.status = status
        self.open -= 1
        self._forget(name)
        for follower in state.dependents:
            dependent = self.tasks[follower]
            if dependent.status != "waiting":
                continue
            if status != "completed" and name not in dependent.task.optional:
                self.lost[follower] = None
            dependent.unmet -= 1
            if dependent.unmet == 0 and follower not in self.lost:
                self._make_ready(dependent)

    def having(self, *statuses: Status) -> Iterable[TaskState]:
        """The tasks that stand so, in the order of the plan."""
        return (state for state in self.tasks.values() if state.status in statuses)

    def _make_ready(self, state: TaskState) -> None:
        state.status = "ready"
        self.ready[state.task.id] = None

    def _forget(self, name: str) -> None:
        for due in (self.ready, self.returned, self.lost, self.resting):
            due.pop(name, None)


def _is_from(state: TaskState, result: Result) -> bool:
    return (result.worker, result.attempt) == (state.worker, state.attempt)


def _reported(state: TaskState) -> bool:
    """Whether the attempt that is under way, or was, has come back."""
    return state.result is not None and state.result.attempt >= state.attempt
