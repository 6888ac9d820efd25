"""The planner: asks a model for a plan and checks what comes back. Its outcome is one Event."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from actors.model.port import Model
from actors.run.estimate import UNKNOWN, planned_estimate
from actors.run.plan_check import Known, planner_faults
from actors.run.revision import revised
from actors.run.state import RunState
from actors.settings import Settings
from actors.supervisor import prompts
from actors.supervisor.instructions import PLANNER
from actors.supervisor.pricing import Price, Pricing, nobody_knows
from actors.supervisor.role import Role
from actors.supervisor.roster import modelless
from protocol.events import Planned, PlanRejected, ReplanFailed, Replanned
from protocol.messages import Card, Plan, Request, Usage

Workers = Mapping[str, Sequence[Card]]


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The workers that a plan may name, and those that it may not because their circuit breaker is open."""

    workers: Workers
    shunned: frozenset[str] = frozenset()


class Planner:
    """A role of its own: its prompt, its model, its limits."""

    def __init__(self, role: Role, pricing: Pricing, *, most_tasks: int, tries: int) -> None:
        self._role = role
        self._pricing = pricing
        self._most_tasks = most_tasks
        self._tries = tries

    async def plan(self, request: Request, choice: Choice, faults: Sequence[str]) -> Planned | PlanRejected:
        """One try: the plan, or everything that is wrong with what came back."""
        workers = choice.workers
        asked = prompts.planning(request, faults, self._most_tasks)
        filled = await self._role.fill(request.id, asked, prompts.plan_tool(workers))
        if filled.found is None:
            fault = f"there is no plan: {filled.fault}"
            return PlanRejected(faults=(fault,), usage=filled.usage, reply=filled.said, model=filled.model)
        if cannot := _cannot(filled.found):
            nobody = _nobody(cannot, workers)
            return PlanRejected(faults=(nobody,), usage=filled.usage, hopeless=True, model=filled.model)
        plan, wrong = self._checked(filled.found, request, choice)
        if plan is None or wrong:
            return PlanRejected(faults=tuple(wrong), usage=filled.usage, model=filled.model)
        # Who answered tells whether prices are known, and whether calls are paid for at all.
        usd = filled.usage.usd
        costs = UNKNOWN if usd is None else self._pricing.costs(workers, free=usd == 0)
        estimate = planned_estimate(plan, costs, modelless(workers))
        return Planned(plan=plan, usage=filled.usage, estimate=estimate, model=filled.model)

    async def replan(self, state: RunState, choice: Choice, reasons: Sequence[str]) -> Replanned | ReplanFailed:
        """A new revision within the tries there are, or everything that was wrong with the last one."""
        workers = choice.workers
        request = state.request or Request()
        usage, wrong = Usage(), list[str]()
        for _ in range(self._tries):
            asked = prompts.replanning(state, reasons, wrong)
            filled = await self._role.fill(request.id, asked, prompts.plan_tool(workers))
            usage += filled.usage
            if filled.found is None:
                wrong = [f"there is no plan: {filled.fault}"]
                continue
            if cannot := _cannot(filled.found):
                return ReplanFailed(reasons=tuple(reasons), faults=(cannot,), usage=usage, model=filled.model)
            plan, wrong = self._checked(filled.found, request, choice, state)
            if plan is not None and not wrong:
                return Replanned(plan=plan, reasons=tuple(reasons), usage=usage, model=filled.model)
        return ReplanFailed(reasons=tuple(reasons), faults=tuple(wrong), usage=usage, model=self._role.model_name)

    def _checked(
        self, found: dict[str, Any], request: Request, choice: Choice, state: RunState | None = None
    ) -> tuple[Plan | None, list[str]]:
        try:
            plan = msgspec.convert({**found, "revision": 1}, Plan)
        except msgspec.ValidationError as error:
            return None, [f"the plan does not fit its schema: {error}"]
        if state is None:
            known = Known(workers=choice.workers, shunned=choice.shunned)
            return plan, planner_faults(plan, self._most_tasks, known, request.budget)
        plan, wrong = revised(state, plan)
        known = Known(workers=[*choice.workers, *_known(state)], shunned=choice.shunned)
        return plan, wrong + planner_faults(plan, self._most_tasks, known, request.budget, state.tasks)


def planner_for(model: Model, settings: Settings, price: Price = nobody_knows) -> Planner:
    """The planner as the settings have it."""
    role = Role(
        model,
        name="planner",
        model_name=settings.model_planner,
        system=PLANNER,
        max_tokens=settings.max_tokens,
    )
    return Planner(role, Pricing(price, settings), most_tasks=settings.planner_tasks, tries=settings.plan_tries)


def _known(state: RunState) -> list[str]:
    """Workers that tasks of the plan already went to: they may be gone, but what they did stays."""
    return [task.task.worker for task in state.tasks.values() if task.status in ("completed", "handed")]


def _cannot(found: dict[str, Any]) -> str:
    reason = found.get("cannot")
    return reason.strip() if isinstance(reason, str) and not found.get("tasks") else ""


def _nobody(reason: str, workers: Workers) -> str:
    who = "; ".join(f"{name}: {cards[0].summary}" for name, cards in workers.items())
    return f"Nobody here can do this: {reason} Who is here: {who}"
