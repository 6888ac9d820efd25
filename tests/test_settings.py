"""Settings come from flags, environment, file and defaults, in this order; every fault is told at once."""

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.setting_rules import ENVIRONMENT, HARMLESS, MAY_BE_ZERO
from actors.settings import ConfigFile, Settings, read_settings
from protocol.errors import InvalidError

PAGE = (Path(__file__).parent.parent / "docs" / "SETTINGS.md").read_text()
DEFAULTS: dict[str, Any] = msgspec.structs.asdict(Settings())
NUMBERS = [name for name, value in DEFAULTS.items() if isinstance(value, int | float) and not isinstance(value, bool)]


def told() -> dict[str, list[str]]:
    """The rows of the table in docs/SETTINGS.md, by setting."""
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| `")]
    return {row[0].strip("`"): row[1:] for row in rows}


def shown(value: str | float | bool) -> str:
    if value == "" and isinstance(value, str):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`" if isinstance(value, str) else f"`{value:.12g}`"


def faults_of(
    environment: dict[str, str], file: ConfigFile | None = None, flags: dict[str, Any] | None = None
) -> list[str]:
    with pytest.raises(InvalidError) as caught:
        read_settings(environment, file=file, flags=flags)
    return list(caught.value.faults)


def written(text: str | bytes, *, trusted: bool = True) -> ConfigFile:
    data = text if isinstance(text, bytes) else text.encode()
    return ConfigFile(path=Path("some/handoff.toml"), data=data, trusted=trusted)


def test_the_page_names_every_setting_in_order_and_no_other() -> None:
    assert list(told()) == list(Settings.__struct_fields__)


@pytest.mark.parametrize("name", Settings.__struct_fields__)
def test_the_page_tells_the_true_variable_and_default(name: str) -> None:
    variables, default, meaning = told()[name]
    own = [variable for variable, setting in ENVIRONMENT.items() if setting == name]
    assert variables == ", ".join(f"`{variable}`" for variable in own or [f"HANDOFF_{name.upper()}"])
    assert default == shown(DEFAULTS[name])
    assert len(meaning) > 10


def test_the_page_names_the_numbers_that_may_be_zero() -> None:
    paragraph = PAGE.partition("Numbers are above 0")[2].partition(".")[0]
    named = {name for name in NUMBERS if f"`{name}`" in paragraph}
    assert named == MAY_BE_ZERO & set(NUMBERS)


def test_without_anything_there_are_the_defaults() -> None:
    assert read_settings({}) == Settings()


def test_flags_win_over_the_environment_over_the_file_over_defaults() -> None:
    file = written("attempts = 7\ndepth = 7\nplan_tries = 7\n")
    environment = {"HANDOFF_ATTEMPTS": "8", "HANDOFF_DEPTH": "8"}
    settings = read_settings(environment, file=file, flags={"attempts": 9})
    assert (settings.attempts, settings.depth, settings.plan_tries, settings.deliveries) == (9, 8, 7, 10)


def test_a_flag_that_was_not_given_changes_nothing() -> None:
    assert read_settings({"HANDOFF_TEAM": "a"}, flags={"team": None}).team == "a"


def test_an_empty_variable_counts_as_not_set() -> None:
    assert read_settings({"HANDOFF_TEAM": "", "NATS_URL": "", "HANDOFF_NO_SUCH": ""}) == Settings()


@pytest.mark.parametrize(("variable", "name"), ENVIRONMENT.items())
def test_variables_that_other_programs_know_are_read(variable: str, name: str) -> None:
    assert getattr(read_settings({variable: "http://x"}), name) == "http://x"


@pytest.mark.parametrize("turned", [False, True])
def test_our_own_variable_wins_over_the_one_that_others_know(turned: bool) -> None:
    pairs = [("NATS_URL", "theirs"), ("HANDOFF_NATS_URL", "ours")]
    assert read_settings(dict(reversed(pairs) if turned else pairs)).nats_url == "ours"


def test_variables_of_other_programs_are_none_of_our_business() -> None:
    assert read_settings({"PATH": "/bin", "OTEL_SERVICE_NAME": "x", "ANTHROPIC_LOG": "debug"}) == Settings()


@given(st.sampled_from(NUMBERS), st.integers(2, 10**6))
def test_a_number_is_the_same_from_flag_and_variable(name: str, number: int) -> None:
    kept = {} if name == "keep_days" else {"keep_days": 100.0}  # long enough for every deadline_s and review_s
    by_flag = read_settings({}, flags=kept | {name: number})
    assert by_flag == read_settings({f"HANDOFF_{name.upper()}": str(number)}, flags=kept)
    assert getattr(by_flag, name) == number
    assert type(getattr(by_flag, name)) is type(DEFAULTS[name])


@pytest.mark.parametrize(("word", "value"), [("true", True), ("1", True), ("false", False), ("0", False)])
def test_a_switch_is_read_from_words(word: str, value: bool) -> None:
    assert read_settings({"HANDOFF_SYNC_ALWAYS": word}).sync_always is value


def test_every_fault_is_told_at_once() -> None:
    file = written('colour = "red"\nruns = "many"\n')
    environment = {"HANDOFF_NO_SUCH": "1", "HANDOFF_DEPTH": "deep", "HANDOFF_ATTEMPTS": "-1"}
    faults = faults_of(environment, file, {"grace_s": 0})
    assert len(faults) == 6
    for part in ("'colour'", "runs:", "HANDOFF_NO_SUCH", "depth:", "attempts:", "grace_s:"):
        assert sum(part in fault for fault in faults) == 1, part


def test_an_unknown_variable_of_ours_is_a_fault() -> None:
    assert faults_of({"HANDOFF_ATEMPTS": "3"}) == ["HANDOFF_ATEMPTS: there is no such setting"]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HANDOFF_ATTEMPTS", "three"),
        ("HANDOFF_ATTEMPTS", "2.5"),
        ("HANDOFF_ACK_WAIT_S", "5s"),
        ("HANDOFF_SYNC_ALWAYS", "perhaps"),
    ],
)
def test_a_value_of_the_wrong_type_is_a_fault_that_shows_it(variable: str, value: str) -> None:
    (fault,) = faults_of({variable: value})
    assert fault.startswith(variable.removeprefix("HANDOFF_").lower())
    assert f"(got {value!r})" in fault


def test_a_value_of_the_wrong_type_in_the_file_is_a_fault() -> None:
    (fault,) = faults_of({}, written("team = 5\n"))
    assert fault.startswith("team: ")


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_above_zero_unless_zero_means_something(name: str) -> None:
    assert faults_of({}, flags={name: -1}) == [f"{name}: must be above 0 (got {type(DEFAULTS[name])(-1)!r})"]
    if name in MAY_BE_ZERO:
        assert getattr(read_settings({}, flags={name: 0}), name) == 0
    else:
        assert len(faults_of({}, flags={name: 0})) == 1


def test_a_file_that_is_no_toml_is_a_fault_that_says_where() -> None:
    file = written("attempts = = 3\n")
    (fault,) = faults_of({}, file)
    assert str(file.path) in fault
    assert "line 1" in fault


def test_a_file_that_is_no_text_is_a_fault() -> None:
    file = written(b"\xff\xfe")
    (fault,) = faults_of({}, file)
    assert str(file.path) in fault


def test_of_an_untrusted_file_only_harmless_settings_count() -> None:
    values = {name: value for name, value in DEFAULTS.items() if name not in ("log_level", "anthropic_base_url")}
    lines = [f"{name} = {written_in_toml(value)}" for name, value in values.items()]
    file = written("\n".join(lines), trusted=False)
    assert set(file.ignored()) == set(values) - HARMLESS
    assert read_settings({}, file=written('team = "other"', trusted=False)).team == "default"
    assert read_settings({}, file=written('team = "other"')).team == "other"
    assert written("\n".join(lines)).ignored() == []


def test_a_setting_that_names_an_address_a_path_or_code_is_never_harmless() -> None:
    assert set(Settings.__struct_fields__) >= HARMLESS
    words = {name for name in HARMLESS if isinstance(DEFAULTS[name], str)}
    assert {name for name in words if not name.startswith("effort_")} == {"log_level"}
    assert not [name for name in HARMLESS if isinstance(DEFAULTS[name], bool) or "port" in name.split("_")]


def test_the_page_names_the_settings_that_count_in_any_file() -> None:
    paragraph = PAGE.partition("These keys count in any file:")[2].partition(".")[0]
    assert set(paragraph.split("`")[1::2]) == HARMLESS


