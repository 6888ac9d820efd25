import pytest
from at_work import Desk, use
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.tool import tool
from actors.worker.allowance import tightest
from actors.worker.definition import Worker
from protocol.errors import InvalidError
from protocol.messages import Budget

AMOUNTS = st.none() | st.integers(1, 10**6)
BUDGETS = st.builds(Budget, tokens=AMOUNTS, steps=AMOUNTS, usd=AMOUNTS, seconds=AMOUNTS)
KINDS = ("tokens", "steps", "usd", "seconds")


@tool
def dig() -> str:
    """Dig."""
    return "dug"


@given(BUDGETS, BUDGETS)
def test_the_tightest_budget_keeps_within_both_and_is_one_of_them(one: Budget, other: Budget) -> None:
    both = tightest(one, other)
    for kind in KINDS:
        given_ = [amount for budget in (one, other) if (amount := getattr(budget, kind)) is not None]
        assert getattr(both, kind) == (min(given_) if given_ else None)
    assert both == tightest(other, one)


async def test_a_worker_stops_at_its_own_ceiling_even_if_the_handoff_sets_none() -> None:
    worker = Worker("agent", summary="Digs.", prompt="Dig.", tools=[dig], budget=Budget(steps=4))
    done = await Desk(worker).do(*([use("dig", turn)] for turn in range(9)))
    assert (done.result.status, len(done.calls), len(done.tools)) == ("failed", 2, 2)
    assert done.result.error is not None
    assert done.result.error.message == "the budget of 4 steps is used up"


def test_a_person_takes_neither_prompt_nor_tools() -> None:
    assert Worker("eve", summary="Sees.", person=True).person
    with pytest.raises(InvalidError, match="is a person"):
        Worker("eve", summary="Sees.", person=True, prompt="See.")
