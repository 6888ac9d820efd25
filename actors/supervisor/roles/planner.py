"""The planner: asks a model for a plan and checks it."""

from collections.abc import Sequence

from actors.model.decision import Decided
from actors.run.decisions import CallPlanner
from actors.run.estimate import UNKNOWN, planned_estimate
from actors.run.plan_check import Known, planner_faults
from actors.run.state import RunState
from actors.supervisor.roles.plan_schema import cannot, plan_schema, read_plan
from actors.supervisor.roles.planning import PlanningRole, planning, summaries
from actors.supervisor.roles.role import Schema, Situation, Workers
from actors.supervisor.roles.single_task import single_task_plan
from actors.supervisor.roster import modelless
from protocol.events import Event, Planned, PlanRejected
from protocol.messages import Plan, Request


class Planner(PlanningRole[CallPlanner]):
    """Ends in the plan, or in everything that is wrong with what came back."""

    trace = "plan"
    decision = CallPlanner

    def number(self, decision: CallPlanner, state: RunState) -> tuple[str | int, ...]:
        """One more than the plans that were refused."""
        return (len(state.rejections) + 1,)

    async def ask(self, decision: CallPlanner, situation: Situation) -> Event:
        """One try."""
        return await self.plan(situation, decision.faults)

    async def plan(self, situation: Situation, faults: Sequence[str]) -> Planned | PlanRejected:
        """One try: the plan, or everything that is wrong with what came back."""
        request, workers = situation.request, situation.workers
        asked = planning(request, workers, faults, self._kit.settings.planner_tasks)
        decided = await self.decided(situation, asked)
        if decided.found is None:
            return self._without_object(decided, request, workers)
        if reason := cannot(decided.found):
            fault = f"No worker of the team can do this: {reason} Workers: {summaries(workers)}"
            return _rejected(decided, [fault], hopeless=True)
        plan = read_plan(decided.found, list(workers))
        if isinstance(plan, str):
            return _rejected(decided, [plan])
        known = Known(workers=workers, shunned=situation.choice.shunned)
        if wrong := planner_faults(plan, self._kit.settings.planner_tasks, known, request.budget):
            return _rejected(decided, wrong)
        return self._planned(decided, plan, workers)

    def _without_object(self, decided: Decided, request: Request, workers: Workers) -> Planned | PlanRejected:
        """A refusal, a lack of room and a wrong key are final: asking the same again leads to the same."""
        if decided.kind == "prose":
            plan, reason = single_task_plan(request, workers)
            return self._planned(decided, plan, workers, reason)
        if decided.kind == "final":
            return _rejected(decided, [decided.fault], hopeless=True)
        fault = f"there is no plan: {decided.fault}"
        return _rejected(decided, [fault], hopeless=decided.kind in ("refused", "cut"))

    def _planned(self, decided: Decided, plan: Plan, workers: Workers, unplanned: str = "") -> Planned:
        # The model that answered tells whether prices are known, and whether calls cost money at all.
        usd = decided.usage.usd
        costs = UNKNOWN if usd is None else self._kit.pricing.costs(workers, free=usd == 0)
        estimate = planned_estimate(plan, costs, modelless(workers))
        return Planned(plan=plan, usage=decided.usage, estimate=estimate, model=decided.model, unplanned=unplanned)

    def example(self, situation: Situation) -> tuple[Schema | None, str]:
        """The request of the example, with its workers."""
        limit = self._kit.settings.planner_tasks
        return plan_schema(list(situation.workers)), planning(situation.request, situation.workers, (), limit)


def _rejected(decided: Decided, faults: Sequence[str], *, hopeless: bool = False) -> PlanRejected:
    reply = "" if decided.found else decided.said
    return PlanRejected(faults=tuple(faults), usage=decided.usage, reply=reply, hopeless=hopeless, model=decided.model)
