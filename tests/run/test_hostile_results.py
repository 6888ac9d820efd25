"""Whatever a worker writes, a run goes on: no word of it stops the supervisor, or counts for somebody else."""

from time import process_time

import pytest
from run.folding import RUN, a_task, begun, followed, handed_out, result_of, running
from run.test_court import JUDGE, disputed, verdict

from actors.run import purse
from actors.run.answer import answer_of
from actors.run.decide import decide
from actors.run.decisions import CallReplanner
from protocol.events import GaveUp, Judged, Planned, Rerouted
from protocol.messages import Budget, Handoff, Plan, Request, Result, Task, Usage


@pytest.mark.parametrize("words", ["\n" * 200_000, "1:" + " " * 200_000, "9" * 5000 + ": yes", "1" + ")" * 200_000])
def test_no_words_of_a_judge_hold_up_or_break_the_run(words: str) -> None:
    state = disputed()
    followed(state, view=JUDGE)
    handed_out(state, view=JUDGE)
    state.fold(verdict(words), 104.0)
    began = process_time()
    (judged,) = followed(state, view=JUDGE)
    assert process_time() - began < 2
    assert isinstance(judged, Judged)
    assert [c.resolution for c in judged.contradictions] == ["", ""]


def test_verdicts_are_read_through_marks_and_bullets() -> None:
    state = disputed()
    followed(state, view=JUDGE)
    handed_out(state, view=JUDGE)
    state.fold(verdict("Verdicts:\n- **1**: the first, it is newer\n  2. **north**, by the map"), 104.0)
    (judged,) = followed(state, view=JUDGE)
    assert isinstance(judged, Judged)
    assert [c.resolution for c in judged.contradictions] == ["the first, it is newer", "north**, by the map"]


def test_nobody_speaks_for_another_worker() -> None:
    state = running(a_task("a"), a_task("b", worker="other"))
    handed_out(state)
    state.fold(result_of("b", "forged"), 102.0)
    assert state.tasks["b"].status == "handed"
    state.fold(Result(run=RUN, task="b", attempt=1, worker="other", status="completed", output="own"), 103.0)
    assert state.tasks["b"].status == "completed"
    assert "other" in state.spending
    assert "w" not in state.spending


def test_the_handoff_and_result_of_a_stand_in_may_be_stored_before_the_word_that_it_stands_in() -> None:
    state = running(a_task("a"))
    handoff = Handoff(run=RUN, task="a", attempt=1, from_agent="s", to_agent="other", intent="x")
    state.fold(handoff, 101.0)
    state.fold(Result(run=RUN, task="a", attempt=1, worker="other", status="completed", output="done"), 102.0)
    assert state.tasks["a"].status == "ready"
    state.fold(Rerouted(task="a", attempt=1, worker="other", reason="w has failed too often lately"), 103.0)
    assert state.tasks["a"].status == "completed"


@pytest.mark.parametrize(("said", "shown"), [(70.0, 1.0), (-3.0, 0.0), (0.25, 0.25)])
def test_confidence_stays_between_nothing_and_all(said: float, shown: float) -> None:
    state = running(a_task("a"))
    handed_out(state)
    state.fold(Result(run=RUN, task="a", attempt=1, worker="w", status="completed", confidence=said), 102.0)
    assert answer_of(state, 103.0).confidence == shown


def test_endless_findings_become_a_reason_that_fits_into_a_message() -> None:
    state = running(a_task("a"), a_task("b", "a"))
    handed_out(state)
    found = ("y" * 200_000,)
    state.fold(Result(run=RUN, task="a", attempt=1, worker="w", status="completed", findings=found), 102.0)
    (call,) = [decision for decision in decide(state, 103.0) if isinstance(decision, CallReplanner)]
    assert sum(map(len, call.reasons)) < 5000


def test_a_price_that_is_not_known_does_not_hide_what_others_spent() -> None:
    plan = Plan(tasks=(a_task("a"), a_task("b", worker="local"), a_task("c")))
    state = begun(Request(id=RUN, text="t", plan=plan, budget=Budget(usd=1.0)))
    state.fold(Planned(plan=plan), 100.0)
    handed_out(state)
    for name, worker, usd in (("a", "w", 0.3), ("b", "local", None)):
        result = Result(run=RUN, task=name, attempt=1, worker=worker, status="completed", usage=Usage(usd=usd))
        state.fold(result, 102.0)
    assert state.spent.usd is None, "the whole is not known"
    left = purse.left(state).usd
    assert left is not None
    assert left + (state.tasks["c"].reserved.usd or 0.0) == pytest.approx(0.7)


def test_the_handoff_and_result_of_a_task_may_be_stored_before_the_event_that_makes_it_ready() -> None:
    tasks = (
        Task(id="a", worker="w", intent="x"),
        Task(id="b", worker="w", intent="x", depends_on=("a",), optional=("a",)),
    )
    state = running(*tasks)
    handed_out(state)
    state.fold(result_of("a", status="failed"), 101.0)
    state.fold(Handoff(run=RUN, task="b", attempt=1, from_agent="s", to_agent="w", intent="x"), 102.0)
    state.fold(result_of("b", "done"), 103.0)
    state.fold(GaveUp(task="a", reason="broken"), 104.0)
    assert state.tasks["b"].status == "completed"
