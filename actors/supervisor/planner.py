"""The planner: asks a model for a plan and checks what comes back. Its outcome is one Event."""

from collections.abc import Mapping, Sequence

import msgspec

from actors.model.port import Call, Model, Turn
from actors.model.structured import structured
from actors.run.plan_check import plan_faults
from actors.supervisor.prompts import PLAN_TOOL, PLANNER, plan_tool, planning
from protocol.errors import ModelError
from protocol.events import Planned, PlanRejected
from protocol.messages import Card, Plan, Request, Usage


class Planner:
    """A role of its own: its prompt, its model, its limits."""

    def __init__(self, model: Model, *, name: str, max_tokens: int, most_tasks: int) -> None:
        self._model = model
        self._name = name
        self._max_tokens = max_tokens
        self._most_tasks = most_tasks

    async def plan(
        self, request: Request, workers: Mapping[str, Sequence[Card]], faults: Sequence[str]
    ) -> Planned | PlanRejected:
        """One try: the plan, or everything that is wrong with what came back."""
        call = Call(
            run=request.id,
            role="planner",
            system=PLANNER,
            turns=[Turn(role="user", content=planning(request, faults, self._most_tasks))],
            tools=[plan_tool(workers)],
            force=PLAN_TOOL,
            model=self._name,
            max_tokens=self._max_tokens,
        )
        try:
            reply = await self._model.call(call)
        except ModelError as error:
            return PlanRejected(faults=(f"the model gave no plan: {error}",), usage=Usage(model_calls=1))
        found = structured(reply, PLAN_TOOL)
        if found is None:
            said = reply.text[:500]
            return PlanRejected(faults=("the reply holds no plan: use the tool",), usage=reply.usage, reply=said)
        try:
            plan = msgspec.convert(found | {"revision": 1}, Plan)
        except msgspec.ValidationError as error:
            return PlanRejected(faults=(f"the plan does not fit its schema: {error}",), usage=reply.usage)
        if wrong := plan_faults(plan, self._most_tasks, workers):
            return PlanRejected(faults=tuple(wrong), usage=reply.usage)
        return Planned(plan=plan, usage=reply.usage)
