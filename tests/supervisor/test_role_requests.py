"""What the roles of a supervisor send is inside what each model takes, whatever the team and the settings are."""

import copy
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_replies import decided, wrote

from actors.model.port import Call, Reply
from actors.model.profiles import PROFILES, profile_of
from actors.model.wire import wire_of
from actors.run import decisions
from actors.run.decisions import CallCondenser, CallPlanner, CallRefiner, CallReplanner, ModelCall
from actors.run.reading import to_read
from actors.settings import Effort, Settings
from actors.supervisor.pricing import Pricing, nobody_knows
from actors.supervisor.roles.example import example
from actors.supervisor.roles.plan_schema import MOST_NAMES
from actors.supervisor.roles.registry import ROLES, make_roles
from actors.supervisor.roles.role import Choice, RoleKit, Situation
from actors.supervisor.roles.single_task import single_task_plan
from protocol.events import Planned, PlanRejected, kind
from protocol.messages import Card, Request

NAMES = st.text("abcdefgh-_AZ09", min_size=1, max_size=32)
TEAMS = st.dictionaries(NAMES, st.text(max_size=40), min_size=1, max_size=MOST_NAMES + 5)
EFFORTS = st.sampled_from(get_args(Effort))
MODELS = [*PROFILES, "somebody-else"]


class Recorder:
    """Writes prose to every call, and remembers the calls."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        self.calls.append(call)
        return wrote("prose")

    async def close(self) -> None:
        pass


def situation(team: dict[str, str]) -> Situation:
    base = example(1_790_000_000.0)
    workers = {name: [Card(worker=name, instance="i", summary=summary)] for name, summary in team.items()}
    return Situation(request=base.request, state=base.state, now=base.now, choice=Choice(workers=workers))


def due(state: Any) -> list[ModelCall]:
    """One decision of each kind."""
    results = tuple(to_read(state))
    given: dict[type[ModelCall], ModelCall] = {
        CallPlanner: CallPlanner(("a circle",)),
        CallReplanner: CallReplanner(("declined",)),
        CallRefiner: CallRefiner("market", 0.0),
        CallCondenser: CallCondenser("k", results),
    }
    return [given.get(one) or one() for one in ModelCall.__subclasses__()]


@given(team=TEAMS, name=st.sampled_from(MODELS), effort=EFFORTS, limit=st.sampled_from([0, 100, 10**6]))
async def test_no_request_of_a_role_is_outside_what_its_model_takes(
    team: dict[str, str], name: str, effort: Effort, limit: int
) -> None:
    import anthropic

    models: dict[str, Any] = {f"model_{role}": name for role in ("planner", "synthesizer", "judge")}
    efforts: dict[str, Any] = {one: effort for one in Settings.__struct_fields__ if one.startswith("effort_")}
    settings = Settings(**models, **efforts, max_tokens=limit)
    recorder, profile = Recorder(), profile_of(name)
    roles = make_roles(RoleKit(model=recorder, settings=settings, pricing=Pricing(nobody_knows, settings)))
    where = situation(team)
    for decision in due(where.state):
        await roles.bind(decision, where.state).ask(where)
    for call in recorder.calls:
        asked = wire_of(call, name)
        assert "tool_choice" not in asked
        assert "thinking" not in asked
        assert asked["max_tokens"] <= profile.output_tokens
        output = asked.get("output_config", {})
        assert output.get("effort", "") in ("", *profile.efforts)
        if "format" in output:
            schema = output["format"]["schema"]
            assert anthropic.transform_schema(copy.deepcopy(schema)) == schema


def test_every_decision_that_takes_a_model_has_its_role() -> None:
    kinds = {one for one in vars(decisions).values() if isinstance(one, type) and issubclass(one, ModelCall)}
    assert {role.decision for role in ROLES} == kinds - {ModelCall}


@pytest.mark.parametrize("refused", [True, False])
async def test_a_refused_plan_is_not_asked_for_again_and_says_why(refused: bool) -> None:
    class Refuses(Recorder):
        async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
            details = {"category": "cyber", "explanation": "not this"}
            return wrote("", "refusal", stop_details=details) if refused else decided({"tasks": []})

    settings = Settings()
    kit = RoleKit(model=Refuses(), settings=settings, pricing=Pricing(nobody_knows, settings))
    where = situation({"w": "Works."})
    event = await make_roles(kit).bind(CallPlanner(()), where.state).ask(where)
    assert isinstance(event, PlanRejected)
    assert event.hopeless is refused
    assert ("cyber" in event.faults[0]) is refused


async def test_a_model_that_writes_prose_only_gets_one_task_for_the_worker_that_fits_best() -> None:
    recorder, settings = Recorder(), Settings()
    kit = RoleKit(model=recorder, settings=settings, pricing=Pricing(nobody_knows, settings))
    where = situation({"gardener": "Waters plants.", "analyst": "Counts regions and growth."})
    event = await make_roles(kit).bind(CallPlanner(()), where.state).ask(where)
    assert isinstance(event, Planned), kind(event)
    assert [(task.worker, task.intent) for task in event.plan.tasks] == [("analyst", where.request.text)]
    assert event.unplanned


def test_of_workers_that_fit_equally_well_the_first_gets_the_task() -> None:
    workers = {name: [Card(worker=name, instance="i")] for name in ("first", "second")}
    assert single_task_plan(Request(text="Anything?"), workers)[0].tasks[0].worker == "first"
