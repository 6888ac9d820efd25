"""Revisions: a new plan that keeps what is done, never uses an id for other content, and does not go in circles."""

import msgspec

from actors.run.board import TaskState
from actors.run.state import RunState
from protocol.messages import Plan, Task


def revised(state: RunState, plan: Plan) -> tuple[Plan, list[str]]:
    """The plan as the next revision of what is being run, and what is wrong with it.

    A changed task gets a new id; a finished task that something builds on is kept even if the plan forgot it.
    """
    number = state.revision + 1
    renamed = _new_names(state, plan, number)
    tasks = [_renamed(task, renamed) for task in plan.tasks]
    listed = {task.id for task in tasks}
    kept = {name for task in tasks for name in task.depends_on} - listed
    tasks = [state.tasks[name].task for name in state.tasks if name in kept and _is_done(state, name)] + tasks
    new = msgspec.structs.replace(plan, tasks=tuple(tasks), revision=number)
    return new, [fault for task in tasks if task.id not in state.tasks and (fault := _repeats(state, task))]


def changes(old: Plan, new: Plan) -> list[str]:
    """What a revision changes, a line each."""
    before, after = {task.id: task for task in old.tasks}, {task.id: task for task in new.tasks}
    lines = [f"- {task.id} ({task.worker}): {task.intent}" for task in old.tasks if task.id not in after]
    lines += [f"+ {task.id} ({task.worker}): {task.intent}" for task in new.tasks if task.id not in before]
    return lines + [f"= {name}" for name in before if name in after]


def _new_names(state: RunState, plan: Plan, number: int) -> dict[str, str]:
    """The id of each task: its own, or a new one if it is changed, or builds on one that is."""
    names = {task.id: task.id if _may_keep_id(state, task) else _fresh_id(state, task, number) for task in plan.tasks}
    for _ in plan.tasks:  # one round for each step of the longest chain, and then some
        moved = [t for t in plan.tasks if names[t.id] == t.id and _builds_on_changed(state, t, names)]
        if not moved:
            break
        names |= {task.id: _fresh_id(state, task, number) for task in moved}
    return names


def _may_keep_id(state: RunState, task: Task) -> bool:
    known = state.tasks.get(task.id)
    if known is None:
        return True
    # What was dropped does not come back to life: it would be a new task with an old handoff.
    same = _same(known.task, task) and known.status != "dropped"
    return same or (known.status == "completed" and known.task.worker == task.worker)


def _builds_on_changed(state: RunState, task: Task, names: dict[str, str]) -> bool:
    known = state.tasks.get(task.id)
    changed = any(names.get(needed, needed) != needed for needed in task.depends_on)
    return changed and known is not None and known.status != "completed"


def _fresh_id(state: RunState, task: Task, number: int) -> str:
    suffix = f"-r{number}"
    name = task.id[: 32 - len(suffix)] + suffix
    return name if name not in state.tasks else f"{task.id[:24]}-{number}-{len(state.tasks)}"[:32]


def _renamed(task: Task, names: dict[str, str]) -> Task:
    return msgspec.structs.replace(
        task,
        id=names[task.id],
        depends_on=tuple(names.get(name, name) for name in task.depends_on),
        optional=tuple(names.get(name, name) for name in task.optional),
    )


def _is_done(state: RunState, name: str) -> bool:
    return state.tasks[name].status == "completed"


def _repeats(state: RunState, task: Task) -> str | None:
    """The same worker, the same words and the same inputs lead to the same end: such work is not handed out again."""
    for known in state.tasks.values():
        if _key(known.task) == _key(task) or _key_now(known) == _key(task):
            if known.status == "completed":
                return f"task {task.id!r} repeats {known.task.id!r}, which is done: keep that id"
            tried = known.status == "dropped" and known.result is not None
            if tried or known.status in ("failed", "skipped", "returned"):
                return f"task {task.id!r} repeats {known.task.id!r}, which came to nothing: ask for something else"
    return None


def _same(one: Task, other: Task) -> bool:
    return _key(one) == _key(other) and set(one.optional) == set(other.optional)


def _key(task: Task) -> tuple[str, str, frozenset[str]]:
    return task.worker, " ".join(task.intent.lower().split()), frozenset(task.depends_on)


def _key_now(known: TaskState) -> tuple[str, str, frozenset[str]]:
    return known.worker, " ".join(known.intent.lower().split()), frozenset(known.task.depends_on)
