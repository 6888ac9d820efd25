from run.folding import RUN, a_task, begun, followed, handed_out

from actors.run.decide import decide
from actors.run.decisions import Dispatch, Finish
from actors.run.limits import Limits
from actors.run.state import RunState
from protocol.controls import Approve, Reject
from protocol.events import Approved, Expired, Planned, PlanRejected
from protocol.messages import Plan, Request

PLAN = Plan(tasks=(a_task("a"),))


def proposed(limits: Limits | None = None) -> RunState:
    state = begun(Request(id=RUN, text="t", review=True, deadline_s=60.0), limits)
    state.fold(Planned(plan=PLAN), 110.0)
    followed(state, now=110.0)
    return state


def test_the_time_a_person_takes_does_not_count_for_the_deadline() -> None:
    state = proposed()
    state.fold(Approve(), 5_000.0)
    assert followed(state, now=5_010.0) == [Approved(control=1)]
    assert state.deadline == 100.0 + 60.0 + 4_900.0
    assert [d.task.id for d in decide(state, 5_049.0) if isinstance(d, Dispatch)] == ["a"]
    assert isinstance(followed(state, now=5_060.0)[0], Expired), "ten seconds were used for planning"


def test_every_round_of_a_review_is_taken_off() -> None:
    state = proposed()
    state.fold(Reject(comment="no"), 1_000.0)
    followed(state, now=1_110.0)
    assert state.deadline == 100.0 + 60.0 + 1_000.0
    state.fold(Planned(plan=PLAN), 1_120.0)
    state.fold(Approved(control=2), 2_120.0)
    assert state.deadline == 100.0 + 60.0 + 2_000.0


def test_whoever_resumes_the_run_has_the_same_deadline() -> None:
    state, again = proposed(), proposed()
    for one in (state, again):
        one.fold(Approved(control=1), 5_010.0)
    again.fold(Approved(control=1), 6_000.0)
    again.fold(Planned(plan=PLAN), 7_000.0)
    assert again.deadline == state.deadline


def test_the_wait_itself_is_bounded_and_its_end_is_said() -> None:
    state = proposed(Limits(review_s=1_000.0))
    assert not any(isinstance(d, Finish) for d in decide(state, 1_109.0))
    assert isinstance(followed(state, now=1_110.0)[0], Expired)
    (finish,) = [d for d in decide(state, 1_110.0) if isinstance(d, Finish)]
    assert finish.answer.status == "failed"
    assert finish.answer.text == "Nothing was done: nobody approved the plan within 1000 s"


def test_a_plan_that_is_not_reviewed_has_the_usual_deadline() -> None:
    state = begun(Request(id=RUN, text="t", deadline_s=60.0))
    state.fold(PlanRejected(faults=("x",)), 120.0)
    state.fold(Planned(plan=PLAN), 130.0)
    assert state.deadline == 160.0
    assert [d.task.id for d in handed_out(state)] == ["a"]
