"""The planner asked for a new revision: what it is held to, and what it is not."""

from collections.abc import Callable
from typing import Any

from model_replies import decided
from run.folding import RUN, a_task, begun, handed_out, result_of
from supervisor.role_kit import kit

from actors.model.port import Call, Reply
from actors.run.decisions import CallReplanner
from actors.run.state import RunState
from actors.supervisor.roles.planner import Planner
from actors.supervisor.roles.replanner import Replanner
from actors.supervisor.roles.role import Choice, Situation
from protocol.events import Planned, PlanRejected, ReplanFailed, Replanned
from protocol.messages import Card, Plan, Request

WORKERS = {"w": [Card(worker="w", instance="i")]}
NEW = {"id": "ops", "worker": "w", "intent": "raise max_connections of the shop database", "success": "it is 100"}


class Says:
    """A model that hands in the same plan each time."""

    def __init__(self, *tasks: dict[str, Any]) -> None:
        self._plan = {"goal": "g", "tasks": list(tasks)}

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        return decided(self._plan)

    async def close(self) -> None:
        pass


def under_way() -> RunState:
    """A client's own plan, in its own short words and without criteria, half of it done."""
    plan = Plan(tasks=(a_task("a"), a_task("b"), a_task("c", "a")))
    state = begun(Request(id=RUN, text="t", plan=plan))
    state.fold(Planned(plan=plan), 100.0)
    handed_out(state)
    state.fold(result_of("a", "done"), 102.0)
    return state


async def revised(*tasks: dict[str, Any]) -> Replanned | ReplanFailed:
    state = under_way()
    situation = Situation(request=Request(id=RUN), state=state, now=103.0, choice=Choice(workers=WORKERS))
    event = await Replanner(kit(Says(*tasks))).ask(CallReplanner(("it is a setting",)), situation)
    assert isinstance(event, Replanned | ReplanFailed)
    return event


async def test_the_words_of_a_client_are_kept_as_they_are() -> None:
    kept = {"id": "b", "worker": "w", "intent": "do b", "success": ""}
    event = await revised(kept, NEW | {"depends_on": ["a"]})
    assert isinstance(event, Replanned), event
    assert [task.id for task in event.plan.tasks] == ["a", "b", "ops"]


async def test_new_work_is_held_to_the_rules_of_a_planner() -> None:
    event = await revised(NEW | {"intent": "analyze the data", "success": " "})
    assert isinstance(event, ReplanFailed)
    assert [fault.split(":")[0].split(" (")[0] for fault in event.faults] == [
        "task 'ops' has no success criterion",
        "task 'ops' is vague",
    ]


async def test_a_worker_whose_breaker_is_open_is_not_called_unknown() -> None:
    choice = Choice(workers=WORKERS, shunned=frozenset({"shaky"}))
    task = NEW | {"worker": "shaky", "fallback": "ghost"}
    roles = kit(Says(task))
    situation = Situation(request=Request(id=RUN, text="t"), state=under_way(), now=103.0, choice=choice)
    replanned = await Replanner(roles).ask(CallReplanner(("x",)), situation)
    for event in (replanned, await Planner(roles).plan(situation, ())):
        assert isinstance(event, ReplanFailed | PlanRejected)
        shaky, ghost = event.faults
        assert "'shaky'" in shaky
        assert "breaker is open" in shaky
        assert "no such worker" not in shaky
        assert "no such worker" in ghost
