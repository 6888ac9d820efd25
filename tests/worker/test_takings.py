"""How often a task was lost, from its steps alone."""

import msgspec
import pytest

from actors.worker.moves import CallTools, next_move
from actors.worker.takings import losses, losses_if_taken, losses_since_progress
from protocol.steps import Begun, GivenBack, ModelCalled, Step, Taken, ToolCalled

TAKEN, BACK = Taken(instance="i"), GivenBack(instance="i", reason="the process stops")
TURN = ModelCalled(
    model="m",
    content=msgspec.Raw(
        b'[{"type":"tool_use","id":"a","name":"say","input":{}},{"type":"tool_use","id":"b","name":"say","input":{}}]'
    ),
    stop_reason="tool_use",
)
BEGUN = Begun(system="You work.", prompt=msgspec.Raw(b'"task"'))
CALLED = ToolCalled(call="a", tool="say", output="x")


@pytest.mark.parametrize(
    ("steps", "lost"),
    [
        ([], 0),
        ([TAKEN], 1),
        ([TAKEN, TAKEN], 2),
        ([BACK, TAKEN], 0),
        ([BACK, TAKEN, BACK, TAKEN], 0),
        ([BACK, TAKEN, TAKEN], 1),
        ([TAKEN, BACK, TAKEN], 1),
        ([TURN, BACK, TAKEN, CALLED, TAKEN], 1),
        ([BACK, TAKEN] * 11, 0),
    ],
)
def test_a_loss_is_a_taking_that_follows_another_with_no_mark_between(steps: list[Step], lost: int) -> None:
    assert losses(steps) == lost


def test_the_next_taking_counts_as_a_loss_unless_the_task_was_given_back() -> None:
    assert losses_if_taken([], "i") == 1
    assert losses_if_taken([TAKEN], "i") == 2
    assert losses_if_taken([TAKEN, BACK], "i") == 1
    assert losses_if_taken([BACK], "i") == 0


@pytest.mark.parametrize(
    ("steps", "lost"),
    [
        ([], 0),
        ([TAKEN, TURN], 0),
        ([TURN, TAKEN, TAKEN], 2),
        ([TURN, TAKEN, CALLED, TAKEN], 1),
        ([TURN, BACK, TAKEN, BACK, TAKEN], 0),
        ([TURN, TAKEN, BACK, TAKEN], 1),
        ([TAKEN, TAKEN, TURN, BACK, TAKEN], 0),
    ],
)
def test_losses_are_counted_from_the_last_step_that_got_further(steps: list[Step], lost: int) -> None:
    assert losses_since_progress(steps) == lost


def test_calls_are_made_one_at_a_time_after_a_loss_and_together_after_a_return() -> None:
    lost, returned = next_move(BEGUN, [TURN, TAKEN]), next_move(BEGUN, [TURN, BACK, TAKEN])
    assert isinstance(lost, CallTools)
    assert isinstance(returned, CallTools)
    assert [use["id"] for use in lost.uses] == ["a"]
    assert [use["id"] for use in returned.uses] == ["a", "b"]
