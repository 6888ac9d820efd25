"""The refiner: other words for a task that failed. Its outcome is one Event."""

from actors.run.board import TaskState
from actors.run.react import reason_of
from actors.supervisor import prompts
from actors.supervisor.role import Role
from protocol.events import Refined

LONGEST = 8_000


class Refiner:
    """A role of its own."""

    def __init__(self, role: Role) -> None:
        self._role = role

    async def refine(self, run: str, task: TaskState, not_before: float) -> Refined:
        """The new intent; the old one where nothing usable comes back: trying again is still worth it."""
        filled = await self._role.fill(run, prompts.refining(task), prompts.intent_tool())
        intent = filled.found.get("intent") if filled.found else None
        usable = isinstance(intent, str) and 0 < len(intent.strip()) <= LONGEST
        return Refined(
            task=task.task.id,
            attempt=task.attempt + 1,
            intent=intent.strip() if usable and isinstance(intent, str) else task.intent,
            not_before=not_before,
            reason=reason_of(task),
            usage=filled.usage,
            model=filled.model,
        )