def written_in_toml(value: str | float | bool) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def test_an_address_of_a_model_that_is_none_is_a_fault() -> None:
    (fault,) = faults_of({"ANTHROPIC_BASE_URL": "127.0.0.1:8123"})
    assert "anthropic_base_url: must begin with http:// or https:// (got '127.0.0.1:8123')" in fault
    assert read_settings({"ANTHROPIC_BASE_URL": "https://x"}).anthropic_base_url == "https://x"


def test_without_key_and_address_the_model_is_offline() -> None:
    assert Settings().offline
    assert not Settings(anthropic_api_key="k").offline
    assert not Settings(anthropic_base_url="http://127.0.0.1:1").offline


@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "HANDOFF_ANTHROPIC_API_KEY"])
def test_a_key_of_blanks_is_none(variable: str) -> None:
    assert read_settings({variable: " \n"}).offline


def test_the_home_is_in_the_home_of_the_user_unless_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert Settings().home_dir == Path("/home/somebody/.local/share/handoff")
    assert Settings(home="~/bus").home_dir == Path("/home/somebody/bus")


def test_times_with_a_unit_become_durations() -> None:
    settings = Settings(ack_wait_s=1.5, keep_days=0.5)
    assert settings.ack_wait.total_seconds() == 1.5
    assert math.isclose(settings.keep.total_seconds(), 43_200)


def test_a_webhook_is_a_secret_whole_and_in_its_long_parts() -> None:
    token, signature = "9f8e7d6c5b4a39281706", "Zm9vYmFyYmF6cXV4cXV1eA"
    url = f"https://chat.example/hooks/{token}?sig={signature}"
    assert set(read_settings({"HANDOFF_WEBHOOK_URL": url}).secrets) == {url, token, signature}


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://127.0.0.1:9/", ""])
def test_an_address_without_a_path_holds_no_secret(url: str) -> None:
    assert not Settings(webhook_url=url).secrets


@pytest.mark.parametrize("values", [{"keep_days": 1.0}, {"deadline_s": 600_000.0}, {"review_s": 700_000.0}])
def test_a_run_that_may_outlast_its_own_messages_is_refused(values: dict[str, float]) -> None:
    (fault,) = faults_of({}, flags=values)
    assert fault.startswith("keep_days")
    assert read_settings({}, flags=values | {"keep_days": 10.0}).keep_days == 10.0
