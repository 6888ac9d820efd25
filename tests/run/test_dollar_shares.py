"""How the dollars of a run are shared among its tasks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.run import purse
from actors.run.decide import decide
from actors.run.decisions import Dispatch, WakeAt
from actors.run.estimate import Cost
from actors.run.react import View
from actors.run.state import RunState
from protocol.events import Planned, Skipped
from protocol.messages import Budget, Plan, Request, Result, Usage
from tests.run.folding import RUN, a_task, begun, followed, handed_out

PRICED = View(costs={"w": Cost(0.01, 0.08)})
"""A long task of this worker costs 8 cents, so it should begin with 2."""


def planned(usd: float | None, *workers: str) -> RunState:
    """A run of parallel tasks a0, a1, ... with this many dollars."""
    plan = Plan(tasks=tuple(a_task(f"a{at}", worker=worker) for at, worker in enumerate(workers)))
    state = begun(Request(id=RUN, text="t", plan=plan, budget=Budget(usd=usd)))
    state.fold(Planned(plan=plan), 100.0)
    return state


def ended(state: RunState, name: str, usd: float | None, worker: str = "w") -> None:
    result = Result(run=RUN, task=name, attempt=1, worker=worker, status="completed", usage=Usage(usd=usd))
    state.fold(result, 102.0)


def shares(dispatched: list[Dispatch]) -> list[float | None]:
    return [each.budget.usd for each in dispatched]


@given(st.integers(1, 12), st.floats(0.001, 2.0), st.floats(0.0, 1.0), st.sampled_from([View(), PRICED]))
def test_tasks_that_spend_their_shares_never_spend_more_than_the_run_has(
    number: int, usd: float, part: float, view: View
) -> None:
    state, spent = planned(usd, *["w"] * number), 0.0
    while out := handed_out(state, view=view):
        for each in out:
            assert each.budget.usd is not None
            assert spent + sum(share or 0.0 for share in shares(out)) <= usd * 1.000001
        for each in out:
            spent += (each.budget.usd or 0.0) * part
            ended(state, each.task.id, (each.budget.usd or 0.0) * part)
    assert spent <= usd * 1.000001


def test_a_task_waits_rather_than_begin_with_a_share_that_buys_no_answer() -> None:
    state = planned(0.05, *["w"] * 10)
    out = handed_out(state, view=PRICED)
    assert shares(out) == pytest.approx([0.02, 0.02])
    assert all(isinstance(decision, WakeAt) for decision in decide(state, 101.0, PRICED))
    ended(state, "a0", 0.005)
    assert shares(handed_out(state, view=PRICED)) == pytest.approx([0.02])


def test_what_is_left_is_given_to_one_task_when_none_is_under_way() -> None:
    state = planned(0.01, *["w"] * 3)
    (only,) = handed_out(state, view=PRICED)
    assert only.budget.usd == pytest.approx(0.01)
    ended(state, "a0", 0.01)
    skipped = followed(state, view=PRICED)
    assert [event.task for event in skipped if isinstance(event, Skipped)] == ["a1", "a2"]
    assert all("dollars" in event.cause for event in skipped if isinstance(event, Skipped))


def test_functions_and_people_take_no_dollars_and_go_on_when_they_are_spent() -> None:
    view = View(modelless=frozenset({"f"}), costs={"w": Cost(0.01, 0.08), "f": Cost(0.0, 0.0)})
    state = planned(0.03, "w", "f", "w", "f")
    out = handed_out(state, view=view)
    assert [(each.worker, each.budget.usd is None) for each in out] == [("w", False), ("f", True), ("f", True)]
    assert purse.waits_for_returns(state)
    ended(state, "a0", 0.03)
    assert [event.task for event in followed(state, view=view) if isinstance(event, Skipped)] == ["a2"]


def test_a_ceiling_stops_no_run_whose_prices_are_unknown() -> None:
    state = planned(1.0, *["local"] * 5)
    done = 0
    while out := handed_out(state):
        for each in out:
            ended(state, each.task.id, None, "local")
            done += 1
    assert done == 5
