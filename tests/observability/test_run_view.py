"""A run arranged for a reader: which tasks there are, what became of them, and what they cost."""

from big_runs import RUN as BIG
from big_runs import BigRun
from hypothesis import given
from hypothesis import strategies as st
from run_records import RUN, Tape, called, eventful, plan, turn

from actors.record import Recorded
from observability.run_view import RunView, view_of
from protocol.events import GaveUp, Planned, Skipped
from protocol.messages import Fault


def seen(tape: Tape) -> RunView:
    view = view_of(RUN, tape.entries)
    assert view is not None
    return view


def standing(tape: Tape) -> dict[str, str]:
    return {task.id: task.status for task in seen(tape).tasks}


def test_nothing_gives_no_view() -> None:
    assert view_of(RUN, list[Recorded]()) is None


def test_a_task_waits_runs_and_is_completed() -> None:
    tape = Tape().start().log(Planned(plan=plan("a")))
    assert standing(tape) == {"a": "waiting"}
    assert standing(tape.hand("a")) == {"a": "running"}
    assert standing(tape.result("a")) == {"a": "completed"}
    assert standing(tape.finish()) == {"a": "completed"}


def test_a_task_that_failed_is_running_until_it_is_given_up() -> None:
    fault = Fault(kind="broken", message="no", retryable=True)
    tape = Tape().start().log(Planned(plan=plan("a", "b", "c"))).hand("a").result("a", error=fault)
    assert standing(tape) == {"a": "running", "b": "waiting", "c": "waiting"}
    tape.log(GaveUp(task="a", reason="no"), Skipped(task="b", cause="needs a"))
    assert standing(tape) == {"a": "failed", "b": "skipped", "c": "waiting"}
    assert standing(tape.finish("partial")) == {"a": "failed", "b": "skipped", "c": "unfinished"}
    assert [task.error for task in seen(tape).tasks] == ["no", "needs a", ""]


def test_a_task_that_a_new_plan_leaves_out_is_dropped_and_stays_to_be_seen() -> None:
    view = seen(eventful())
    assert [(task.id, task.dropped) for task in view.tasks] == [("a", False), ("b", True), ("c", True), ("d", False)]
    assert [len(task.tries) for task in view.tasks] == [1, 4, 1, 1]
    assert [span.name for span in view.tasks[1].again] == ["refine", "reroute", "retry"]


def test_what_an_unfinished_task_cost_so_far_is_told() -> None:
    tape = Tape().start().log(Planned(plan=plan("a"))).hand("a").step("a", turn(("u1", "look_up")), called("u1"))
    (task,) = seen(tape).tasks
    assert (task.usage.tokens, task.usage.usd) == (15, 0.01)
    assert seen(tape).usage.tokens == 15


def test_every_call_stands_beside_what_was_said_in_it() -> None:
    view = view_of(BIG, BigRun(60).play())
    assert view is not None
    calls = [call for task in view.tasks for one in task.tries for ex in one.executions for call in ex.calls]
    assert len(calls) > 100
    assert {(call.span.name.split()[0], type(call.step).__name__) for call in calls} == {
        ("chat", "ModelCalled"),
        ("execute_tool", "ToolCalled"),
    }


@given(st.integers(1, len(eventful().entries)), st.sets(st.integers(2, len(eventful().entries))))
def test_a_record_that_is_cut_off_or_has_holes_can_be_seen(length: int, missing: set[int]) -> None:
    entries = [entry for entry in eventful().entries[:length] if entry.seq not in missing]
    view = view_of(RUN, entries)
    assert view is not None
    assert view.client.start_ns <= view.root.start_ns
