"""The estimate: what a plan will come to, before anything of it runs.

The price is a range between one short call for each task and a long conversation for each: an order of magnitude to
decide by, not a bound. A price that is not known makes the whole unknown, never 0.
"""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from protocol.messages import Estimate, Plan, Request, Task, Usage

PLANNER, SYNTHESIZER, REPORT = "@planner", "@synthesizer", "@report"
"""Roles beside the workers; no worker can have such a name."""

SHORT_TASK = Usage(input_tokens=1_000, output_tokens=200, model_calls=1)
LONG_TASK = Usage(input_tokens=40_000, output_tokens=6_000, model_calls=6)
SHORT_ROLE = Usage(input_tokens=1_500, output_tokens=300, model_calls=1)
LONG_ROLE = Usage(input_tokens=30_000, output_tokens=3_000, model_calls=1)


class Cost(msgspec.Struct, frozen=True):
    """What one task at a worker, or one call of a role, costs in dollars: little, and much."""

    low: float
    high: float


Costs = Mapping[str, Cost]
"""By worker and role; who is not in it has no known price."""

UNKNOWN: Costs = {}


def planned_estimate(plan: Plan, costs: Costs = UNKNOWN, modelless: Collection[str] = ()) -> Estimate:
    """What a planner's plan comes to: its own call, the tasks, the synthesis, and the report on it.

    `modelless` names the workers that call no model: functions and persons.
    """
    return _estimate(plan, (PLANNER, SYNTHESIZER, REPORT), costs, modelless)


def own_estimate(request: Request, plan: Plan, costs: Costs = UNKNOWN, modelless: Collection[str] = ()) -> Estimate:
    """What the plan that came with a request comes to: no planner's call, and without synthesis no writer's."""
    return _estimate(plan, (SYNTHESIZER, REPORT) if request.synthesis else (), costs, modelless)


def _estimate(plan: Plan, roles: Sequence[str], costs: Costs, modelless: Collection[str]) -> Estimate:
    levels = _levels(plan)
    whom = [*(task.worker for task in plan.tasks), *roles]
    known = [costs[name] for name in whom if name in costs]
    priced = len(known) == len(whom)
    return Estimate(
        tasks=len(plan.tasks),
        critical_path=max(levels, default=0),
        widest=max((levels.count(number) for number in set(levels)), default=0),
        model_calls=sum(name not in modelless for name in whom),
        usd_low=round(sum(cost.low for cost in known), 6) if priced else None,
        usd_high=round(sum(cost.high for cost in known), 6) if priced else None,
    )


def _levels(plan: Plan) -> list[int]:
    """How deep each task stands; the plan has no circles."""
    level: dict[str, int] = {}
    waiting = list(plan.tasks)
    while waiting:
        waiting = [task for task in waiting if not _placed(task, level)]
    return list(level.values())


def _placed(task: Task, level: dict[str, int]) -> bool:
    if any(needed not in level for needed in task.depends_on):
        return False
    level[task.id] = 1 + max((level[needed] for needed in task.depends_on), default=0)
    return True
