"""What `from actors import ...` offers to a program of one's own."""

import pytest

import actors
import protocol.errors
from actors import Plan, Task


def test_every_public_name_is_there() -> None:
    assert [name for name in actors.__all__ if getattr(actors, name, None) is None] == []


def test_a_plan_is_made_of_public_names_alone() -> None:
    plan = Plan(tasks=(Task(id="count", worker="storekeeper", intent="Count the bolts in stock"),))
    assert [task.worker for task in plan.tasks] == ["storekeeper"]


def test_the_public_names_are_listed_and_a_misspelled_one_is_an_attribute_error() -> None:
    assert set(actors.__all__) <= set(dir(actors))
    with pytest.raises(AttributeError, match="Wroker"):
        actors.Wroker  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


@pytest.mark.parametrize(
    "name", ["Client", "Run", "Answer", "Plan", "Task", "Worker", "Outcome", "Handoff", "Result", "tool"]
)
def test_what_a_program_needs_comes_from_one_place(name: str) -> None:
    assert name in actors.__all__


def test_every_error_comes_from_the_same_place() -> None:
    errors = {name for name in vars(protocol.errors) if name.endswith("Error")}
    assert errors <= set(actors.__all__)
