"""Which tasks are not worth waiting for, because the circuit breaker of their worker is open."""

from actors.run.board import TaskState
from actors.run.react import View, fallback_of
from actors.run.state import RunState


def stuck_tasks(state: RunState, view: View) -> frozenset[str]:
    """The tasks of open-circuited workers that are given up instead of waiting for a probe of their worker.

    A task is given up if the probe comes after the deadline. It is also given up if nothing else of the run is under
    way and there is a result to answer with. Else it waits: a run of one task has nothing to answer with.
    """
    board = state.board
    open_tasks = [board.tasks[name] for name in (*board.ready, *board.resting)]
    blocked = [task for task in open_tasks if _is_blocked(task, view)]
    busy = len(blocked) < len(open_tasks) or bool(board.returned) or any(True for _ in board.having("handed"))
    alone = not busy and any(True for _ in board.having("completed"))
    return frozenset(task.task.id for task in blocked if alone or view.probe_at.get(task.worker, 0.0) >= state.deadline)


def _is_blocked(task: TaskState, view: View) -> bool:
    return task.worker in view.shunned and fallback_of(task, view) is None
