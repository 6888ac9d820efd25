"""The replanner: asks the planner's model for a new revision of a plan that no longer fits."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from actors.model.decision import Decided
from actors.run.board import TaskState
from actors.run.decisions import CallReplanner
from actors.run.plan_check import Known, planner_faults
from actors.run.revision import revised
from actors.run.state import RunState
from actors.supervisor.roles.plan_schema import cannot, plan_schema, read_plan
from actors.supervisor.roles.planning import PlanningRole, planning, refused
from actors.supervisor.roles.quoting import listed, section
from actors.supervisor.roles.role import Schema, Situation, Workers
from protocol.events import Event, ReplanFailed, Replanned
from protocol.messages import Plan, Request, Usage

LONGEST_RESULT = 500

NEW_PLAN = """\
The plan no longer fits, for the reasons given. Hand in a new one. List the tasks that stay with their ids and words \
unchanged: what is completed is kept and not done again. Give new work new ids. Do not hand out again what came to \
nothing."""


class Replanner(PlanningRole[CallReplanner]):
    """Ends in a new revision, or in everything that was wrong with the last try."""

    trace = "replan"
    decision = CallReplanner

    async def ask(self, decision: CallReplanner, situation: Situation) -> Event:
        """Several tries, each with what was wrong with the one before."""
        reasons, usage, wrong = decision.reasons, Usage(), list[str]()
        for _ in range(self._kit.settings.plan_tries):
            asked = replanning(situation.state, situation.workers, reasons, wrong)
            decided = await self.decided(situation, asked)
            usage += decided.usage
            plan, wrong = _outcome(decided, situation)
            if plan is not None:
                return Replanned(plan=plan, reasons=reasons, usage=usage, model=decided.model)
            if _is_final(decided):
                break
        return ReplanFailed(reasons=reasons, faults=tuple(wrong), usage=usage, model=self.model.name)

    def example(self, situation: Situation) -> tuple[Schema | None, str]:
        """The example's plan, with a reason against it."""
        reasons = ["market (researcher) found: the price list is of last year"]
        return plan_schema(list(situation.workers)), replanning(situation.state, situation.workers, reasons, ())


def replanning(state: RunState, workers: Workers, reasons: Sequence[str], faults: Sequence[str]) -> str:
    """What the planner is asked when the plan it made no longer fits."""
    rows = "\n".join(_standing(task) for task in state.tasks.values() if task.status != "dropped")
    parts = [
        planning(state.request or Request(), workers, (), state.limits.planner_tasks),
        f"<plan>\n{rows}\n</plan>",
        section("why", listed(reasons)),
        NEW_PLAN,
    ]
    return "\n\n".join([*parts, refused(faults)] if faults else parts)


def _outcome(decided: Decided, situation: Situation) -> tuple[Plan | None, list[str]]:
    """The new revision, or what is wrong with it."""
    if decided.found is None:
        return None, [f"there is no plan: {decided.fault}"]
    if reason := cannot(decided.found):
        return None, [reason]
    state, workers = situation.state, [*situation.workers, *_known(situation.state)]
    plan = read_plan(decided.found, workers)
    if isinstance(plan, str):
        return None, [plan]
    plan, wrong = revised(state, plan)
    budget = situation.request.budget
    known = Known(workers=workers, shunned=situation.choice.shunned)
    wrong += planner_faults(plan, state.limits.planner_tasks, known, budget, state.tasks)
    return (None, wrong) if wrong else (plan, [])


def _is_final(decided: Decided) -> bool:
    """Whether asking again would lead to the same."""
    return decided.kind in ("refused", "cut", "prose") or bool(decided.found and cannot(decided.found))


def _known(state: RunState) -> list[str]:
    """Workers that tasks of the plan already went to: they may be gone, but what they did stays."""
    return [task.task.worker for task in state.tasks.values() if task.status in ("completed", "handed")]


def _standing(task: TaskState) -> str:
    needs = f" needs {', '.join(task.task.depends_on)}" if task.task.depends_on else ""
    line = f"{task.task.id} ({task.worker}) [{task.status}]{needs}: {task.intent}"
    if task.status == "completed" and task.result:
        line += f"\n  result: {task.result.output[:LONGEST_RESULT]}"
    return escape(line)
