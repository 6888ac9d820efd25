"""Whatever a model replies to a role, the provider accepts every request that follows."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from actors.model_server.offline.turn import Spoken
from actors.model_server.profiles import profile_of_model
from actors.settings import Effort, Settings
from actors.supervisor.roles.registry import make_roles
from tests.model.checked_model import CheckedModel
from tests.supervisor.role_kit import kit
from tests.supervisor.test_role_requests import EFFORTS, TEAMS, due, situation

MODELS = ("claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5", "claude-sonnet-4-6")
PLAN = msgspec.json.encode({"rationale": "r", "tasks": [{"id": "a", "worker": "nobody", "intent": "Do."}]}).decode()
LIMITS = st.sampled_from([0, 900, 10**6])
REPLIES = st.lists(
    st.builds(
        Spoken,
        text=st.sampled_from(["", " ", "Prose.", "prose " * 4_000, PLAN, '{"intent": "Again."}', '{"verdicts": []}']),
        stop_reason=st.sampled_from(["", "", "max_tokens", "refusal", "model_context_window_exceeded"]),
        thinking_tokens=st.sampled_from([None, 0, 40_000]),
    ),
    max_size=6,
)


@given(
    team=TEAMS, name=st.sampled_from(MODELS), effort=EFFORTS, replies=REPLIES, limit=st.sampled_from([0, 900, 10**6])
)
async def test_the_provider_accepts_every_request_of_a_role(
    team: dict[str, str], name: str, effort: Effort, replies: list[Spoken], limit: int
) -> None:
    profile = profile_of_model(name)
    assert profile is not None
    settings = {f"model_{role}": name for role in ("planner", "synthesizer", "judge")}
    efforts = {one: effort for one in Settings.__struct_fields__ if one.startswith("effort_")}
    where = situation(team)
    for decision in due(where.state):
        model = CheckedModel(profile, replies)
        roles = make_roles(kit(model, **settings, **efforts, max_tokens=limit))
        await roles.bind(decision, where.state).ask(where)
        assert model.refused == []
        assert model.calls
