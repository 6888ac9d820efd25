"""docs/TEAMS.md against the code: every key, the file that `handoff init` writes, and the team in Python."""

import re
from pathlib import Path

import msgspec
import pytest

from actors.cli.init import STARTER
from actors.launcher.finding import imported_team
from actors.teams.form import ServerTable, SupervisorTable, Table, TeamForm, WorkerTable

PAGE = (Path(__file__).parents[2] / "docs" / "TEAMS.md").read_text()


def block(language: str, number: int = 0) -> str:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[number]


def told(heading: str) -> list[str]:
    """The keys in the first column of the table under a heading."""
    part = PAGE.partition(f"{heading}\n")[2].partition("\n#")[0]
    rows = [line.split(" | ")[0] for line in part.splitlines() if line.startswith("| `")]
    return [key for row in rows for key in re.findall(r"`(\w+)`", row)]


@pytest.mark.parametrize(
    ("heading", "kind", "elsewhere"),
    [
        ("## Every key", TeamForm, {"supervisor", "mcp", "workers"}),
        ("### `[supervisor]`", SupervisorTable, set[str]()),
        ("### `[[workers]]`, one table each", WorkerTable, set[str]()),
        ("### `[mcp.NAME]`", ServerTable, set[str]()),
    ],
)
def test_the_page_names_every_key_and_no_other(heading: str, kind: type[Table], elsewhere: set[str]) -> None:
    assert told(heading) == [field.name for field in msgspec.structs.fields(kind) if field.name not in elsewhere]


def test_the_page_shows_what_init_writes() -> None:
    assert block("toml") == (STARTER / "team.toml").read_text()
    assert block("python") == (STARTER / "tools.py").read_text()


def test_the_team_in_python_is_one(tmp_path: Path) -> None:
    file = tmp_path / "echoes_of_the_page.py"
    file.write_text(block("python", 1))
    assert imported_team(f"{file}:team").name == "echoes"
