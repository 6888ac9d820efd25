import pytest

from actors.run.answer import answer_of, joined
from actors.run.decide import Append, CallPlanner, CallSynthesizer, Dispatch, Finish, backoff_s, decide
from actors.run.state import Limits, RunState
from protocol.events import Planned, PlanRejected, Retrying, Skipped, Started
from protocol.messages import Fault, Handoff, Plan, Request, Result, Task, Usage

RUN = "b" * 32


def task(name: str, *needs: str, optional: tuple[str, ...] = ()) -> Task:
    return Task(id=name, worker=f"w-{name}", intent="do it", depends_on=needs, optional=optional)


def started(request: Request, limits: Limits | None = None) -> RunState:
    state = RunState(limits or Limits())
    state.fold(Started(epoch=1, supervisor="s", request=request), 100.0)
    return state


def running(*tasks: Task, synthesis: bool = True) -> RunState:
    plan = Plan(tasks=tasks)
    state = started(Request(id=RUN, text="t", plan=plan, synthesis=synthesis))
    state.fold(Planned(plan=plan), 100.0)
    return state


def hand_out(state: RunState) -> list[str]:
    due = [decision for decision in decide(state, 101.0) if isinstance(decision, Dispatch)]
    for d in due:
        state.fold(Handoff(run=RUN, task=d.task.id, attempt=d.attempt, from_agent="s", to_agent="w", intent="x"), 101.0)
    return [d.task.id for d in due]


def give_back(state: RunState, name: str, error: Fault | None = None, output: str = "", seconds: float = 1.0) -> None:
    state.fold(
        Result(
            run=RUN,
            task=name,
            attempt=state.tasks[name].attempt,
            worker="w",
            status="failed" if error else "completed",
            output=output,
            error=error,
            usage=Usage(seconds=seconds),
        ),
        102.0,
    )


def test_without_a_plan_the_planner_is_asked() -> None:
    state = started(Request(id=RUN, text="hi"))
    assert decide(state, 100.0)[0] == CallPlanner(())


def test_the_planner_hears_what_was_wrong_with_its_last_plan() -> None:
    state = started(Request(id=RUN, text="hi"))
    state.fold(PlanRejected(faults=("a circle",)), 100.0)
    assert decide(state, 100.0)[0] == CallPlanner(("a circle",))


def test_after_enough_bad_plans_the_run_fails_with_the_reasons() -> None:
    state = started(Request(id=RUN, text="hi"), Limits(plan_tries=2))
    for _ in range(2):
        state.fold(PlanRejected(faults=("a circle",)), 100.0)
    (finish,) = [d for d in decide(state, 100.0) if isinstance(d, Finish)]
    assert finish.answer.status == "failed"
    assert "a circle" in finish.answer.text


@pytest.mark.parametrize(
    ("request_", "fault"),
    [
        (Request(id=RUN, text="  "), "neither a text nor a plan"),
        (Request(id=RUN, plan=Plan(tasks=())), "no tasks"),
        (Request(id=RUN, plan=Plan(tasks=(task("a", "b"), task("b", "a")))), "circle"),
        (Request(id=RUN, text="x", deadline_s=-1.0), "deadline_s"),
    ],
)
def test_a_request_that_cannot_run_fails_with_the_reason(request_: Request, fault: str) -> None:
    state = started(request_)
    (rejected,) = [d for d in decide(state, 99.0) if isinstance(d, Append)]
    assert isinstance(rejected.event, PlanRejected)
    state.fold(rejected.event, 100.0)
    (finish,) = [d for d in decide(state, 99.0) if isinstance(d, Finish)]
    assert finish.answer.status == "failed"
    assert fault in finish.answer.text


def test_a_task_starts_the_moment_its_own_inputs_are_there() -> None:
    state = running(task("a"), task("slow"), task("b", "a"), task("c", "b", "slow"))
    assert hand_out(state) == ["a", "slow"]
    give_back(state, "a")
    assert hand_out(state) == ["b"], "b does not wait for the unrelated slow task"
    give_back(state, "b")
    assert hand_out(state) == []
    give_back(state, "slow")
    assert hand_out(state) == ["c"]


