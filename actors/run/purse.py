"""The purse: what of a run's budget is left, and the share that a task gets of it.

A share is reserved when a task is handed out and settled by what it really spent, so tasks that run at the same time
cannot together spend more than there is, but for the calls under way.
"""

from typing import TypeVar

import msgspec

from actors.run.react import View
from actors.run.state import RunState
from protocol.messages import Budget, Task

Number = TypeVar("Number", int, float)

DUST_USD = 1e-6
"""Less than this buys nothing; sums of shares are off by less."""

LEAST_PART = 0.25
"""How much of the price of a long task a task should have before it begins, while others may still return dollars."""


def left(state: RunState) -> Budget:
    """What neither was spent nor is reserved; None where there is no limit."""
    budget = state.request.budget if state.request else Budget()
    if budget == Budget():
        return budget
    spent, reserved = state.spent, [task.reserved for task in state.handed]
    # Whoever does not know what it costs must not hide what the others have spent.
    usd = sum(usage.usd or 0.0 for usage in state.spending.values())
    gone = Budget(
        tokens=spent.tokens + sum(share.tokens or 0 for share in reserved),
        steps=spent.model_calls + spent.tool_calls + sum(share.steps or 0 for share in reserved),
        usd=usd + sum(share.usd or 0.0 for share in reserved),
    )
    return less(budget, gone)


def is_empty(rest: Budget, least_usd: float = 0.0) -> bool:
    """Whether nothing can be bought any more, or in dollars not even `least_usd`."""
    if rest.usd is not None and rest.usd < max(least_usd, DUST_USD):
        return True
    return any(value is not None and value <= 0 for value in (rest.tokens, rest.steps))


def spent_reason(rest: Budget) -> str:
    """Why a task does not begin: what of the budget of the run is used up."""
    gone = {
        "tokens": rest.tokens is not None and rest.tokens <= 0,
        "steps": rest.steps is not None and rest.steps <= 0,
        "dollars": rest.usd is not None and rest.usd < DUST_USD,
    }
    return f"the budget of the run is spent ({', '.join(name for name, is_gone in gone.items() if is_gone)})"


def for_task(rest: Budget, worker: str, view: View) -> tuple[Budget, float]:
    """What is left for a task at this worker, and the least dollars with which it should begin.

    A function or a person costs no dollars. A model of unknown price has no least.
    """
    if worker in view.modelless:
        return msgspec.structs.replace(rest, usd=None), 0.0
    cost = view.costs.get(worker)
    return rest, cost.high * LEAST_PART if cost else 0.0


def waits_for_returns(state: RunState) -> bool:
    """Whether a task under way has a reserved share, which it may give back in part."""
    return any(task.reserved != Budget() for task in state.handed)


def parts(state: RunState) -> int:
    """Among how many tasks what is left has to be shared."""
    return max(1, state.board.open - len(state.handed))


def share(rest: Budget, task: Task, among: int = 1, least_usd: float = 0.0) -> Budget:
    """What a task may spend: what the plan says, but never more than its part of what is left.

    In dollars the part is at least `least_usd`, as far as that is left: too small a part buys no answer at all.
    """
    own = task.budget or Budget()
    if rest == Budget():
        return own
    among = max(1, among)
    return Budget(
        tokens=_least(own.tokens, None if rest.tokens is None else max(0, rest.tokens) // among),
        steps=_least(own.steps, None if rest.steps is None else max(1, rest.steps // among)),
        usd=_least(own.usd, None if rest.usd is None else min(max(0.0, rest.usd), max(rest.usd / among, least_usd))),
        seconds=own.seconds,
    )


def less(rest: Budget, taken: Budget) -> Budget:
    """What is left after a share was taken out."""
    return Budget(
        tokens=None if rest.tokens is None else rest.tokens - (taken.tokens or 0),
        steps=None if rest.steps is None else rest.steps - (taken.steps or 0),
        usd=None if rest.usd is None else rest.usd - (taken.usd or 0.0),
    )


def _least(own: Number | None, part: Number | None) -> Number | None:
    if own is None or part is None:
        return part if own is None else own
    return min(own, part)
