"""A team of one's own: written by `handoff init`, shown by `handoff teams`, and run where it lies."""

import csv
import signal
from pathlib import Path

import pytest

from actors import teams
from actors.cli.init import QUESTION
from tests.cli.running import Here, Process, handoff

FILES = ["my-team/data/prices.csv", "my-team/data/rules.md", "my-team/team.toml", "my-team/tools.py"]


def test_init_writes_a_team_that_is_in_order_and_says_what_to_do(here: Here, home: Path) -> None:
    ended = here("init", "my-team")
    assert (ended.code, ended.out.split()) == (0, FILES)
    assert f"handoff ask --team ./my-team '{QUESTION}'" in ended.err
    assert 'name = "my-team"' in Path("my-team/team.toml").read_text()
    assert len(Path("my-team/team.toml").read_text().splitlines()) <= 35
    team = teams.find("./my-team")
    assert team.name == "my-team"
    assert QUESTION in team.samples
    assert not home.exists()


@pytest.mark.parametrize("name", ["my-team", "file", "link"])
def test_init_overwrites_nothing(here: Here, name: str) -> None:
    assert here("init", "my-team").code == 0
    Path("file").write_text("mine")
    Path("link").symlink_to("nowhere")
    kept = Path("my-team/team.toml").read_text()
    ended = here("init", name)
    assert (ended.code, ended.out) == (2, "")
    assert f"{name} is there already: choose another name, nothing is overwritten" in ended.err
    assert Path("my-team/team.toml").read_text() == kept
    assert Path("file").read_text() == "mine"
    assert not Path("nowhere").exists()


def test_init_takes_an_empty_folder_and_no_odd_name(here: Here) -> None:
    Path("empty").mkdir()
    assert here("init", "empty").code == 0
    assert teams.find("./empty").name == "empty"
    odd = here("init", "my team")
    assert odd.code == 2
    assert "'my team' is not a valid id" in odd.err
    assert "comes along: choose another name" in here("init", "default").err


def test_teams_shows_one_of_ones_own_by_its_place(here: Here) -> None:
    here("init", "my-team")
    shown = here("teams", "./my-team")
    assert shown.code == 0
    for part in ("my-team: ", "(not running)", "clerk", "find_price, calculate", f"--team ./my-team '{QUESTION}'"):
        assert part in shown.out
    facts = here("teams", "./my-team", "--json").data
    assert [member["name"] for member in facts["workers"]] == ["clerk", "cashier"]
    assert facts["source"] == str(Path("my-team/team.toml").absolute())


def test_teams_lists_all_that_come_along_and_refuses_one_that_nobody_knows(here: Here) -> None:
    listed = here("teams").out
    assert all(name in listed for name in teams.names())
    ended = here("teams", "nobody")
    assert (ended.code, ended.out) == (2, "")
    assert "there is no team 'nobody'" in ended.err


@pytest.mark.parametrize("command", [("ask", "hi"), ("up",), ("plan", "hi"), ("worker", "ann"), ("supervisor",)])
def test_a_team_file_with_faults_starts_nothing(here: Here, home: Path, command: tuple[str, ...]) -> None:
    Path("team.toml").write_text('nam = "x"\n[[workers]]\nname = "ann"\nbudget = { tokens = 0 }\n')
    ended = here(*command, "--team", "./team.toml")
    assert (ended.code, ended.out) == (2, "")
    lines = ended.err.splitlines()
    assert len(lines) == 5
    assert all("team.toml: " in line for line in lines)
    assert not home.exists()


@pytest.mark.process
def test_what_init_wrote_answers_at_once_with_facts_from_its_data(home: Path, tmp_path: Path) -> None:
    assert handoff(home, "init", "my-team", cwd=tmp_path).code == 0
    ended = handoff(home, "ask", "--team", "./my-team", QUESTION, cwd=tmp_path)
    assert ended.code == 0, ended.err
    with (tmp_path / "my-team/data/prices.csv").open() as file:
        week = next(row["week_eur"] for row in csv.DictReader(file) if row["bike"] == "tandem")
    assert f"{week} euros a week [prices.csv]" in ended.out
    assert "[rules.md]" in ended.out
    assert "→ clerk" in ended.err
    assert "→ cashier" in ended.err


@pytest.mark.process
def test_a_running_team_is_found_by_its_name_from_anywhere(home: Path, tmp_path: Path) -> None:
    assert handoff(home, "init", "my-team", cwd=tmp_path).code == 0
    (tmp_path / "else").mkdir()
    up = Process(home, "up", "--team", "./my-team", cwd=tmp_path)
    try:
        up.until_said('handoff ask --team my-team "..."')
        ended = handoff(home, "ask", "--team", "my-team", "--no-start", QUESTION, cwd=tmp_path / "else")
        assert ended.code == 0, ended.err
        assert "[prices.csv]" in ended.out
        shown = handoff(home, "teams", "my-team", cwd=tmp_path / "else").out
        assert "(running)" in shown
        assert "cashier" in shown
        # As `timeout` and service managers do it: the process, then its group.
        up.tell(signal.SIGTERM)
        up.until_said("stopping")
        up.tell(signal.SIGTERM)
        ended = up.ended()
        assert (ended.code, ended.out) == (0, "")
        assert ended.err.endswith("stopped\n")
    finally:
        up.close()
