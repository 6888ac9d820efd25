from pathlib import Path

import pytest
from writing import ANN, BOB, TOOLS, TOP, faults_of, write_team

from actors import teams
from actors.teams.team import Team
from actors.tools.server import ToolServer
from protocol.messages import Budget, Handoff

HANDOFF = Handoff(run="ab" * 16, task="t", attempt=1, from_agent="s", to_agent="w", intent="say this")

WHOLE = """
name = "support"
summary = "Helps."
data = "data"
samples = ["What is wrong?", "Who knows?"]
rules = "Cite sources."

[supervisor]
model_planner = "big"
deadline_s = 300
budget = { tokens = 1000, usd = 0.5 }

[mcp.files]
command = ["python", "-m", "my_server"]
tools = ["read_file", "list_files"]
timeout_s = 20

[mcp.web]
url = "http://127.0.0.1:9000/mcp"

[[workers]]
name = "troubleshooter"
summary = "Finds out what is wrong."
prompt = "You find faults."
model = "small"
tools = [
  "tools:dig",
  { use = "tools:over", data = "deep", prefix = "deep" },
  "mcp:files/read_file",
  "mcp:web",
]
budget = { tokens = 20000, steps = 10, seconds = 2.5 }
concurrency = 2
fallback = "generalist"
max_turns = 5

[[workers]]
name = "generalist"
summary = "Does the rest."
prompt_file = "prompts/rest.md"
tools = ["actors.tools.library:build", "mcp:files/list_files"]

[[workers]]
name = "counsel"
summary = "A lawyer."
person = true

[[workers]]
name = "echo"
summary = "Repeats."
function = "tools:echo"
"""


@pytest.fixture
def whole(tmp_path: Path) -> Team:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "rest.md").write_text("You do the rest.\n")
    return teams.find(str(write_team(tmp_path, WHOLE)))


def test_every_key_of_a_team_arrives(whole: Team) -> None:
    assert (whole.name, whole.summary, whole.samples) == ("support", "Helps.", ("What is wrong?", "Who knows?"))
    assert whole.settings == {"model_planner": "big", "deadline_s": 300.0, "budget_tokens": 1000, "budget_usd": 0.5}
    assert [worker.name for worker in whole.workers] == ["troubleshooter", "generalist", "counsel", "echo"]


def test_every_key_of_a_worker_arrives(whole: Team) -> None:
    first, second, person, function = whole.workers
    assert (first.summary, first.model, first.prompt) == (
        "Finds out what is wrong.",
        "small",
        "You find faults.\n\nCite sources.",
    )
    assert (first.concurrency, first.fallback, first.max_turns) == (2, "generalist", 5)
    assert first.budget == Budget(tokens=20000, steps=10, seconds=2.5)
    assert second.prompt == "You do the rest.\n\nCite sources."
    assert second.budget == Budget()
    assert person.person
    assert not first.person
    assert function.run is not None
    assert function.run(HANDOFF) == "say this"


async def test_tools_are_imported_made_for_a_part_of_the_data_and_prefixed(whole: Team) -> None:
    first, second, *_ = whole.workers
    assert [tool.name for tool in first.tools] == ["dig", "deep_names"]
    assert [tool.name for tool in second.tools] == ["search_documents", "read_document"]
    assert await first.tools[0].call({"where": "here"}) == "dug here"
    assert await first.tools[1].call({}) == "well.md"


def test_tool_servers_are_carried_with_the_tools_that_each_worker_takes(whole: Team, tmp_path: Path) -> None:
    command = ("python", "-m", "my_server")
    files = ToolServer("files", command=command, tools=("read_file",), timeout_s=20.0, cwd=str(tmp_path))
    assert list(whole.workers[0].mcp) == [files, ToolServer("web", url="http://127.0.0.1:9000/mcp")]
    assert [server.tools for server in whole.workers[1].mcp] == [("list_files",)]


def test_any_tool_can_be_one_that_a_person_must_allow(tmp_path: Path) -> None:
    servers = '[mcp.files]\ncommand = ["serve"]\n[mcp.web]\nurl = "http://127.0.0.1:9000/mcp"\n'
    tools = """tools = [
  { use = "tools:dig", confirm = true },
  "tools:over",
  "mcp:files",
  { use = "mcp:files/write", confirm = true },
  { use = "mcp:web", confirm = true },
]
"""
    (ann,) = teams.find(str(write_team(tmp_path, TOP + servers + ANN + tools))).workers
    assert [(tool.name, tool.confirm) for tool in ann.tools] == [("dig", True), ("names", False)]
    files, web = ann.mcp
    assert (files.tools, web.tools) == ((), ())
    assert [files.asks_before("write"), files.asks_before("read"), web.asks_before("read")] == [True, False, True]


@pytest.mark.parametrize("way", ["{0}", "{0}/", "{0}/team.toml"])
def test_a_team_is_found_by_its_folder_or_its_file(tmp_path: Path, way: str) -> None:
    write_team(tmp_path, TOP, ANN)
    assert teams.find(way.format(tmp_path)).name == "night"


async def test_another_data_folder_replaces_its_own(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "else.md").write_text("x")
    file = write_team(tmp_path, TOP, 'data = "gone"', ANN, 'tools = ["tools:over"]')
    (tool,) = teams.find(str(file), other).workers[0].tools
    assert await tool.call({}) == "else.md"
    assert f"'{tmp_path / 'gone'}' does not exist" in faults_of(file)[0]


async def test_a_team_without_data_needs_no_folder(tmp_path: Path) -> None:
    file = tmp_path / "team.toml"
    file.write_text(TOP + ANN + 'tools = ["actors.tools.arithmetic:calculate"]')
    assert await teams.find(str(file)).workers[0].tools[0].call({"expression": "2 * 3"})
    file.write_text(TOP + ANN + 'tools = ["actors.tools.library:build"]')
    (fault,) = faults_of(file)
    assert fault.startswith("worker 'ann': tool 'actors.tools.library:build': needs a data folder, and there is none")


async def test_two_teams_may_each_have_tools_of_the_same_name(tmp_path: Path) -> None:
    said: list[str] = []
    for name in ("east", "west"):
        (tmp_path / name).mkdir()
        file = write_team(tmp_path / name, TOP, ANN, 'tools = ["tools:dig"]', tools=TOOLS.replace("dug", f"{name}:"))
        said.append(await teams.find(str(file)).workers[0].tools[0].call({"where": "x"}))
    assert said == ["east: x", "west: x"]


def test_modules_beside_the_file_may_import_each_other(tmp_path: Path) -> None:
    (tmp_path / "shapes.py").write_text("NAME = 'round'")
    file = write_team(tmp_path, TOP, ANN, 'tools = ["tools:dig"]', tools=f"from .shapes import NAME\n{TOOLS}")
    assert teams.find(str(file)).workers[0].tool("dig")


def test_nothing_is_imported_before_the_file_is_in_order(tmp_path: Path) -> None:
    mark = tmp_path / "imported"
    spy = f"open({str(mark)!r}, 'w').close()\n{TOOLS}"
    file = write_team(tmp_path, TOP, ANN, 'tools = ["tools:dig"]', BOB, "colour = 1", tools=spy)
    assert "worker 'bob': there is no key 'colour'" in faults_of(file)[0]
    assert not mark.exists()
    teams.describe(str(write_team(tmp_path, TOP, ANN, 'tools = ["tools:dig"]', tools=spy)))
    assert not mark.exists()
    teams.find(str(file))
    assert mark.exists()
