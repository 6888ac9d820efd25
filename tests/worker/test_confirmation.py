"""What a person's word means for a call that waits: every combination of what is stored."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.worker.confirmation import Question, Said, answered, denial, standing, unanswered
from protocol.controls import Approve, Cancel, Control, Reject
from protocol.steps import ConfirmAsked, Confirmed, ModelCalled, Step, Taken, ToolCalled

ASKED = ConfirmAsked(call="c1", tool="send", arguments=msgspec.Raw(b"{}"), deadline=100.0)
QUESTION = Question(task="t", seq=10, asked=ASKED)
YES = Confirmed(call="c1", tool="send", granted=True, by="ada")
NO = Confirmed(call="c1", tool="send", granted=False, by="ada", comment="too early")
REJECT = Reject(task="t", call="c1", by="ada", comment="too early")
TURN = ModelCalled(model="m", content=msgspec.Raw(b"[]"), stop_reason="tool_use")


def said(control: Control, seq: int = 11, time: float = 99.0) -> Said:
    return Said(seq=seq, time=time, control=control)


@pytest.mark.parametrize(
    ("heard", "outcome"),
    [
        ([], None),
        ([said(Approve(task="t", call="c1", by="ada"))], YES),
        ([said(Approve(task="t", call="c1", asked=10, by="ada"))], YES),
        ([said(Reject(task="t", call="c1", by="ada", comment=" too\nearly "))], NO),
        (
            [said(Reject(task="t", call="c1", by="ada", comment="too early")), said(Approve(task="t", call="c1"), 12)],
            NO,
        ),
        ([said(Approve(task="t", call="c1", by="ada"), time=100.0)], YES),
        ([said(Approve(task="t", call="c1", by="ada"), time=100.01)], None),
        ([said(Approve(task="t", call="c1"), seq=9)], None),
        ([said(Approve(task="t", call="c1", asked=9))], None),
        ([said(Approve(task="t", call="c2"))], None),
        ([said(Approve(task="u", call="c1"))], None),
        ([said(Approve())], None),
        ([said(Reject(comment="plan anew"))], None),
        ([said(Cancel())], None),
    ],
)
def test_the_first_word_about_this_call_behind_the_question_and_in_time_counts(
    heard: list[Said], outcome: Confirmed | None
) -> None:
    assert answered(QUESTION, heard) == outcome


CONTROLS = st.one_of(
    st.builds(Approve, task=st.sampled_from(["", "t", "u"]), call=st.sampled_from(["", "c1", "c2"])),
    st.builds(Reject, task=st.sampled_from(["", "t", "u"]), call=st.sampled_from(["", "c1", "c2"])),
    st.builds(Cancel),
)
HEARD = st.lists(st.tuples(CONTROLS, st.floats(90, 110)), max_size=8)


@given(HEARD)
def test_nothing_runs_without_a_yes_in_time_and_later_words_change_nothing(heard: list[tuple[Control, float]]) -> None:
    said = [Said(seq=8 + at, time=time, control=control) for at, (control, time) in enumerate(heard)]
    outcome = answered(QUESTION, said)
    words = [
        one.control
        for one in said
        if one.seq > 10
        and one.time <= 100
        and isinstance(one.control, Approve | Reject)
        and (one.control.task, one.control.call) == ("t", "c1")
    ]
    assert (outcome is not None) == bool(words)
    assert (outcome is not None and outcome.granted) == (bool(words) and isinstance(words[0], Approve))


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        ([TURN], None),
        ([TURN, ASKED], ASKED),
        ([TURN, ASKED, Taken(instance="i")], ASKED),
        ([TURN, ASKED, YES], YES),
        ([TURN, msgspec.structs.replace(ASKED, call="c2")], None),
        ([TURN, ASKED, YES, ToolCalled(call="c1", tool="send", output=""), TURN], None),
    ],
)
def test_how_far_a_question_has_come_is_read_from_the_steps_of_the_last_turn(
    steps: list[Step], found: ConfirmAsked | Confirmed | None
) -> None:
    assert standing(steps, "c1") == found


def test_the_model_is_told_who_denied_and_why() -> None:
    assert denial(YES) == ""
    assert denial(NO) == "denied by ada: too early"
    assert denial(msgspec.structs.replace(NO, comment="")) == "denied by ada"
    assert denial(unanswered(ASKED)) == "denied by default: nobody answered in time"
