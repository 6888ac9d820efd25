"""A budget in dollars binds: the worker prices a call before it is made, and shortens or refuses it."""

import asyncio
from collections.abc import Callable, Sequence

import msgspec
import pytest
from at_work import Desk, SaidModel, use
from hypothesis import given
from hypothesis import strategies as st

from actors.model.port import Call, Reply, Turn
from actors.model.price import price_usd
from actors.tools.tool import tool
from actors.worker.allowance import LEAST_ANSWER, CallPrice, answer_tokens, overrun, price_of
from actors.worker.definition import Worker
from protocol.messages import Budget, Usage

HAIKU = "claude-haiku-5-5"
MODELS = st.sampled_from([HAIKU, "claude-sonnet-5-5", "claude-opus-5-5"])


@tool
def dig() -> str:
    """Dig."""
    return "dug"


class Priced(SaidModel):
    """A model whose calls cost what `named` costs. Each answer is as long as it may be."""

    def __init__(self, turns: Sequence[Sequence[dict[str, object]]] = (), named: str = HAIKU) -> None:
        super().__init__(turns)
        self.named = named

    async def price(self, model: str, usage: Usage) -> float | None:
        return price_usd(self.named, usage)

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        reply = await super().call(call, said=said, ready=ready)
        used = Usage(input_tokens=500, output_tokens=call.max_tokens, model_calls=1)
        usage = msgspec.structs.replace(used, usd=price_usd(self.named, used))
        return msgspec.structs.replace(reply, model=self.named, usage=usage)


def a_call(size: int, max_tokens: int = 32_000) -> Call:
    return Call(
        run="r", role="w", system="", turns=[Turn(role="user", content="x" * size)], model=HAIKU, max_tokens=max_tokens
    )


def price(model: str, call: Call, last: Usage | None = None) -> CallPrice:
    found = asyncio.run(price_of(Priced(named=model), call, last or Usage()))
    assert found is not None
    return found


@given(MODELS, st.integers(0, 600_000), st.floats(0.00001, 1.0), st.floats(0.0, 1.0))
def test_a_call_that_is_made_costs_no_more_than_what_is_left(model: str, size: int, usd: float, part: float) -> None:
    call, budget, spent = a_call(size), Budget(usd=usd), Usage(usd=usd * part, model_calls=1)
    priced = price(model, call)
    why = overrun(budget, spent, call, priced)
    longest = answer_tokens(budget, spent, call, priced)
    in_all = usd * part + priced.asked_usd + longest * priced.token_usd
    if why is None:
        assert LEAST_ANSWER <= longest <= call.max_tokens
        assert in_all <= usd * 1.000001
    else:
        assert usd * part + priced.asked_usd + LEAST_ANSWER * priced.token_usd > usd * 0.999999


def test_a_call_is_priced_by_what_the_last_one_left_in_the_cache() -> None:
    call = a_call(200_000)  # about 80,000 tokens
    fresh = price("claude-sonnet-5-5", call).asked_usd
    cached = price("claude-sonnet-5-5", call, Usage(cache_read_tokens=50_000, cache_write_tokens=30_000)).asked_usd
    assert fresh == pytest.approx(80_000 * 2.5 / 1e6)
    assert cached == pytest.approx(80_000 * 0.10 / 1e6)


def test_above_100_000_prompt_tokens_the_answer_of_haiku_is_priced_higher_too() -> None:
    assert price(HAIKU, a_call(240_000)).token_usd == pytest.approx(0.5 / 1e6)
    assert price(HAIKU, a_call(260_000)).token_usd == pytest.approx(2.5 / 1e6)


def test_where_the_price_is_unknown_dollars_do_not_bind() -> None:
    call, spent = a_call(10**6), Usage(usd=None, model_calls=5)
    assert asyncio.run(price_of(Priced(named="some-local-model"), call, Usage())) is None
    assert asyncio.run(price_of(SaidModel([]), call, Usage())) is None
    assert overrun(Budget(usd=0.01), spent, call, None) is None
    assert answer_tokens(Budget(usd=0.01), spent, call, None) == call.max_tokens


def test_what_costs_nothing_fits_any_ceiling() -> None:
    free = price("offline-rules-1", a_call(10**6))
    assert overrun(Budget(usd=0.000001), Usage(), a_call(10**6), free) is None
    assert answer_tokens(Budget(usd=0.000001), Usage(), a_call(10**6), free) == 32_000


@pytest.mark.parametrize(
    ("usd", "calls", "completed"),
    [
        (0.0001, 0, False),  # a first call that it does not pay is not made
        (0.01, 1, False),  # the first answer is shortened to the 19,000 tokens that it pays; a second is refused
        (0.10, 3, True),
    ],
)
async def test_a_task_spends_no_more_than_its_dollars(usd: float, calls: int, *, completed: bool) -> None:
    worker = Worker("agent", summary="Digs.", prompt="Dig.", tools=[dig], budget=Budget(usd=usd))
    model = Priced([[use("dig", turn)] for turn in range(2)])
    done = await Desk(worker).do_with(model)
    assert (len(done.calls), done.result.status == "completed") == (calls, completed)
    assert (done.result.usage.usd or 0.0) <= usd
    if not completed:
        assert done.result.error is not None
        assert done.result.error.kind == "budget"


async def test_a_task_whose_model_has_no_known_price_is_not_stopped_by_dollars() -> None:
    worker = Worker("agent", summary="Digs.", prompt="Dig.", tools=[dig], budget=Budget(usd=0.0001))
    done = await Desk(worker).do_with(Priced([[use("dig", turn)] for turn in range(2)], named="some-local-model"))
    assert (done.result.status, len(done.calls), done.result.usage.usd) == ("completed", 3, None)
