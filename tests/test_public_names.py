"""What `from actors import ...` offers to a program of one's own."""

import actors
from actors import Plan, Task


def test_every_public_name_is_there() -> None:
    assert [name for name in actors.__all__ if getattr(actors, name, None) is None] == []


def test_a_plan_is_made_of_public_names_alone() -> None:
    plan = Plan(tasks=(Task(id="count", worker="storekeeper", intent="Count the bolts in stock"),))
    assert [task.worker for task in plan.tasks] == ["storekeeper"]
