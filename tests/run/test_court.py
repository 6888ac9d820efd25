import msgspec
import pytest
from run.folding import RUN, a_task, followed, handed_out, result_of, running

from actors.run.answer import answer_of
from actors.run.decide import decide
from actors.run.decisions import CallJudge, Dispatch, Finish, WakeAt
from actors.run.react import View
from actors.run.state import RunState
from protocol.events import Judged, Judging, Synthesized
from protocol.messages import Contradiction, Fault, Result, Usage

JUDGE = View(alive=frozenset({"w", "judge"}))
DISPUTES = (Contradiction(tasks=("a", "b"), claim="41 or 42"), Contradiction(tasks=("a",), claim="north or south"))


def disputed(*names: str) -> RunState:
    state = running(*(a_task(name) for name in names or ("a", "b")))
    handed_out(state)
    for name in list(state.tasks):
        state.fold(result_of(name, f"{name} says so"), 102.0)
    state.fold(Synthesized(text="It is 41 or 42.", contradictions=DISPUTES, confidence=0.8), 103.0)
    return state


def verdict(output: str = "", data: object = None, fault: Fault | None = None) -> Result:
    return Result(
        run=RUN,
        task="verdict",
        attempt=1,
        worker="judge",
        status="failed" if fault else "completed",
        output=output,
        data=msgspec.Raw(msgspec.json.encode(data)),
        error=fault,
        usage=Usage(output_tokens=7),
    )


def test_a_worker_called_judge_decides_in_place_of_the_role() -> None:
    state = disputed()
    (judging,) = followed(state, view=JUDGE)
    assert isinstance(judging, Judging)
    (dispatch,) = handed_out(state, view=JUDGE)
    assert (dispatch.worker, dispatch.task.id) == ("judge", "verdict")
    assert "1. 41 or 42 (tasks: a, b)" in dispatch.intent
    assert [part.output for part in dispatch.context] == ["a says so", "b says so"]
    assert all(isinstance(d, WakeAt) for d in decide(state, 104.0, JUDGE)), "nothing to do but wait for it"
    state.fold(verdict("1: 42, it is newer\n2) north"), 104.0)
    (judged,) = followed(state, view=JUDGE)
    assert isinstance(judged, Judged)
    assert [c.resolution for c in judged.contradictions] == ["42, it is newer", "north"]
    answer = answer_of(state, 105.0)
    assert (answer.status, answer.gaps, answer.confidence) == ("complete", (), 0.8)
    assert "42, it is newer" in answer.text
    assert answer.spending["judge"].output_tokens == 7
    assert [type(d) for d in decide(state, 105.0, JUDGE)][:1] == [Finish]


def test_without_such_a_worker_or_while_it_is_shunned_the_role_is_asked() -> None:
    for view in (View(), View(alive=JUDGE.alive, shunned=frozenset({"judge"}))):
        assert isinstance(decide(disputed(), 103.0, view)[0], CallJudge)


@pytest.mark.parametrize(
    ("result", "resolutions"),
    [
        (verdict(data={"verdicts": [{"number": 2, "resolution": "south"}]}), ["", "south"]),
        (verdict("I cannot tell."), ["", ""]),
        (verdict("1: yes\n9: no such thing"), ["yes", ""]),
        (verdict("1: yes", fault=Fault(kind="x", message="broken", retryable=True)), ["", ""]),
        (verdict("**1**: the second"), ["the second", ""]),
    ],
)
def test_what_the_judge_leaves_open_stays_flagged(result: Result, resolutions: list[str]) -> None:
    state = disputed()
    followed(state, view=JUDGE)
    handed_out(state, view=JUDGE)
    state.fold(result, 104.0)
    (judged,) = followed(state, view=JUDGE)
    assert isinstance(judged, Judged)
    assert [c.resolution for c in judged.contradictions] == resolutions
    assert ("undecided" in answer_of(state, 105.0).text) == ("" in resolutions)


def test_the_task_of_the_judge_takes_no_id_of_the_plan() -> None:
    state = disputed("a", "b", "verdict", "verdict-2")
    (judging,) = followed(state, view=JUDGE)
    assert isinstance(judging, Judging)
    assert judging.task.id == "verdict-3"


def test_a_case_that_was_opened_goes_on_whoever_is_alive_later() -> None:
    state = disputed()
    followed(state, view=JUDGE)
    assert isinstance(decide(state, 104.0, View())[0], Dispatch), "a resumed run hands out the same task"


def test_a_result_of_the_judge_that_was_stored_before_the_case_is_kept_until_it_fits() -> None:
    state = disputed()
    state.fold(verdict("1: 42"), 103.0)
    (judging,) = followed(state, view=JUDGE)
    assert isinstance(judging, Judging)
    (judged,) = followed(state, view=JUDGE)
    assert isinstance(judged, Judged)


def test_at_the_deadline_nobody_waits_for_the_judge() -> None:
    state = disputed()
    followed(state, view=JUDGE)
    handed_out(state, view=JUDGE)
    followed(state, now=10_000.0)
    (finish,) = [d for d in decide(state, 10_000.0, JUDGE) if isinstance(d, Finish)]
    assert finish.answer.contradictions == DISPUTES
