"""What is wrong with a team file is told all at once, with the place and what to do; nothing else ever comes out."""

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from writing import ANN, BOB, TOP, faults_of, write_team

from actors import teams
from protocol.errors import InvalidError

HOW = 'write "module:name", such as "tools:search" for a tools.py beside this file, or "mcp:server"'
SERVER = "[mcp.files]\nurl = 'http://127.0.0.1:1'\ntools = ['read']\n"

IN_THE_FILE = [
    (TOP, "there are no workers: write a [[workers]] table for each"),
    ('name = "night"\n' + ANN, "'summary' is missing"),
    (TOP.replace("night", "night shift") + ANN, "name 'night shift' is not a valid id"),
    (TOP.replace("Works at night.", " ") + ANN, "summary is empty"),
    (TOP + "smaples = []\n" + ANN, "there is no key 'smaples'; did you mean 'samples'?"),
    (TOP + "samples = 5\n" + ANN, 'samples: Expected a list such as ["..."], got int (got 5)'),
    (TOP + "[supervisor]\ndeadline = 5\n" + ANN, "supervisor: there is no key 'deadline'; did you mean 'deadline_s'?"),
    (TOP + "[supervisor]\ndeadline_s = inf\n" + ANN, "supervisor: deadline_s: Expected float <="),
    (TOP + "[supervisor]\nattempts = 0\n" + ANN, "supervisor: attempts: Expected int >= 1"),
    (TOP + "[supervisor]\nbudget = 5\n" + ANN, "supervisor: budget: must be a table (got 5)"),
    (TOP + "supervisor = 5\n" + ANN, "supervisor: must be a table (got 5)"),
    (TOP + "mcp = 5\n" + ANN, "mcp: must be a table of tables, such as [mcp.files] (got 5)"),
    (TOP + "[mcp.files]\n" + ANN, "tool server 'files' needs either a command to start or the url"),
    (TOP + "[mcp.files]\ncommand = []\n" + ANN, "tool server 'files' needs either a command to start or the url"),
    (TOP + "samples = 'Who is on?'\n" + ANN, 'samples: must be a list: write samples = ["Who is on?"]'),
    (
        TOP + "[mcp.files]\nurl = 'x'\ncomand = []\n" + ANN,
        "mcp.files: there is no key 'comand'; did you mean 'command'?",
    ),
    (TOP + "workers = 5", "workers must be a list (got 5)"),
    (TOP + "[workers]\nname = 'a'", "workers must be a list: write [[workers]], with two brackets, above each"),
    (TOP + "workers = [5]", "worker 1: must be a table: write [[workers]] above its keys (got 5)"),
    (TOP + ANN + ANN, "2 workers are named 'ann': give each a name of its own"),
    (TOP + "[[workers]]\nname = 'ann'", "worker 'ann': 'summary' is missing"),
    (TOP + "[[workers]]\nsummary = 'x'", "worker 1: 'name' is missing"),
    (TOP + ANN.replace("Digs.", ""), "worker 'ann': summary is empty"),
    (TOP + ANN.replace('"ann"', '"a b"'), "worker 'a b': name 'a b' is not a valid id"),
    (TOP + ANN + "promt = 'x'", "worker 'ann': there is no key 'promt'; did you mean 'prompt'?"),
    (TOP + ANN + "fallback = 'bib'\n" + BOB, "worker 'ann': fallback: there is no worker 'bib'; did you mean 'bob'?"),
    (TOP + ANN + "fallback = 'ann'", "worker 'ann': is its own fallback"),
    (TOP + ANN + "budget = { tokens = -1 }", "worker 'ann': budget: tokens: Expected int >= 1 (got -1)"),
    (TOP + ANN + "budget = { euros = 1 }", "worker 'ann': budget: there is no key 'euros'"),
    (TOP + ANN + "concurrency = 1.5", "worker 'ann': concurrency: Expected int | null, got float (got 1.5)"),
    (TOP + ANN + "server_tools = ['browse']", "worker 'ann': there is no server tool 'browse'"),
    (
        TOP + ANN + "server_tools = ['web_search']\ntools = ['actors.tools.arithmetic:calculate']",
        "worker 'ann' has server_tools and tools of its own",
    ),
    (TOP + ANN + "function = 'tools:echo'\nserver_tools = ['web_search']", "is a function: leave out server_tools"),
    (TOP + ANN + "person = true\nprompt = 'x'", "worker 'ann': is a person: leave out prompt"),
    (TOP + ANN + "person = true\nfunction = 'tools:echo'", "worker 'ann': is either a person or a function, not both"),
    (TOP + ANN + "function = 'tools:echo'\nmodel = 'x'", "worker 'ann': is a function: leave out model"),
    (TOP + ANN + "function = 'tools'", "worker 'ann': function 'tools' is no import path"),
    (TOP + ANN + "prompt = 'x'\nprompt_file = 'tools.py'", "worker 'ann': has a prompt and a prompt_file"),
    (TOP + ANN + "prompt_file = 'none.md'", "No such file or directory"),
    (TOP + ANN + "prompt_file = '\\u0000'".replace("'", '"'), "worker 'ann': prompt_file"),
    (TOP + ANN + "tools = 'tools:dig'", "worker 'ann': tools must be a list (got 'tools:dig')"),
    (TOP + ANN + "tools = ['dig']", f"worker 'ann': tool 'dig' is no import path: {HOW}"),
    (
        TOP + ANN + "tools = [5]",
        'worker \'ann\': tools: each is a text such as "tools:search", or a table { use = "..." } (got 5)',
    ),
    (TOP + ANN + "tools = [{ data = 'x' }]", "worker 'ann': tools: 'use' is missing"),
    (TOP + ANN + "tools = [{ use = 'tools:over', data = '../x' }]", "leads out of the data folder"),
    (TOP + ANN + "tools = [{ use = 'tools:over', data = 'nope' }]", "nope' does not exist"),
    (TOP + ANN + "tools = [{ use = 'tools:over', prefix = 'a b' }]", "prefix: tool name 'a b' is not valid"),
    (TOP + ANN + "tools = ['mcp:files']", "there is no tool server 'files'; write a table [mcp.files]"),
    (TOP + SERVER + ANN + "tools = ['mcp:fils']", "there is no tool server 'fils'; did you mean 'files'?"),
    (TOP + SERVER + ANN + "tools = ['mcp:files/']", "name the tool after the /"),
    (TOP + SERVER + ANN + "tools = ['mcp:files/write']", "takes only 'read': add 'write' to its tools"),
    (TOP + SERVER + ANN + "tools = [{ use = 'mcp:files', prefix = 'x' }]", "data and prefix are for tools that are"),
    (TOP + "data = 'tools.py'\n" + ANN, "tools.py' is not a folder: make it, or name another one with --data"),
    ("name = = 5", "is not TOML: Invalid value (at line 1, column 8)"),
]

