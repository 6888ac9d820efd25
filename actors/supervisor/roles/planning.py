"""Planning: what the planner and the replanner have in common."""

from abc import ABC
from collections.abc import Sequence

import msgspec

from actors.model.decision import Decided, decide
from actors.settings import Settings
from actors.supervisor.roles.plan_schema import plan_schema, worker_lines
from actors.supervisor.roles.role import D, Role, Situation, Workers, today
from protocol.messages import Request


class PlanningRole(Role[D], ABC):
    """A role that has the planner's prompt and model, and answers with a plan."""

    name = "planner"
    workers = "required"

    def model_name(self, settings: Settings) -> str:
        """The planner has a setting of its own."""
        return settings.model_planner

    def effort(self, settings: Settings) -> str:
        """A plan is worth thinking about."""
        return settings.effort_planner

    def system(self, now: float) -> str:
        """The prompt, and the date with the precision of a day."""
        return f"{super().system(now)}\n\n{today(now)}"

    async def decided(self, situation: Situation, asked: str) -> Decided:
        """Ask for a plan; without the names of the workers in the schema if that is too complex to compile."""
        names = list(situation.workers)
        return await decide(self.model, self.prompt(situation, asked), plan_schema(names), plan_schema(()))


def planning(request: Request, workers: Workers, faults: Sequence[str], most_tasks: int) -> str:
    """What the planner is asked. What changes often, the load of the workers, stands here and not in the prompt."""
    parts = [f"<request>\n{request.text}\n</request>", worker_lines(workers), f"At most {most_tasks} tasks."]
    budget = {name: value for name, value in msgspec.to_builtins(request.budget).items() if value is not None}
    if budget:
        parts.append("Budget of the whole run: " + ", ".join(f"{value} {name}" for name, value in budget.items()) + ".")
    if faults:
        parts.append(refused(faults))
    return "\n\n".join(parts)


def refused(faults: Sequence[str]) -> str:
    """What was wrong with the last plan."""
    lines = "\n".join(f"- {fault}" for fault in faults)
    return f"<refused>\nYour last plan was refused:\n{lines}\n</refused>\nHand in one without these faults."


def summaries(workers: Workers) -> str:
    """The workers and what they are good for, in a line."""
    return "; ".join(f"{name}: {cards[0].summary}" for name, cards in workers.items())