def test_an_empty_output_is_a_success() -> None:
    state = running(task("a"), synthesis=False)
    hand_out(state)
    give_back(state, "a", output="")
    (finish,) = [d for d in decide(state, 103.0) if isinstance(d, Finish)]
    assert finish.answer.status == "complete"


def test_a_fault_that_may_pass_is_retried_after_a_rest_and_no_more_than_allowed() -> None:
    state = running(task("a"))
    for attempt in (1, 2):
        assert hand_out(state) == ["a"]
        give_back(state, "a", Fault(kind="busy", message="busy", retryable=True))
        (retry,) = [d.event for d in decide(state, 103.0) if isinstance(d, Append)]
        assert isinstance(retry, Retrying)
        assert retry.attempt == attempt + 1
        assert retry.not_before > 103.0
        state.fold(retry, 103.0)
        assert hand_out(state) == [], "it rests first"
        state.tasks["a"].not_before = 0.0
    hand_out(state)
    give_back(state, "a", Fault(kind="busy", message="busy", retryable=True))
    assert state.tasks["a"].status == "failed"


def test_a_fault_that_cannot_pass_is_not_retried() -> None:
    state = running(task("a"))
    hand_out(state)
    give_back(state, "a", Fault(kind="usage", message="no such thing", retryable=False))
    assert state.tasks["a"].status == "failed"
    assert "no such thing" in answer_of(state, 103.0).gaps[0]


def test_what_depended_on_a_lost_task_is_skipped_and_only_that() -> None:
    state = running(
        task("t1"), task("t2"), task("t3", "t1"), task("t4", "t2"), task("t5", "t3", "t4", optional=("t3",))
    )
    hand_out(state)
    give_back(state, "t1", Fault(kind="x", message="gone"))
    (skip,) = [d.event for d in decide(state, 103.0) if isinstance(d, Append)]
    assert skip == Skipped(task="t3", cause="needs t1 (failed)")
    state.fold(skip, 103.0)
    give_back(state, "t2", output="two")
    assert hand_out(state) == ["t4"]
    give_back(state, "t4", output="four")
    (dispatch,) = [d for d in decide(state, 104.0) if isinstance(d, Dispatch)]
    assert dispatch.task.id == "t5"
    assert [part.task for part in dispatch.context] == ["t4"], "it runs with what there is"


def test_results_become_one_text_by_the_synthesizer_unless_the_request_says_no() -> None:
    for synthesis, expected in ((True, CallSynthesizer), (False, Finish)):
        state = running(task("a"), synthesis=synthesis)
        hand_out(state)
        give_back(state, "a", output="x")
        assert isinstance(decide(state, 103.0)[0], expected)


def test_results_as_they_are_means_those_that_nothing_was_built_on() -> None:
    state = running(task("a"), task("b", "a"), synthesis=False)
    hand_out(state)
    give_back(state, "a", output="draft")
    hand_out(state)
    give_back(state, "b", output="final")
    assert joined(state) == "final"


def test_the_speed_up_is_sequential_over_wall_time_and_the_critical_path_the_longest_chain() -> None:
    state = running(task("a"), task("b"), task("c", "a"))
    hand_out(state)
    give_back(state, "a", seconds=2.0)
    give_back(state, "b", seconds=3.0)
    hand_out(state)
    give_back(state, "c", seconds=2.0)
    timing = answer_of(state, 105.0).timing
    assert (timing.wall_s, timing.sequential_s, timing.critical_path_s, timing.speedup) == (5.0, 7.0, 4.0, 1.4)


def test_the_rest_before_a_retry_grows_and_is_the_same_for_whoever_resumes() -> None:
    rests = [backoff_s("run/t", attempt) for attempt in (1, 2, 3)]
    assert rests == [backoff_s("run/t", attempt) for attempt in (1, 2, 3)]
    assert 0.25 <= rests[0] <= 0.75
    assert rests[0] < rests[2]
    assert backoff_s("run/t", 50) <= 45
