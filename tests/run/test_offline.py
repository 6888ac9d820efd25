"""The offline model: when an answer says in its first line that it answered."""

import pytest

from actors.run.offline import empty_variables, first_line, offline_name, reason_in
from protocol.messages import Usage

CALLED = Usage(model_calls=1)
EMPTY = {"ANTHROPIC_API_KEY": " "}
MEANT = offline_name(empty_variables(EMPTY))


@pytest.mark.parametrize("environment", [{}, {"ANTHROPIC_API_KEY": "k"}, {"HANDOFF_OFFLINE_URL": ""}])
def test_no_key_is_meant_where_no_variable_of_a_model_is_empty(environment: dict[str, str]) -> None:
    assert empty_variables(environment) == ""


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"])
def test_an_empty_variable_means_a_key_and_is_named(name: str) -> None:
    assert name in empty_variables({name: ""})
    assert name in reason_in(offline_name(empty_variables({name: ""})))


@pytest.mark.parametrize(
    ("models", "spending", "named"),
    [
        ({"supervisor": "offline-rules", "a": "offline-rules"}, {"a": CALLED, "planner": CALLED}, None),
        ({"supervisor": "claude", "a": "claude", "b": ""}, {"a": CALLED, "b": CALLED}, None),
        ({"supervisor": MEANT, "a": ""}, {"planner": CALLED, "a": Usage()}, ["planner", "ANTHROPIC_API_KEY"]),
        ({"supervisor": "offline-rules", "a": MEANT}, {"a": CALLED}, ["a answered", "ANTHROPIC_API_KEY"]),
        ({"supervisor": "claude", "a": "offline-rules"}, {"a": CALLED, "planner": CALLED}, ["a answered"]),
        ({"supervisor": "offline-rules", "a": "claude"}, {"a": CALLED, "planner": CALLED}, ["planner answered"]),
        ({"supervisor": "claude", "a": "offline-rules"}, {"planner": CALLED}, None),
        ({"supervisor": "claude", "a": MEANT}, {"a": Usage()}, None),
    ],
)
def test_the_first_line_names_who_was_offline_if_a_key_was_meant_or_actors_differ(
    models: dict[str, str], spending: dict[str, Usage], named: list[str] | None
) -> None:
    line = first_line(models, spending)
    assert bool(line) == (named is not None)
    assert all(part in line for part in named or [])
    assert "\n" not in line
