"""What is wrong with a request or a plan, all of it at once, before anything runs."""

from collections.abc import Collection, Sequence

import msgspec

from actors.run.vagueness import vagueness
from protocol.ids import RUN_RULE, is_run_id, token_fault
from protocol.messages import Budget, Plan, Request, Task

LEAST_TOKENS = 500
"""A task that spends less than this cannot even be read by a model."""

MOST, LONGEST = 100, 600


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """The workers that a plan may name, and those that exist but may not be named: their circuit breaker is open."""

    workers: Collection[str]
    shunned: Collection[str] = ()


def few(sentences: Sequence[str]) -> list[str]:
    """As many, and as long, as a message can hold and a person will read."""
    short = [one if len(one) <= LONGEST else one[:LONGEST] + " …" for one in sentences[:MOST]]
    return short + ([f"and {len(sentences) - MOST} more"] if len(sentences) > MOST else [])


def request_faults(request: Request) -> list[str]:
    """Why this request cannot be acted on."""
    faults: list[str] = []
    if request.id and not is_run_id(request.id):
        faults.append(f"id {request.id[:64]!r} is not a valid run id: use {RUN_RULE}, or leave it out")
    if not request.text.strip() and request.plan is None:
        faults.append("the request has neither a text nor a plan: say what you want in `text`")
    if request.deadline_s is not None and not request.deadline_s > 0:
        faults.append("deadline_s must be above 0")
    return faults


def plan_faults(
    plan: Plan, most_tasks: int, workers: Collection[str] | None = None, shunned: Collection[str] = ()
) -> list[str]:
    """Why this plan must not run; with `workers`, also which tasks are for workers that cannot be had."""
    if not plan.tasks:
        return ["the plan has no tasks"]
    faults: list[str] = []
    if len(plan.tasks) > most_tasks:
        faults.append(f"the plan has {len(plan.tasks)} tasks; at most {most_tasks} are allowed")
    faults += _id_faults(plan.tasks)
    faults += _dependency_faults(plan.tasks)
    if workers is not None:
        faults += unknown_workers(plan, workers, shunned)
    for circle in find_cycles(plan.tasks):
        faults.append("the tasks wait for each other in a circle: " + " → ".join(circle))
    return few(faults)


def planner_faults(plan: Plan, most_tasks: int, known: Known, budget: Budget, kept: Collection[str] = ()) -> list[str]:
    """Why a planner's plan must not run: all of the above, and what only a planner can be held to.

    The words of tasks that are `kept` from a plan before are not the planner's: perhaps a client wrote them.
    """
    faults = plan_faults(plan, most_tasks, known.workers, known.shunned)
    for task in plan.tasks:
        if task.id in kept:
            continue
        if not task.success.strip():
            faults.append(f"task {task.id!r} has no success criterion")
        if task.intent.strip() and (why := vagueness(task.intent)):
            faults.append(f"task {task.id!r} is vague ({task.intent.strip()[:60]!r}): {why}")
    if budget.steps is not None and len(plan.tasks) + 1 > budget.steps:
        faults.append(f"{len(plan.tasks)} tasks and a synthesis are over the budget of {budget.steps} steps")
    if budget.tokens is not None and len(plan.tasks) * LEAST_TOKENS > budget.tokens:
        faults.append(f"{len(plan.tasks)} tasks are over the budget of {budget.tokens:,} tokens")
    return faults


def named(plan: Plan) -> set[str]:
    """Every worker that a plan names, be it for when another cannot."""
    return {task.worker for task in plan.tasks} | {task.fallback for task in plan.tasks if task.fallback is not None}


def unknown_workers(plan: Plan, workers: Collection[str], shunned: Collection[str] = ()) -> list[str]:
    """Which tasks name a worker that does not exist, or one in `shunned`, whose circuit breaker is open."""
    known = ", ".join(sorted(set(workers))) or "none"
    resting = "has failed too often lately and gets no tasks for a while (its circuit breaker is open)"
    faults: list[str] = []
    for task in plan.tasks:
        if task.worker not in workers:
            why = f"which {resting}; available" if task.worker in shunned else "and there is no such worker (known"
            end = "" if task.worker in shunned else ")"
            faults.append(f"task {task.id!r} is for {task.worker!r}, {why}: {known}{end}")
        if task.fallback is not None and task.fallback not in workers:
            why = f"which {resting}" if task.fallback in shunned else "and there is no such worker"
            faults.append(f"task {task.id!r} has the fallback {task.fallback!r}, {why}")
    return few(faults)


def _id_faults(tasks: Sequence[Task]) -> list[str]:
    faults: list[str] = []
    seen: set[str] = set()
    for task in tasks:
        faults += [fault for fault in (token_fault("task", task.id), token_fault("worker", task.worker)) if fault]
        if task.id in seen:
            faults.append(f"task id {task.id!r} is used twice")
        seen.add(task.id)
        if not task.intent.strip():
            faults.append(f"task {task.id!r} has no intent")
    return faults


def _dependency_faults(tasks: Sequence[Task]) -> list[str]:
    ids = {task.id for task in tasks}
    faults: list[str] = []
    for task in tasks:
        if task.id in task.depends_on:
            faults.append(f"task {task.id!r} depends on itself")
        if len(set(task.depends_on)) != len(task.depends_on):
            faults.append(f"task {task.id!r} names a dependency twice")
        faults += [
            f"task {task.id!r} depends on {n!r}, which is not in the plan" for n in task.depends_on if n not in ids
        ]
        faults += [
            f"task {task.id!r} has {n!r} as optional, but does not depend on it"
            for n in task.optional
            if n not in task.depends_on
        ]
    return faults


def find_cycles(tasks: Sequence[Task]) -> list[list[str]]:
    """Circles of tasks that wait for each other, first and last the same. No task is in two of them; at most MOST.

    A task that waits for itself or for what is not there is another fault, and is told by itself.
    """
    ids = {task.id for task in tasks}
    needs = {task.id: [name for name in task.depends_on if name in ids and name != task.id] for task in tasks}
    found: list[list[str]] = []
    _drop_free(needs, [name for name, needed in needs.items() if not needed])
    while needs and len(found) < MOST:
        found.append(circle := _circle(needs))
        _drop_free(needs, circle[:-1])
    return found


def _drop_free(needs: dict[str, list[str]], free: list[str]) -> None:
    """Take these tasks out, and then each task that waits for nothing any more."""
    dependents: dict[str, list[str]] = {name: [] for name in needs}
    for name, needed in needs.items():
        for before in needed:
            dependents[before].append(name)
    left = {name: len(needed) for name, needed in needs.items()}
    gone: set[str] = set()
    while free:
        if (name := free.pop()) in gone:
            continue
        gone.add(name)
        for dependent in dependents[name]:
            left[dependent] -= 1
            if not left[dependent]:
                free.append(dependent)
    for name in gone:
        del needs[name]
    for name, needed in needs.items():
        needs[name] = [before for before in needed if before not in gone]


def _circle(needs: dict[str, list[str]]) -> list[str]:
    """A circle of tasks, each of which needs at least one of the others."""
    path: dict[str, None] = {}
    step = next(iter(needs))
    while step not in path:
        path[step] = None
        step = needs[step][0]
    names = list(path)
    return [*names[names.index(step) :], step]