IN_WHAT_IT_NAMES = [
    ("tools = ['tools:dog']", "tool 'tools:dog': tools has no 'dog'; did you mean 'dig'?"),
    ("tools = ['nowhere:dig']", "tool 'nowhere:dig': there is no module 'nowhere', neither in "),
    ("tools = ['tools:number']", "gives int, not tools: put @tool on a function"),
    ("tools = ['tools:text']", "gives str, not tools: put @tool on a function"),
    ("tools = ['tools:later']", "takes other arguments than the data folder"),
    ("tools = ['tools:two']", "takes other arguments than the data folder"),
    ("tools = ['tools:broken']", "tool 'tools:broken': failed: RuntimeError: no such luck"),
    ("tools = [{ use = 'tools:dig', data = 'deep' }]", "is a tool, and takes no data"),
    ("tools = ['tools:dig', 'tools:dig']", "worker 'ann' has two tools named 'dig'"),
    ("function = 'tools:number'", "function 'tools:number': is no function of one Handoff"),
    ("function = 'tools:dig'", "function 'tools:dig': is no function of one Handoff"),
]


@pytest.mark.parametrize(("text", "fault"), IN_THE_FILE)
def test_a_fault_in_the_file_is_told_with_its_place(tmp_path: Path, text: str, fault: str) -> None:
    found = faults_of(write_team(tmp_path, text))
    assert len([one for one in found if fault in one]) == 1, found


@pytest.mark.parametrize(("line", "fault"), IN_WHAT_IT_NAMES)
def test_a_fault_in_what_the_file_names_is_told_with_the_worker(tmp_path: Path, line: str, fault: str) -> None:
    (found,) = faults_of(write_team(tmp_path, TOP, ANN, line))
    assert "worker 'ann'" in found
    assert fault in found


def test_all_faults_of_a_file_come_at_once(tmp_path: Path) -> None:
    parts = (
        "colour = 1",
        ANN,
        "fallback = 'eve'",
        "tools = ['x']",
        BOB,
        "budget = { steps = 0 }",
        "prompt_file = 'no'",
    )
    found = faults_of(write_team(tmp_path, TOP.replace("night", "ni ght"), *parts))
    assert len(found) == 6, found
    for part in ("ni ght", "'colour'", "'eve'", "tool 'x'", "budget: steps", "prompt_file"):
        assert sum(part in fault for fault in found) == 1, part


