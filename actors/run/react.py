"""What to do about a result that is not a success: a table, read from top to bottom.

| result | condition | reaction |
|---|---|---|
| failed | its deadline has passed | give up |
| declined | a new revision is possible | replan |
| declined or failed | somebody else can do it, and trying here again is vain or would be the last try | reroute |
| failed, retryable | attempts left, asking in other words may help, a model may be asked | refine |
| failed, retryable | attempts left | retry |
| anything | | give up |
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from actors.run.board import TaskState
from actors.run.estimate import UNKNOWN as UNKNOWN_COSTS
from actors.run.estimate import Costs
from actors.run.state import RunState
from protocol.messages import DEADLINE, Fault, Result

Reaction = Literal["replan", "reroute", "refine", "retry", "give_up"]
LONGEST_REASON = 1000
UNKNOWN = Fault(kind="unknown", message="it failed without a reason", retryable=True)


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What a decision may know of the world beside the run: who is there, whom not to trust now, what it would cost.

    `fallbacks` names who else could do the work of a worker, by its card. `shunned` are the workers whose breaker is
    open; `probe_at` tells for each of them when it gets its next task, as a probe. `modelless` call no model.
    """

    fallbacks: Mapping[str, str] = {}
    shunned: frozenset[str] = frozenset()
    probe_at: Mapping[str, float] = {}
    alive: frozenset[str] = frozenset()
    modelless: frozenset[str] = frozenset()
    costs: Costs = UNKNOWN_COSTS


def react(state: RunState, task: TaskState, view: View) -> Reaction:
    """The first row of the table that fits."""
    result = task.result
    fault = UNKNOWN if result is None or result.error is None else result.error
    declined = result is not None and result.status == "declined"
    if not declined and fault.kind == DEADLINE:
        return "give_up"
    if declined and can_replan(state):
        return "replan"
    again = not declined and fault.retryable
    left = state.limits.attempts - task.attempt
    if left > 0 and fallback_of(task, view) and (not again or left == 1):
        return "reroute"
    if again and left > 0:
        return "refine" if fault.refinable and state.may_think else "retry"
    return "give_up"


def can_replan(state: RunState) -> bool:
    """Whether a new revision of the plan may still be asked for."""
    left = 0 < state.revision < state.limits.revisions and not state.replan_failed
    return left and state.may_think and not state.expired


def fallback_of(task: TaskState, view: View) -> str | None:
    """Who else could do it: by the plan, or by the card of its worker; nobody twice, and nobody who is shunned."""
    other = task.task.fallback or view.fallbacks.get(task.worker)
    if other is None or other == task.worker or other in task.tried or other in view.shunned:
        return None
    return other


def reason_of(task: TaskState) -> str:
    """Why a task came back, in the words of its worker."""
    return "unknown" if task.result is None else failure_of(task.result)


def failure_of(result: Result) -> str:
    """Why a result is not a success, in the words of its worker."""
    if result.status == "declined":
        reason = f"declined: {result.output or (result.error.message if result.error else 'no reason given')}"
    else:
        reason = result.error.message if result.error else result.output or UNKNOWN.message
    return reason if len(reason) <= LONGEST_REASON else reason[:LONGEST_REASON] + " …"
