"""The allowance: whether the next call is still within the budget of a task, known before it is made."""

from typing import TypeVar

from actors.model.port import Call
from actors.model.profiles import profile_of
from protocol.messages import Budget, Usage

Number = TypeVar("Number", int, float)

LEAST_ANSWER = 1_024
"""With fewer tokens than this the model may end in the middle of its thinking, without any text."""


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


def overrun(budget: Budget, spent: Usage, call: Call) -> str | None:
    """Why the next call would overrun the budget; None if it fits."""
    if budget.steps is not None and spent.model_calls + spent.tool_calls >= budget.steps:
        return f"the budget of {budget.steps} steps is used up"
    if budget.usd is not None and spent.usd is not None and spent.usd >= budget.usd:
        return f"the budget of ${budget.usd:g} is used up"
    if budget.seconds is not None and spent.seconds >= budget.seconds:
        return f"the budget of {budget.seconds:g} s is used up"
    if budget.tokens is not None and budget.tokens - spent.tokens - asked_tokens(call) < LEAST_ANSWER:
        return f"the next call would overrun the budget of {budget.tokens:,} tokens"
    return None


def answer_tokens(budget: Budget, spent: Usage, call: Call) -> int:
    """How long the answer may be at most."""
    if budget.tokens is None:
        return call.max_tokens
    return max(1, min(call.max_tokens, budget.tokens - spent.tokens - asked_tokens(call)))


def asked_tokens(call: Call) -> int:
    """About how many tokens a call brings with it."""
    size = len(call.system) + sum(len(str(turn.content)) for turn in call.turns)
    size += sum(len(tool.description) + len(str(tool.schema)) for tool in call.tools)
    return int(size / characters_a_token(call))


def characters_a_token(call: Call) -> float:
    """About how many characters a token of the model has."""
    return profile_of(call.model).characters_a_token
