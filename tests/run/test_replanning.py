from run.folding import RUN, a_task, handed_out, result_of, running

from actors.run.answer import answer_of, joined
from actors.run.decide import decide
from actors.run.decisions import Append, CallReplanner, CallSynthesizer, Finish, WakeAt
from actors.run.state import RunState
from protocol.events import Expired, GaveUp, Replanned
from protocol.messages import Plan, Result, Usage


def found(state: RunState, name: str, finding: str) -> None:
    state.fold(Result(run=RUN, task=name, attempt=1, worker="w", status="completed", findings=(finding,)), 102.0)


def asked(state: RunState) -> list[CallReplanner]:
    return [decision for decision in decide(state, 103.0) if isinstance(decision, CallReplanner)]


def test_what_is_found_while_a_new_plan_is_made_asks_for_another() -> None:
    state = running(a_task("a"), a_task("b"), a_task("c", "a"))
    handed_out(state)
    found(state, "a", "it is no bug")
    (first,) = asked(state)
    found(state, "b", "the customer has left")
    plan = Plan(tasks=(a_task("a"), a_task("b"), a_task("d")), revision=2)
    state.fold(Replanned(plan=plan, reasons=first.reasons), 103.0)
    (second,) = asked(state)
    assert second.reasons == ("b (w) found: the customer has left",)


def test_a_plan_that_comes_after_the_deadline_is_paid_but_not_run() -> None:
    state = running(a_task("a"), a_task("b"), a_task("c", "a"))
    handed_out(state)
    found(state, "a", "it is no bug")
    (call,) = asked(state)
    state.fold(Expired(deadline=700.0), 700.0)
    plan = Plan(tasks=(a_task("a"), a_task("d")), revision=2)
    state.fold(Replanned(plan=plan, reasons=call.reasons, usage=Usage(output_tokens=9)), 701.0)
    assert [type(decision) for decision in decide(state, 701.0)] == [CallSynthesizer, WakeAt]
    answer = answer_of(state, 702.0)
    assert answer.spending["planner"].output_tokens == 9
    assert answer.gaps == (
        "b (w) was not finished before the deadline",
        "c (w) was not finished before the deadline",
    )


def test_after_the_deadline_a_synthesizer_that_says_nothing_is_not_waited_for() -> None:
    state = running(a_task("a"), a_task("b"))
    handed_out(state)
    state.fold(result_of("a", "<a>"), 102.0)
    state.fold(Expired(deadline=700.0), 705.0)
    call, wake = decide(state, 705.0)
    assert (call, wake) == (CallSynthesizer(), WakeAt(765.0))
    (given_up,) = [decision for decision in decide(state, 765.0) if isinstance(decision, Append)]
    state.fold(given_up.event, 765.0)
    (end,) = [decision for decision in decide(state, 765.0) if isinstance(decision, Finish)]
    assert (end.answer.status, end.answer.text) == ("partial", "<a>")
    assert "the results stand side by side: nobody put them together within 60 s" in end.answer.gaps


def test_a_result_is_shown_unless_it_went_into_one_that_is() -> None:
    state = running(a_task("a"), a_task("b", "a"), a_task("c", "b"), a_task("d"), a_task("e", "d"))
    for name in ("a", "b", "d", "e"):
        handed_out(state)
        state.fold(result_of(name, f"<{name}>"), 102.0)
    state.fold(GaveUp(task="c", reason="lost"), 103.0)
    assert "<d>" not in joined(state)
    assert all(f"<{name}>" in joined(state) for name in ("a", "b", "e"))


def test_a_result_is_shown_if_what_was_to_be_built_on_it_was_dropped() -> None:
    state = running(a_task("a"), a_task("b", "a"))
    handed_out(state)
    state.fold(result_of("a", "<a>"), 102.0)
    plan = Plan(tasks=(a_task("a"), a_task("c")), revision=2)
    state.fold(Replanned(plan=plan, reasons=("b is not needed",)), 103.0)
    handed_out(state)
    state.fold(result_of("c", "<c>"), 104.0)
    assert all(text in joined(state) for text in ("<a>", "<c>"))
