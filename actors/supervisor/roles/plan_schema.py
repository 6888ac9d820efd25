"""The schema of a plan, the lines about the workers, and the plan that a reply contains."""

from collections.abc import Sequence
from typing import Any

import msgspec

from actors.model.structured import same_name
from actors.supervisor.roles.role import Workers
from actors.supervisor.roles.schema import Schema, choice, many, structure, text, texts
from protocol.messages import Card, Plan

MOST_NAMES = 50
"""Up to so many workers stand in the schema by name: each new list of names costs the provider a compilation."""

STRATEGIES = {
    "merge": "The results complement each other: merge them.",
    "select": "The results are several attempts at the same thing: choose the best one, say which and why, and use it.",
    "reduce": "The results are long: say what they come to, and leave out what does not serve the request.",
}


def plan_schema(workers: Sequence[str]) -> Schema:
    """What a plan must look like; the worker of a task is one of those alive, if these are not too many."""
    known = "The name of one of the workers in <workers>."
    task = structure(
        {
            "id": text("A short name of the task: letters, digits, _ and -, at most 32 characters, none used twice."),
            "worker": choice(workers, known) if 0 < len(workers) <= MOST_NAMES else text(known),
            "intent": text("What the worker has to do, complete in itself and specific."),
            "success": text("How another person can tell that the task is done."),
            "depends_on": texts("The ids of the tasks whose results this task needs; empty if it needs none."),
            "optional": texts("Those ids of depends_on without whose result the task is still worth doing."),
        }
    )
    return structure(
        {
            "goal": text("What the whole plan is to achieve, in one sentence."),
            "tasks": many(task, "The tasks; empty only if no worker can do what is asked."),
            "strategy": choice(
                STRATEGIES,
                "How the results become one answer. merge: they complement each other. select: they attempt the same, "
                "the best one counts. reduce: they are longer than one reading can hold.",
            ),
            "instruction": text("What the writer of the answer should pay attention to; may be empty."),
            "rationale": text("Why these tasks, in one or two sentences."),
            "cannot": text("Why no worker can do what is asked; empty if there are tasks."),
        },
        title="plan",
    )


def worker_line(name: str, cards: Sequence[Card]) -> str:
    """One line about a kind of worker: what it is good for, its tools, and how busy it is."""
    card = cards[0]
    tools = f" [tools: {', '.join(card.tools)}]" if card.tools else ""
    busy, room = sum(c.inflight for c in cards), sum(c.capacity for c in cards)
    slow = "; a person: takes minutes where others take seconds" if card.person else ""
    return f"{name}: {' '.join(card.summary.split())}{tools} (busy {busy}/{room}{slow})"


def worker_lines(workers: Workers) -> str:
    """The workers alive, a line each. It changes with their load, so it stands in the user message."""
    lines = "\n".join(worker_line(name, cards) for name, cards in workers.items())
    return f"<workers>\n{lines}\n</workers>"


def read_plan(found: dict[str, Any], workers: Sequence[str]) -> Plan | str:
    """The plan in a reply, or what is wrong with its form. A worker's name may come back in other capitals."""
    try:
        plan = msgspec.convert({**found, "revision": 1}, Plan)
    except msgspec.ValidationError as error:
        return f"the plan does not fit its schema: {error}"
    tasks = tuple(msgspec.structs.replace(task, worker=same_name(task.worker, workers)) for task in plan.tasks)
    return msgspec.structs.replace(plan, tasks=tasks)


def cannot(found: dict[str, Any]) -> str:
    """Why no worker can do what is asked, if the planner says so."""
    reason = found.get("cannot")
    return reason.strip() if isinstance(reason, str) and not found.get("tasks") else ""
