"""The text of an answer without results says whose plan it was that could not run."""

from actors.run.decide import decide
from actors.run.decisions import Finish
from actors.run.react import View
from protocol.events import PlanRejected
from protocol.messages import Plan, Request
from tests.run.folding import RUN, a_task, begun, followed


def text_after(request: Request, *rejections: PlanRejected) -> str:
    state = begun(request)
    for rejection in rejections:
        state.fold(rejection, 100.0)
    while not (finishes := [d for d in decide(state, 101.0, View()) if isinstance(d, Finish)]):
        assert followed(state)
    return finishes[0].answer.text


def test_a_plan_of_the_user_that_cannot_run_is_called_the_users() -> None:
    plan = Plan(tasks=(a_task("a", "b"), a_task("b", "a")))
    text = text_after(Request(id=RUN, text="t", plan=plan))
    assert text.startswith("Your plan ")
    assert "circle" in text


def test_a_plan_of_the_planner_that_cannot_run_is_not() -> None:
    rejection = PlanRejected(faults=("task a: vague",))
    text = text_after(Request(id=RUN, text="t"), rejection, rejection, rejection)
    assert "Your plan" not in text
    assert "vague" in text


def test_after_a_review_the_plan_is_the_planners() -> None:
    plan = Plan(tasks=(a_task("a"),))
    reviewed, rejected = PlanRejected(faults=("no",), reviewed=True), PlanRejected(faults=("task a: vague",))
    text = text_after(Request(id=RUN, text="t", plan=plan, review=True), reviewed, rejected, rejected, rejected)
    assert "Your plan" not in text
