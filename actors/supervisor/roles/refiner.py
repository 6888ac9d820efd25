"""The refiner: asks for other words for a task that failed."""

from collections.abc import Sequence

from actors.model.decision import decide
from actors.run.board import TaskState
from actors.run.decisions import CallRefiner
from actors.run.react import failure_of, reason_of
from actors.run.state import RunState
from actors.settings import Settings
from actors.supervisor.roles.plan_schema import worker_line
from actors.supervisor.roles.quoting import section
from actors.supervisor.roles.role import Role, Schema, Situation
from actors.supervisor.roles.schema import structure, text
from protocol.events import Event, Refined
from protocol.messages import Card

LONGEST_INTENT = 8_000


class Refiner(Role[CallRefiner]):
    """Ends in the new intent; in the old one if the model gave none: trying again is still worth it."""

    name = "refiner"
    trace = "refine"
    decision = CallRefiner
    workers = "seen"
    tokens = 16_000

    def model_name(self, settings: Settings) -> str:
        """The planner's model: the intents were its words."""
        return settings.model_planner

    def effort(self, settings: Settings) -> str:
        """It is a small role."""
        return settings.effort_refiner

    def key(self, decision: CallRefiner) -> str:
        """Several tasks may be refined at a time."""
        return f"refiner {decision.task}"

    def number(self, decision: CallRefiner, state: RunState) -> tuple[str | int, ...]:
        """The task, and the attempt that the new words are for."""
        return decision.task, state.tasks[decision.task].attempt + 1

    async def ask(self, decision: CallRefiner, situation: Situation) -> Event:
        """One call."""
        task = situation.state.tasks[decision.task]
        asked = refining(task, situation.workers.get(task.worker, ()))
        decided = await decide(self.model, self.prompt(situation, asked), INTENT)
        intent = decided.found.get("intent") if decided.found else None
        intent = intent.strip() if isinstance(intent, str) else ""
        return Refined(
            task=task.task.id,
            attempt=task.attempt + 1,
            intent=intent if 0 < len(intent) <= LONGEST_INTENT else task.intent,
            not_before=decision.not_before,
            reason=reason_of(task),
            usage=decided.usage,
            model=decided.model,
        )

    def example(self, situation: Situation) -> tuple[Schema | None, str]:
        """The failed task of the example."""
        task = next(task for task in situation.state.tasks.values() if task.status == "returned")
        return INTENT, refining(task, situation.workers.get(task.worker, ()))


INTENT = structure(
    {"intent": text("The new intent: complete in itself, specific, and unlike every intent that failed.")},
    title="intent",
)


def refining(task: TaskState, cards: Sequence[Card] = ()) -> str:
    """What the refiner is asked."""
    parts = [
        section("intent", task.intent),
        section("success", task.task.success),
        section("worker", worker_line(task.worker, cards) if cards else task.worker),
        section("attempt", str(task.attempt)),
        section("error", reason_of(task)),
    ]
    for number, (intent, result) in enumerate(task.earlier, 1):
        tried = f"intent: {intent}\nerror: {failure_of(result)}"
        parts.append(section("earlier", f"attempt {number} by {result.worker}\n{tried}"))
    return "\n\n".join(parts)
