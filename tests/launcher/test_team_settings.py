"""The settings of a team's processes: flags, then the environment, then the team, then handoff.toml."""

import sys
from pathlib import Path

import pytest

from actors.launcher.finding import find_team, find_workers, is_defined
from actors.launcher.team_settings import read_team_settings
from actors.settings import ConfigFile, Settings
from protocol.errors import InvalidError
from protocol.messages import Budget

FILE = """
name = "night"
summary = "Works at night."

[supervisor]
attempts = 5
revisions = 5
deadline_s = 50
model_judge = "wise"
budget = { tokens = 500, steps = 50 }

[[workers]]
name = "ann"
summary = "Digs."
tools = ["actors.tools.arithmetic:calculate"]
"""
PYTHON = """
from actors import Team, Worker
team = Team("day", workers=(Worker("eve", summary="Sees.", run=lambda handoff: "seen"),), settings={"attempts": 9})
other = 5
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a team file and a team in Python."""
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "team.toml").write_text(FILE)
    (tmp_path / "day_shift.py").write_text(PYTHON)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "day_shift", raising=False)
    return tmp_path


def test_flags_win_over_the_environment_over_the_team_over_the_file(place: Path) -> None:
    data = 'team = "./my"\nattempts = 7\nrevisions = 7\ndeadline_s = 7\nplan_tries = 7\n'
    file = ConfigFile(path=place / "handoff.toml", data=data.encode(), trusted=True)
    settings = read_team_settings({"HANDOFF_REVISIONS": "8", "HANDOFF_ATTEMPTS": "8"}, file=file, flags={"attempts": 9})
    assert (settings.attempts, settings.revisions, settings.deadline_s, settings.plan_tries) == (9, 8, 50, 7)
    assert settings.model_judge == "wise"
    assert settings.budget == Budget(tokens=500, steps=50, usd=1.0)


@pytest.mark.parametrize("way", ["./my", "my/", "./my/team.toml", "my/team.toml"])
def test_a_team_file_gives_its_name_and_is_remembered_by_its_whole_path(place: Path, way: str) -> None:
    settings = read_team_settings({"HANDOFF_TEAM": way})
    assert (settings.team, settings.team_source) == ("night", str(place / "my" / "team.toml"))
    assert [worker.name for worker in find_team(settings).workers] == ["ann"]
    assert [worker.name for worker in find_workers(["ann"], settings)] == ["ann"]


@pytest.mark.parametrize("way", ["day_shift:team", "day_shift.py:team", "./day_shift.py:team"])
def test_a_team_in_python_is_found_by_its_import_path(place: Path, way: str) -> None:
    settings = read_team_settings({}, flags={"team": way})
    assert (settings.team, settings.attempts) == ("day", 9)
    assert [worker.name for worker in find_team(settings).workers] == ["eve"]
    with pytest.raises(InvalidError, match="a team in Python, with data of its own"):
        find_team(read_team_settings({"HANDOFF_DATA": "/"}, flags={"team": way}))


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("way", "fault"),
    [
        ("day_shift:other", "day_shift has no Team called 'other'"),
        ("nowhere:team", "no module of that name"),
        ("./nowhere.py:team", "there is no such file"),
        ("./nowhere", "nowhere/team.toml: No such file or directory"),
    ],
)
def test_a_place_without_a_team_is_refused(way: str, fault: str) -> None:
    with pytest.raises(InvalidError, match=fault):
        read_team_settings({}, flags={"team": way})


def test_a_team_that_comes_along_needs_no_place() -> None:
    assert read_team_settings({}) == Settings()
    assert is_defined(Settings())


def test_a_team_that_is_written_down_nowhere_may_still_run_on_the_bus() -> None:
    settings = read_team_settings({}, flags={"team": "elsewhere"})
    assert settings == Settings(team="elsewhere")
    assert not is_defined(settings)


@pytest.mark.usefixtures("place")
def test_a_bare_name_is_not_taken_for_a_folder_but_the_folder_is_hinted_at() -> None:
    with pytest.raises(InvalidError, match=r"for the one in this folder write --team \./my"):
        find_team(read_team_settings({}, flags={"team": "my"}))


@pytest.mark.usefixtures("place")
def test_a_setting_of_a_team_in_python_that_does_not_exist_is_told() -> None:
    Path("day_shift.py").write_text(PYTHON.replace("attempts", "atempts"))
    with pytest.raises(InvalidError, match="there is no setting 'atempts'"):
        read_team_settings({}, flags={"team": "./day_shift.py:team"})


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("name", ["anne", "anne-marie", "__main__x"])
def test_a_worker_that_the_team_does_not_have_is_refused_with_those_it_has(name: str) -> None:
    settings = read_team_settings({}, flags={"team": "./my"})
    with pytest.raises(InvalidError, match=r"team 'night' has no such worker \(it has ann\), nor is it a module"):
        find_workers([name], settings)


def test_the_place_of_a_team_may_be_set_by_itself_but_not_against_its_name(place: Path) -> None:
    source = {"HANDOFF_TEAM_SOURCE": str(place / "my")}
    for flags in ({}, {"team": "night"}):
        assert read_team_settings(source, flags=flags).team == "night"
    assert read_team_settings(source, flags={"team": "./day_shift.py:team"}).team == "day"
    with pytest.raises(InvalidError, match="is the place of 'night', and team says 'late': set one of them"):
        read_team_settings(source, flags={"team": "late"})


def test_the_home_of_a_user_that_does_not_exist_is_refused_like_any_other_place() -> None:
    with pytest.raises(InvalidError, match="No such file"):
        read_team_settings({}, flags={"team": "~nobody-of-that-name/team"})
    with pytest.raises(InvalidError, match="does not exist"):
        find_team(Settings(data="~nobody-of-that-name"))
