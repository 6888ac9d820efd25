import subprocess
import sys
from pathlib import Path

import pytest

from actors import teams
from actors.teams.team import Team
from actors.tools.server import ToolServer
from actors.tools.tool import Tool, tool
from actors.worker.definition import Worker
from protocol.errors import InvalidError

ONE_OWNER = "a tool has one owner; a prefix gives one of them a copy"


def named(name: str) -> Tool:
    @tool(name=name)
    def work() -> str:
        """Work."""
        return ""

    return work


def worker(name: str, *tools: str) -> Worker:
    return Worker(name, summary="Works.", tools=[named(tool) for tool in tools])


def test_a_team_of_distinct_workers_finds_them_by_name() -> None:
    team = Team("night", workers=(worker("ann", "dig"), worker("bob", "fill")))
    assert team.worker("bob") is team.workers[1]
    assert team.worker("eve") is None


def test_all_faults_of_a_team_are_told_at_once() -> None:
    with pytest.raises(InvalidError) as caught:
        Team("night shift", workers=(worker("ann", "dig"), worker("bob", "dig", "fill"), worker("bob")))
    assert caught.value.faults == (
        "team 'night shift' is not a valid id: use 1 to 32 characters of A-Z a-z 0-9 _ -",
        "team 'night shift' has 2 workers named 'bob': give each a name of its own",
        f"team 'night shift': workers 'ann' and 'bob' share the tool 'dig': {ONE_OWNER}",
    )


def test_a_team_without_workers_is_refused() -> None:
    with pytest.raises(InvalidError, match="has no workers"):
        Team("empty", workers=())


def test_teams_are_found_by_name() -> None:
    assert "default" in teams.names()
    assert teams.find("default").name == "default"


def test_an_unknown_team_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidError, match=f"there is no team 'nobody'; the teams are: {', '.join(teams.names())}"):
        teams.find("nobody")


@pytest.mark.parametrize("name", teams.names())
def test_every_team_that_comes_along_is_in_order_and_named_like_its_folder(name: str) -> None:
    team = teams.find(name)
    assert team.name == name
    assert team.summary
    assert len(team.samples) >= 3


def test_looking_at_teams_does_not_load_their_tools() -> None:
    look = "import sys; from actors import teams; teams.names(); print(*{'sqlite3', 'simpleeval'} & set(sys.modules))"
    root = Path(teams.__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", look], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ((), (), "all its tools"),
        (("read",), (), "all its tools"),
        (("read", "list"), ("read",), "share read of"),
        (("read",), ("write",), ""),
    ],
)
def test_a_tool_server_lends_a_tool_to_one_worker_only(
    one: tuple[str, ...], other: tuple[str, ...], shared: str
) -> None:
    lent = [ToolServer("files", command=("serve",), tools=tools) for tools in (one, other)]
    workers = tuple(
        Worker(name, summary="Works.", mcp=[server]) for name, server in zip(("ann", "bob"), lent, strict=True)
    )
    if not shared:
        assert Team("night", workers=workers).workers == workers
        return
    with pytest.raises(InvalidError, match=shared):
        Team("night", workers=workers)
