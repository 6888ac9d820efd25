"""What becomes of a task that a new revision of the plan no longer has."""

import pytest
from run.folding import RUN, a_task, handed_out, result_of, running

from actors.run.answer import answer_of
from actors.run.revision import revised
from actors.run.state import RunState
from protocol.events import Replanned
from protocol.messages import Fault, Handoff, Plan, Result, Task, Usage


def dropped() -> RunState:
    state = running(a_task("a"), a_task("slow"))
    handed_out(state)
    state.fold(Replanned(plan=Plan(tasks=(a_task("a"),), revision=2), reasons=("x",)), 102.0)
    return state


def told() -> Result:
    fault = Fault(kind="cancelled", message="no longer wanted")
    usage = Usage(output_tokens=50)
    return Result(run=RUN, task="slow", attempt=1, worker="w", status="failed", error=fault, usage=usage)


def test_a_task_that_is_dropped_while_it_is_out_is_unwanted_until_it_reports() -> None:
    state = dropped()
    assert list(state.board.unwanted) == ["slow"]
    state.fold(told(), 103.0)
    assert list(state.board.unwanted) == []
    assert state.spending["w"].output_tokens == 50
    assert state.tasks["slow"].status == "dropped"


def test_what_it_spent_is_counted_once_and_its_result_is_no_part_of_the_answer() -> None:
    state = dropped()
    for _ in range(2):
        state.fold(told(), 103.0)
    state.fold(result_of("a", "A"), 103.0)
    answer = answer_of(state, 104.0)
    assert (answer.status, answer.gaps, answer.text) == ("complete", (), "A")
    assert answer.usage.output_tokens == 50


def test_a_handoff_that_was_stored_after_the_new_plan_is_unwanted_too() -> None:
    state = running(a_task("a"), a_task("slow"))
    state.fold(Replanned(plan=Plan(tasks=(a_task("a"),), revision=2), reasons=("x",)), 102.0)
    late = Handoff(run=RUN, task="slow", attempt=1, from_agent="s", to_agent="w", intent="x")
    state.fold(late, 102.0)
    assert list(state.board.unwanted) == ["slow"]
    state.fold(told(), 103.0)
    state.fold(late, 104.0)
    assert list(state.board.unwanted) == []


def test_a_dropped_task_that_a_later_plan_wants_again_is_a_new_one() -> None:
    state = dropped()
    plan, faults = revised(state, Plan(tasks=(a_task("a"), a_task("slow"), a_task("last", "slow"))))
    assert faults == []
    assert [task.id for task in plan.tasks] == ["a", "slow-r3", "last"]
    assert plan.tasks[2].depends_on == ("slow-r3",)
    state.fold(Replanned(plan=plan, reasons=("y",)), 103.0)
    assert [d.task.id for d in handed_out(state)] == ["slow-r3"]


def test_what_was_dropped_after_it_came_to_nothing_is_not_handed_out_again() -> None:
    state = running(a_task("a"), a_task("b"))
    handed_out(state)
    state.fold(result_of("b", "not mine", status="declined"), 102.0)
    state.fold(Replanned(plan=Plan(tasks=(a_task("a"),), revision=2), reasons=("x",)), 102.0)
    _, faults = revised(state, Plan(tasks=(a_task("a"), a_task("b"))))
    assert faults == ["task 'b-r3' repeats 'b', which came to nothing: ask for something else"]


@pytest.mark.parametrize("revision", [1, 3])
def test_a_revision_out_of_turn_drops_nothing(revision: int) -> None:
    state = running(a_task("a"), a_task("slow"))
    handed_out(state)
    state.fold(Replanned(plan=Plan(tasks=(a_task("a"),), revision=revision), reasons=("x",)), 102.0)
    assert not state.board.unwanted


def test_a_task_that_builds_on_a_changed_one_is_changed_with_it_and_waits_for_nobody_else() -> None:
    state = running(a_task("a"), a_task("b", "a"), a_task("c", "b"), a_task("d"))
    handed_out(state)
    changed = Task(id="a", worker="w", intent="do a in another way")
    plan, faults = revised(state, Plan(tasks=(changed, a_task("b", "a"), a_task("c", "b"), a_task("d"))))
    assert faults == []
    assert [(task.id, task.depends_on) for task in plan.tasks] == [
        ("a-r2", ()),
        ("b-r2", ("a-r2",)),
        ("c-r2", ("b-r2",)),
        ("d", ()),
    ]
    state.fold(Replanned(plan=plan, reasons=("x",)), 102.0)
    for name in ("a-r2", "b-r2", "c-r2"):
        assert [d.task.id for d in handed_out(state)] == [name]
        state.fold(result_of(name, "done"), 103.0)