def test_a_worker_that_lacks_its_summary_is_looked_at_all_the_same(tmp_path: Path) -> None:
    parts = ("[[workers]]", 'name = "ann"', "tools = ['x']", "fallback = 'eve'", "concurrency = 0")
    found = faults_of(write_team(tmp_path, *parts))
    assert len(found) == 6, found
    for part in ("'name' is missing", "ann': 'summary' is missing", "tool 'x'", "'eve'", "concurrency"):
        assert sum(part in fault for fault in found) == 1, part


def test_all_faults_of_what_the_file_names_come_at_once(tmp_path: Path) -> None:
    parts = (ANN, "tools = ['tools:dig', 'tools:dog']", BOB, "tools = ['tools:over', 'nowhere:x']")
    assert len(faults_of(write_team(tmp_path, TOP, *parts))) == 2


def test_two_workers_that_share_a_tool_are_refused_with_both_names(tmp_path: Path) -> None:
    tools = "tools = ['tools:dig']"
    (found,) = faults_of(write_team(tmp_path, TOP, ANN, tools, BOB, tools))
    assert "workers 'ann' and 'bob' share the tool 'dig'" in found
    prefixed = "tools = [{ use = 'tools:dig', prefix = 'bobs' }]"
    team = teams.find(str(write_team(tmp_path, TOP, ANN, tools, BOB, prefixed)))
    assert [tool.name for worker in team.workers for tool in worker.tools] == ["dig", "bobs_dig"]


@pytest.mark.parametrize("code", ["1 / 0", "raise SystemExit(3)", "import no_such_library", "def", "\0"])
def test_a_module_that_cannot_be_loaded_is_a_fault(tmp_path: Path, code: str) -> None:
    (found,) = faults_of(write_team(tmp_path, TOP, ANN, "tools = ['tools:dig']", tools=code))
    assert "worker 'ann': tool 'tools:dig': tools cannot be loaded" in found


def test_a_file_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    file = tmp_path / "team.toml"
    assert faults_of(file) == ["No such file or directory: name a folder with a team.toml, or the file itself"]
    file.write_bytes(b"\xff\xfe")
    assert faults_of(file) == ["is not UTF-8: invalid start byte at byte 0"]
    file.write_text("#" * 1_000_001)
    assert "has more than 1,000,000 bytes" in faults_of(file)[0]
    file.write_text("a = " + "[" * 100_000)
    assert len(faults_of(file)) == 1


KEYS = st.sampled_from(
    [
        *("name", "summary", "data", "samples", "rules", "supervisor", "mcp", "workers", "prompt", "prompt_file"),
        *("model", "tools", "budget", "concurrency", "fallback", "max_turns", "person", "function", "use", "prefix"),
        *("command", "url", "env", "headers", "timeout_s", "tokens", "steps", "usd", "deadline_s", "files", "x"),
    ]
)
TEXTS = st.sampled_from(
    [
        "",
        " ",
        "ann",
        "a b",
        "tools:dig",
        "mcp:files",
        "mcp:files/x",
        "mcp:",
        "..",
        "/",
        "~no-such-user",
        "a\0b",
        "x" * 300,
    ]
)
PLAIN = st.one_of(st.booleans(), st.integers(), st.floats(), TEXTS, st.text(max_size=8), st.datetimes())
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5))
WORKERS = st.lists(st.dictionaries(KEYS, VALUES, max_size=6), max_size=3)
TABLES = st.dictionaries(KEYS, VALUES, max_size=6) | st.fixed_dictionaries(
    {"name": TEXTS, "summary": TEXTS, "workers": WORKERS},
    optional={"mcp": VALUES, "supervisor": VALUES, "data": VALUES},
)


@settings(max_examples=300)
@given(TABLES)
@example({"name": "x", "summary": "x", "workers": [{"name": "a", "summary": "b", "tools": ["mcp:a"]}], "mcp": {"a": 5}})
def test_whatever_a_table_holds_only_a_team_or_a_refusal_comes_out(values: dict[str, Any]) -> None:
    def parsed(_: str) -> dict[str, Any]:
        return values

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        file = Path(folder, "team.toml")
        file.write_text("")
        patch.setattr("actors.teams.reading.tomllib.loads", parsed)
        with contextlib.suppress(InvalidError):
            teams.find(str(file))


@given(st.binary(max_size=200) | st.text(alphabet='[]{}=",.\n ab1#\\', max_size=80).map(str.encode))
def test_whatever_bytes_a_file_holds_they_are_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "team.toml")
        file.write_bytes(data)
        with pytest.raises(InvalidError):
            teams.find(str(file))


def test_a_command_in_one_string_is_told_once_and_how_to_write_it(tmp_path: Path) -> None:
    (fault,) = faults_of(write_team(tmp_path, TOP + "[mcp.shed]\ncommand = 'python shed.py'\n" + ANN))
    assert 'mcp.shed: command: must be a list: write command = ["python", "shed.py"]' in fault
