"""`handoff trace`: a run as a tree, as data, as a file and as a page, from what is stored alone."""

import asyncio
import json
import re
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest
from big_runs import RUN as BIG
from big_runs import BigRun
from run_records import RUN, Tape, eventful, plan
from servers import NatsServer

from actors.bus.jetstream import connect
from actors.cli import trace as command
from actors.cli.tree import MOST_LINES
from actors.record import Recorded
from actors.settings import Settings
from observability.run_view import RunView, view_of
from protocol import codec, subjects
from protocol.events import Planned
from protocol.ids import RunId
from protocol.messages import Request, RunEntry
from tests.cli.running import Here

GOING_ON = RunId("c" * 32)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[NatsServer]:
    """A bus on which three runs and a request are stored, and on which nobody works."""
    server = NatsServer(tmp_path_factory.mktemp("bus"))
    asyncio.run(filled(server))
    yield server
    asyncio.run(server.stop())


async def filled(server: NatsServer) -> None:
    await server.start()
    bus = await connect(Settings(nats_url=server.url), name="test", timeout_s=10)
    going_on = Tape(GOING_ON).start().log(Planned(plan=plan("a", "b"))).hand("a")
    records: Sequence[Sequence[Recorded]] = (eventful().entries, BigRun(60, hostile=True).play(), going_on.entries)
    for record in records:
        for entry in record:
            await bus.publish(entry.subject, codec.encode(entry.message))
    for run in (RUN, GOING_ON, BIG):
        listed = RunEntry(run=run, team="default", status="running")
        await bus.publish(subjects.index("default", run), codec.encode(listed))
    await bus.publish(subjects.request("nobody"), codec.encode(Request(id="d" * 32, text="Hello?")))
    await bus.close()


@pytest.fixture
def there(here: Here, server: NatsServer, monkeypatch: pytest.MonkeyPatch) -> Here:
    """Run a command on that bus."""
    monkeypatch.setenv("NATS_URL", server.url)
    return here


def test_the_tree_shows_decisions_tasks_attempts_and_calls(there: Here) -> None:
    ended = there("trace", RUN[:8])
    assert (ended.code, ended.err) == (0, "")
    for told in (
        f"run      {RUN}",
        "request  Hello?",
        "✗ plan · a circle",
        "plan · 3 tasks",
        "✓ a · reader · completed",
        "✗ a worker · lost",
        "tool gone · the tool failed",
        "· confirmed · send · denied",
        "✗ b · reader · failed: slow · 4 attempts",
        "↻ refine: broken",
        "↻ reroute to reader: broken",
        "… #4 reader · abandoned",
        "synthesize · 2 results read",
    ):
        assert told in ended.out
    assert "hunter22" not in ended.out


def test_a_long_tree_is_folded_unless_it_is_wanted_in_full(there: Here) -> None:
    short, full = there("trace", BIG), there("trace", BIG, "--full")
    assert "--full" in short.err
    assert full.err == ""
    assert len(full.out.splitlines()) > MOST_LINES
    assert len(short.out.splitlines()) < len(full.out.splitlines()) * 0.6
    assert "t0-researcher · researcher · completed · 3 calls" in short.out
    assert all(len(line) < 400 for line in full.out.splitlines())


def test_json_is_the_run_as_data(there: Here) -> None:
    data = there("trace", RUN, "--format", "json").data
    assert (data["format"], data["run"], data["status"], data["request"]) == ("handoff-trace/1", RUN, "partial", None)
    assert {"plan", "dispatch", "execution", "tool_call", "result", "retry", "synthesize"} <= {
        step["kind"] for step in data["steps"]
    }
    assert there("trace", RUN, "--json").data == data
    assert there("trace", RUN, "--json", "--content").data["request"] == "Hello?"


def test_the_setting_for_content_counts_and_a_flag_goes_before_it(there: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDOFF_TRACE_CONTENT", "true")
    assert there("trace", RUN, "--json").data["request"] == "Hello?"
    assert there("trace", RUN, "--json", "--no-content").data["request"] is None


def test_otlp_is_one_trace_with_the_run_as_its_id(there: Here, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    ended = there("trace", RUN, "--format", "otlp", "-o", str(file))
    assert (ended.code, ended.out) == (0, "")
    assert f"wrote {file}" in ended.err
    resources = json.loads(file.read_text())["resourceSpans"]
    spans = [span for resource in resources for scope in resource["scopeSpans"] for span in scope["spans"]]
    assert {span["traceId"] for span in spans} == {RUN}


def test_the_page_of_a_hostile_run_is_written_to_a_file(there: Here, tmp_path: Path) -> None:
    file = tmp_path / "trace.html"
    assert there("trace", BIG[:6], "--format", "html", "-o", str(file)).code == 0
    page = file.read_text()
    assert page.startswith("<!doctype html>")
    assert page.count("<script>") == 1
    assert page.count('class="task entry"') == 60


def test_a_run_that_goes_on_is_traced_too(there: Here) -> None:
    ended = there("trace", GOING_ON)
    assert "status   running" in ended.out
    assert "… a · reader · running" in ended.out
    assert "… b · reader · waiting" in ended.out
    assert there("trace", GOING_ON, "--json").data["ended"] is None
    assert there("trace", GOING_ON, "--format", "html").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["0" * 31 + "1"], "there is no run"),
        (["abc"], "first 4"),
        (["d" * 32], "nobody has begun"),
        ([RUN, "--format", "xml"], "Invalid value for '--format'"),
        ([RUN, "--json", "--format", "html"], "--json and --format html are two forms"),
        ([RUN, "--json", "-o", "no/trace.json"], "there is no folder 'no'"),
        ([RUN, "--json", "-o", "."], "is a folder: name a file"),
    ],
)
def test_what_cannot_be_traced_is_told(there: Here, arguments: list[str], said: str) -> None:
    ended = there("trace", *arguments)
    assert ended.code == 2
    assert ended.data["error"]["kind"] in ("invalid", "usage") if "--json" in arguments else ended.out == ""
    assert said in ended.err


def test_a_file_that_cannot_be_written_is_told(there: Here, tmp_path: Path) -> None:
    ended = there("trace", RUN, "--json", "-o", str(tmp_path / ("x" * 300)))
    assert ended.code == 1
    assert "File name too long" in ended.err


def seen() -> RunView:
    view = view_of(RUN, eventful().entries)
    assert view is not None
    return view


def test_a_page_is_not_poured_into_a_terminal(there: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    ended = there("trace", RUN, "--format", "html")
    assert ended.code == 2
    assert "-o trace.html" in ended.err


def test_on_a_terminal_no_line_is_longer_than_the_screen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    command.draw(seen(), full=True)
    out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert max(map(len, out.splitlines())) <= 60
    assert "…" in out
