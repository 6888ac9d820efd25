"""The allowance: whether the next call is still within the budget of a task, known before it is made."""

from typing import TypeVar

import msgspec

from actors.model.port import Call, Model, PricesCalls
from actors.model.profiles import profile_of
from actors.worker.file_tokens import Size, size_of
from protocol.messages import Budget, Usage

Number = TypeVar("Number", int, float)

LEAST_ANSWER = 1_024
"""With fewer tokens than this the model may end in the middle of its thinking, without any text."""

MILLION = 1_000_000
MOST_TOKENS = 1_000_000_000


def tightest(one: Budget, other: Budget) -> Budget:
    """The budget that keeps within both."""
    return Budget(
        tokens=_less(one.tokens, other.tokens),
        steps=_less(one.steps, other.steps),
        usd=_less(one.usd, other.usd),
        seconds=_less(one.seconds, other.seconds),
    )


def _less(one: Number | None, other: Number | None) -> Number | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


class CallPrice(msgspec.Struct, frozen=True, kw_only=True):
    """What a call is expected to cost in dollars: everything but its answer, and each token of its answer."""

    asked_usd: float
    token_usd: float

    def affordable(self, left_usd: float) -> int:
        """How many tokens of answer can be paid with this."""
        if self.token_usd <= 0:
            return MOST_TOKENS if left_usd >= self.asked_usd else 0
        return max(0, min(MOST_TOKENS, int((left_usd - self.asked_usd) / self.token_usd)))


async def price_of(model: Model, call: Call, last: Usage) -> CallPrice | None:
    """What a call will cost, after a call that used `last`; None where the price of the model is not known."""
    if not isinstance(model, PricesCalls):
        return None
    prompt = expected_prompt(call, last)
    asked_usd = await model.price(call.model, prompt)
    answered_usd = await model.price(call.model, prompt + Usage(output_tokens=MILLION))
    if asked_usd is None or answered_usd is None:
        return None
    return CallPrice(asked_usd=asked_usd, token_usd=(answered_usd - asked_usd) / MILLION)


def expected_prompt(call: Call, last: Usage) -> Usage:
    """The tokens of the prompt by kind: what the last call of the conversation cached is read, the rest is written."""
    asked = asked_tokens(call)
    read = min(asked, last.cache_read_tokens + last.cache_write_tokens)
    return Usage(cache_read_tokens=read, cache_write_tokens=asked - read)


def overrun(budget: Budget, spent: Usage, call: Call, price: CallPrice | None = None) -> str | None:
    """Why the next call would overrun the budget; None if it fits."""
    if budget.steps is not None and spent.model_calls + spent.tool_calls >= budget.steps:
        return f"the budget of {budget.steps} steps is used up"
    if budget.seconds is not None and spent.seconds >= budget.seconds:
        return f"the budget of {budget.seconds:g} s is used up"
    if budget.tokens is not None and budget.tokens - spent.tokens - asked_tokens(call) < LEAST_ANSWER:
        return f"the next call would overrun the budget of {budget.tokens:,} tokens"
    return _dollar_overrun(budget, spent, call, price)


def _dollar_overrun(budget: Budget, spent: Usage, call: Call, price: CallPrice | None) -> str | None:
    """Why the dollars do not pay the next call. What was spent at an unknown price does not count."""
    if budget.usd is None or spent.usd is None:
        return None
    if spent.usd >= budget.usd and spent.usd > 0:
        return f"the budget of ${budget.usd:g} is used up"
    least = min(LEAST_ANSWER, call.max_tokens)
    if price is None or price.affordable(budget.usd - spent.usd) >= least:
        return None
    needed = spent.usd + price.asked_usd + least * price.token_usd
    return f"the next call would overrun the budget of ${budget.usd:.4g}: it takes at least ${needed:.4g} in all"


def answer_tokens(budget: Budget, spent: Usage, call: Call, price: CallPrice | None = None) -> int:
    """How long the answer may be at most."""
    most = call.max_tokens
    if budget.tokens is not None:
        most = min(most, budget.tokens - spent.tokens - asked_tokens(call))
    if budget.usd is not None and spent.usd is not None and price is not None:
        most = min(most, price.affordable(budget.usd - spent.usd))
    return max(1, most)


def asked_tokens(call: Call) -> int:
    """About how many tokens a call brings with it, its files included."""
    content = sum((size_of(turn.content) for turn in call.turns), Size())
    characters = len(call.system) + content.characters
    characters += sum(len(tool.description) + len(str(tool.schema)) for tool in call.tools)
    return int(characters / characters_a_token(call)) + content.file_tokens


def characters_a_token(call: Call) -> float:
    """About how many characters a token of the model has."""
    return profile_of(call.model).characters_a_token
