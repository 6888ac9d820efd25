"""The review of a plan in the pure core: which controls decide about it, and what the run says about the others."""

import pytest
from run.folding import RUN, a_task, begun, followed, handed_out

from actors.run.plan_review import PlanControl
from actors.run.state import RunState
from protocol.controls import Approve, Cancel, Edit, Reject
from protocol.events import Approved, Cancelled, Event, Planned, PlanRejected, Started, Waiting
from protocol.messages import Plan, Request, Task

PLAN = Plan(tasks=(a_task("a"),))
OTHER = Plan(tasks=(a_task("b"),))
FIRST, SECOND = 10, 20
STALE = (Approve(asked=FIRST), Reject(comment="no", asked=FIRST), Edit(plan=PLAN, asked=FIRST))


def replanned() -> RunState:
    """A run whose second plan waits, after a person rejected the first."""
    state = begun(Request(id=RUN, text="t", review=True))
    state.fold(Planned(plan=PLAN), 110.0, FIRST)
    followed(state, now=110.0)
    state.fold(Reject(comment="no", asked=FIRST), 111.0, 12)
    followed(state, now=111.0)
    state.fold(Planned(plan=OTHER), 112.0, SECOND)
    followed(state, now=112.0)
    return state


@pytest.mark.parametrize("control", STALE)
def test_a_control_about_an_earlier_plan_decides_nothing_and_the_run_says_so(control: PlanControl) -> None:
    state = replanned()
    state.fold(control, 113.0, 21)
    assert state.under_review is not None, "the plan waits on"
    (event,) = followed(state, now=114.0)
    assert isinstance(event, Waiting)
    assert (event.control, str(FIRST) in event.reason, str(SECOND) in event.reason) == (1, True, True)
    assert (state.plan, state.review.effects[21]) == (None, "refused")
    assert handed_out(state) == []


@pytest.mark.parametrize("asked", [0, SECOND])
def test_a_control_about_the_plan_that_waits_decides_also_behind_a_stale_one(asked: int) -> None:
    state = replanned()
    state.fold(Approve(asked=FIRST, by="eve"), 113.0, 21)
    state.fold(Approve(asked=asked, by=" ada\n b "), 114.0, 22)
    assert state.under_review is None
    assert [type(event) for event in followed(state, now=115.0)] == [Waiting]
    assert followed(state, now=115.0) == [Approved(control=2, by="ada b")]
    assert state.review.effects == {12: "applied", 21: "refused", 22: "applied"}
    assert [d.task.id for d in handed_out(state)] == ["b"]


def test_who_rejected_edited_or_cancelled_is_in_the_log() -> None:
    state = replanned()
    state.fold(Reject(comment="no", asked=SECOND, by="ada"), 113.0, 21)
    (event,) = followed(state, now=114.0)
    assert isinstance(event, PlanRejected)
    assert (event.by, event.reviewed) == ("ada", True)
    state = replanned()
    state.fold(Edit(plan=PLAN, asked=SECOND, by="ada"), 113.0, 21)
    assert followed(state, now=114.0) == [Approved(plan=PLAN, control=1, by="ada")]
    state = replanned()
    state.fold(Cancel(reason="enough", by="ada"), 113.0, 21)
    assert followed(state, now=114.0) == [Cancelled(reason="enough", by="ada")]


@pytest.mark.parametrize("control", STALE)
@pytest.mark.parametrize("answered", [True, False])
def test_a_resumed_run_decides_the_same_about_a_stale_control(control: PlanControl, *, answered: bool) -> None:
    state = replanned()
    state.fold(control, 113.0, 21)
    said = followed(state, now=114.0)
    resumed = replanned()
    resumed.fold(control, 113.0, 21)
    if answered:
        resumed.fold(said[0], 114.0, 22)
    resumed.fold(Started(epoch=2, supervisor="t", request=Request(id=RUN, text="t", review=True)), 120.0, 23)
    again: list[Event] = followed(resumed, now=121.0)
    assert again == ([] if answered else said)
    assert (resumed.plan, resumed.under_review) == (None, state.under_review)


def test_a_second_decision_about_a_plan_is_noted_as_ignored() -> None:
    state = replanned()
    state.fold(Approve(asked=SECOND), 113.0, 21)
    state.fold(Reject(comment="no", asked=SECOND), 113.0, 22)
    followed(state, now=114.0)
    state.fold(Edit(plan=PLAN, asked=SECOND), 115.0, 24)
    assert (state.review.effects[21], state.review.effects[22], state.review.effects[24]) == (
        "applied",
        "ignored",
        "ignored",
    )
    assert state.plan == OTHER


def test_a_rejection_without_a_comment_says_so_to_the_planner() -> None:
    state = replanned()
    state.fold(Reject(asked=SECOND), 113.0, 21)
    (event,) = followed(state, now=114.0)
    assert isinstance(event, PlanRejected)
    assert not event.faults[0].rstrip().endswith(":")


def test_an_edited_plan_is_told_every_fault_at_once() -> None:
    state = replanned()
    circles = [a_task("p", "q"), a_task("q", "p"), a_task("r", "s"), a_task("s", "r")]
    tasks = (*circles, Task(id="no way", worker="w", intent="x"), a_task("t", "ghost"), a_task("t"))
    state.fold(Edit(plan=Plan(tasks=tasks), asked=SECOND), 113.0, 21)
    (event,) = followed(state, now=114.0)
    assert isinstance(event, Waiting)
    for part in ("no way", "'ghost'", "'t'", "p → q", "r → s"):
        assert part in event.reason or " → ".join(reversed(part.split(" → "))) in event.reason, part
