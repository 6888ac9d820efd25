import pytest

from actors.run.answer import answer_of, joined
from actors.run.decide import backoff_s, decide
from actors.run.decisions import (
    Append,
    CallCondenser,
    CallJudge,
    CallPlanner,
    CallRefiner,
    CallReplanner,
    CallSynthesizer,
    Dispatch,
    Finish,
)
from actors.run.limits import Limits
from actors.run.react import View
from actors.run.reading import to_read
from actors.run.state import RunState
from protocol.controls import Approve, Edit, Reject
from protocol.events import (
    Approved,
    Condensed,
    Event,
    GaveUp,
    Judged,
    Planned,
    PlanRejected,
    Refined,
    ReplanFailed,
    Replanned,
    Rerouted,
    Retrying,
    Skipped,
    Started,
    Synthesized,
    Waiting,
)
from protocol.messages import DEADLINE, Budget, Contradiction, Fault, Handoff, Plan, Request, Result, Task, Usage

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
        handoff = Handoff(
            run=RUN, task=d.task.id, attempt=d.attempt, from_agent="s", to_agent=d.worker, intent="x", budget=d.budget
        )
        state.fold(handoff, 101.0)
    return [d.task.id for d in due]


def give_back(state: RunState, name: str, error: Fault | None = None, output: str = "", seconds: float = 1.0) -> None:
    state.fold(
        Result(
            run=RUN,
            task=name,
            attempt=state.tasks[name].attempt,
            worker=state.tasks[name].worker,
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


BUSY = Fault(kind="busy", message="busy", retryable=True, refinable=False)
WRONG = Fault(kind="wrong", message="no such column", retryable=True)
HOPELESS = Fault(kind="usage", message="no such thing")


def follow(state: RunState, now: float = 103.0, view: View | None = None) -> list[Event]:
    """Fold everything that follows from the state alone, and say what it was."""
    events = [d.event for d in decide(state, now, view or View()) if isinstance(d, Append)]
    for event in events:
        state.fold(event, now)
    return events


def test_a_fault_that_may_pass_is_retried_after_a_rest_and_no_more_than_allowed() -> None:
    state = running(task("a"))
    for attempt in (1, 2):
        assert hand_out(state) == ["a"]
        give_back(state, "a", BUSY)
        (retry,) = follow(state)
        assert isinstance(retry, Retrying)
        assert retry.attempt == attempt + 1
        assert retry.not_before > 103.0
        assert hand_out(state) == [], "it rests first"
        state.tasks["a"].not_before = 0.0
    hand_out(state)
    give_back(state, "a", BUSY)
    assert follow(state) == [GaveUp(task="a", reason="busy")]
    assert state.tasks["a"].status == "failed"


def test_a_fault_that_other_words_may_cure_is_refined() -> None:
    state = running(task("a"))
    hand_out(state)
    give_back(state, "a", WRONG)
    (refine,) = [d for d in decide(state, 103.0) if isinstance(d, CallRefiner)]
    state.fold(
        Refined(task="a", attempt=2, intent="do it by month", not_before=refine.not_before, reason="no such column"),
        103.0,
    )
    (dispatch,) = [d for d in decide(state, refine.not_before) if isinstance(d, Dispatch)]
    assert (dispatch.attempt, dispatch.intent) == (2, "do it by month")


def test_a_run_that_may_ask_no_model_retries_in_the_same_words() -> None:
    state = running(task("a"), synthesis=False)
    hand_out(state)
    give_back(state, "a", WRONG)
    assert isinstance(follow(state)[0], Retrying)


def test_a_fault_that_cannot_pass_is_not_retried() -> None:
    state = running(task("a"))
    hand_out(state)
    give_back(state, "a", HOPELESS)
    assert follow(state) == [GaveUp(task="a", reason="no such thing")]
    assert "no such thing" in answer_of(state, 103.0).gaps[0]


@pytest.mark.parametrize(("fault", "attempts"), [(HOPELESS, 1), (BUSY, 2)])
def test_the_last_try_goes_to_the_fallback(fault: Fault, attempts: int) -> None:
    state = running(task("a"))
    view = View(fallbacks={"w-a": "stand-in"})
    for attempt in range(1, attempts + 1):
        hand_out(state)
        give_back(state, "a", fault)
        (event,) = follow(state, view=view)
        state.tasks["a"].not_before = 0.0
        if attempt == attempts:
            assert event == Rerouted(task="a", attempt=attempts + 1, worker="stand-in", reason=fault.message)
    (dispatch,) = [d for d in decide(state, 104.0, view) if isinstance(d, Dispatch)]
    assert dispatch.worker == "stand-in"


def test_a_worker_that_is_shunned_is_passed_over_where_somebody_else_can_do_it() -> None:
    state = running(task("a"), task("b"))
    view = View(fallbacks={"w-a": "stand-in"}, shunned=frozenset({"w-a", "w-b"}))
    assert follow(state, view=view) == [
        Rerouted(task="a", attempt=1, worker="stand-in", reason="w-a has failed too often lately")
    ]
    assert [d.worker for d in decide(state, 103.0, view) if isinstance(d, Dispatch)] == ["stand-in", "w-b"]


def decline(state: RunState, name: str) -> None:
    state.fold(
        Result(run=RUN, task=name, attempt=1, worker=f"w-{name}", status="declined", output="it is a config issue"),
        102.0,
    )


def test_a_declined_task_asks_for_a_new_plan_that_keeps_what_is_done() -> None:
    state = running(task("a"), task("b"), task("c", "b"))
    hand_out(state)
    give_back(state, "a", output="done")
    decline(state, "b")
    (call,) = [d for d in decide(state, 103.0) if isinstance(d, CallReplanner)]
    assert "it is a config issue" in call.reasons[0]
    new = Plan(tasks=(task("a"), task("ops")), revision=2)
    state.fold(Replanned(plan=new, reasons=call.reasons), 103.0)
    assert hand_out(state) == ["ops"]
    give_back(state, "ops", output="fixed")
    answer = answer_of(state, 104.0)
    assert (answer.status, answer.gaps, answer.revisions) == ("complete", (), 2)


def test_without_a_new_plan_the_declined_task_is_given_up() -> None:
    state = running(task("a"), task("b"))
    hand_out(state)
    decline(state, "a")
    state.fold(ReplanFailed(reasons=("declined",), faults=("no idea",)), 103.0)
    assert follow(state) == [GaveUp(task="a", reason="declined: it is a config issue")]


def test_findings_that_break_the_plan_ask_for_a_new_one() -> None:
    state = running(task("a"), task("b", "a"))
    hand_out(state)
    state.fold(
        Result(run=RUN, task="a", attempt=1, worker="w-a", status="completed", findings=("it is no bug",)), 102.0
    )
    decisions = decide(state, 103.0)
    assert any(isinstance(d, CallReplanner) and "it is no bug" in d.reasons[0] for d in decisions)
    assert not any(isinstance(d, Dispatch) for d in decisions), "nothing new starts on a broken premise"


def test_revisions_are_bounded() -> None:
    state = running(task("a"))
    for revision in (2, 3):
        hand_out(state)
        decline(state, next(iter(state.board.returned or {f"r{revision - 1}" if revision > 2 else "a": None})))
        assert any(isinstance(d, CallReplanner) for d in decide(state, 103.0))
        state.fold(Replanned(plan=Plan(tasks=(task(f"r{revision}"),), revision=revision), reasons=("x",)), 103.0)
    hand_out(state)
    decline(state, "r3")
    assert not any(isinstance(d, CallReplanner) for d in decide(state, 103.0))
    assert isinstance(follow(state)[0], GaveUp)


def reviewed() -> RunState:
    state = started(Request(id=RUN, text="t", review=True))
    state.fold(Planned(plan=Plan(tasks=(task("a"),))), 100.0)
    follow(state)
    return state


def test_a_plan_under_review_waits_for_a_person() -> None:
    state = reviewed()
    assert not any(isinstance(d, Dispatch | CallPlanner) for d in decide(state, 103.0))
    assert any("waits for approval" in reason for reason in state.waits)
    state.fold(Approve(), 103.0)
    assert follow(state) == [Approved(control=1)]
    assert hand_out(state) == ["a"]


def test_a_refused_plan_is_planned_anew_with_the_comment() -> None:
    state = reviewed()
    state.fold(Reject(comment="ask legal first"), 103.0)
    follow(state)
    (call,) = [d for d in decide(state, 103.0) if isinstance(d, CallPlanner)]
    assert "ask legal first" in call.faults[0]
    state.fold(Planned(plan=Plan(tasks=(task("b"),))), 104.0)
    follow(state)
    state.fold(Approve(), 105.0)
    follow(state)
    assert hand_out(state) == ["b"]


def test_an_edited_plan_is_checked_before_it_runs() -> None:
    state = reviewed()
    state.fold(Edit(plan=Plan(tasks=(task("x", "y"),))), 103.0)
    (waiting,) = follow(state)
    assert isinstance(waiting, Waiting)
    assert "not in the plan" in waiting.reason
    state.fold(Edit(plan=Plan(tasks=(task("x"),))), 103.0)
    assert isinstance(follow(state)[0], Approved)
    assert hand_out(state) == ["x"]


def test_shares_of_a_budget_never_add_up_to_more_than_there_is() -> None:
    plan = Plan(tasks=tuple(task(f"t{n}") for n in range(3)))
    state = started(Request(id=RUN, text="t", plan=plan, budget=Budget(tokens=900)))
    state.fold(Planned(plan=plan), 100.0)
    shares = 0
    for _ in range(3):
        dispatch = next(d for d in decide(state, 101.0) if isinstance(d, Dispatch))
        shares += dispatch.budget.tokens or 0
        state.fold(
            Handoff(
                run=RUN,
                task=dispatch.task.id,
                attempt=1,
                from_agent="s",
                to_agent=dispatch.worker,
                intent="x",
                budget=dispatch.budget,
            ),
            101.0,
        )
    assert shares == 900


def test_when_the_budget_is_spent_the_rest_is_left_undone_and_said() -> None:
    plan = Plan(tasks=(task("a"), task("b", "a")))
    state = started(Request(id=RUN, text="t", plan=plan, budget=Budget(tokens=100)))
    state.fold(Planned(plan=plan), 100.0)
    hand_out(state)
    state.fold(
        Result(
            run=RUN, task="a", attempt=1, worker="w-a", status="completed", output="x", usage=Usage(output_tokens=150)
        ),
        102.0,
    )
    assert follow(state) == [Skipped(task="b", cause="the budget of the run is spent (tokens)")]


def test_open_contradictions_go_to_the_judge_and_stay_visible() -> None:
    state = running(task("a"), task("b"))
    hand_out(state)
    give_back(state, "a", output="41")
    give_back(state, "b", output="42")
    dispute = Contradiction(tasks=("a", "b"), claim="41 or 42")
    state.fold(Synthesized(text="It is 41 or 42.", contradictions=(dispute,), confidence=0.8), 103.0)
    assert any(isinstance(d, CallJudge) for d in decide(state, 103.0))
    settled = Contradiction(tasks=("a", "b"), claim="41 or 42", resolution="42: the newer source")
    state.fold(Judged(contradictions=(settled,)), 104.0)
    (finish,) = [d for d in decide(state, 104.0) if isinstance(d, Finish)]
    assert finish.answer.contradictions == (settled,)
    assert "42: the newer source" in finish.answer.text
    assert finish.answer.confidence == 0.8


def test_gaps_that_need_more_work_lead_to_one_more_round_and_no_more() -> None:
    state = running(task("a"))
    hand_out(state)
    give_back(state, "a", output="x")
    state.fold(Synthesized(text="half", more=("the price",)), 103.0)
    assert any(isinstance(d, CallReplanner) for d in decide(state, 103.0))
    state.fold(Replanned(plan=Plan(tasks=(task("a"), task("p")), revision=2), reasons=("more",)), 103.0)
    assert hand_out(state) == ["p"]
    give_back(state, "p", output="9")
    assert any(isinstance(d, CallSynthesizer) for d in decide(state, 104.0))
    state.fold(Synthesized(text="whole", more=("the colour",)), 104.0)
    (finish,) = [d for d in decide(state, 105.0) if isinstance(d, Finish)]
    assert (finish.answer.status, finish.answer.gaps) == ("partial", ("the colour",))


def test_results_too_long_for_one_reading_are_condensed_first() -> None:
    state = RunState(Limits(reading=100))
    plan = Plan(tasks=(task("a"), task("b"), task("c")))
    state.fold(Started(epoch=1, supervisor="s", request=Request(id=RUN, text="t", plan=plan)), 100.0)
    state.fold(Planned(plan=plan), 100.0)
    hand_out(state)
    for name in "abc":
        give_back(state, name, output=name * 80)
    for _ in range(6):
        calls = [d for d in decide(state, 103.0) if isinstance(d, CallCondenser)]
        for call in calls:
            state.fold(Condensed(key=call.key, text="short"), 103.0)
        if not calls:
            break
    assert any(isinstance(d, CallSynthesizer) for d in decide(state, 103.0))
    assert sum(len(result.output) for result in to_read(state)) <= 100


def test_what_depended_on_a_lost_task_is_skipped_and_only_that() -> None:
    state = running(
        task("t1"), task("t2"), task("t3", "t1"), task("t4", "t2"), task("t5", "t3", "t4", optional=("t3",))
    )
    hand_out(state)
    give_back(state, "t1", Fault(kind="x", message="gone"))
    follow(state)
    assert follow(state) == [Skipped(task="t3", cause="needs t1 (failed)")]
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


def test_a_word_about_a_tool_is_no_word_about_the_plan() -> None:
    state = RunState(Limits())
    state.fold(Started(epoch=1, supervisor="s", request=Request(id="a" * 32, text="x", review=True)), 1.0)
    state.fold(Planned(plan=Plan(tasks=(Task(id="a", worker="w", intent="i"),))), 1.0)
    for control in (Approve(task="a", call="c"), Reject(task="a", call="c", comment="no")):
        state.fold(control, 2.0)
    assert state.review.controls == []
    state.fold(Approve(), 3.0)
    assert state.review.controls == [Approve()]


def test_a_task_past_its_deadline_is_neither_retried_nor_rerouted() -> None:
    state = running(task("a"), synthesis=False)
    hand_out(state)
    give_back(state, "a", error=Fault(kind=DEADLINE, message="late", retryable=True))
    (decision,) = [d for d in decide(state, 103.0, View(fallbacks={"w-a": "other"})) if isinstance(d, Append)]
    assert decision.event == GaveUp(task="a", reason="late")
    state.fold(decision.event, 103.0)
    assert answer_of(state, 103.0).gaps == ("a (w-a) was not finished before the deadline",)
