"""`handoff up` in one terminal, everything else in others."""

import asyncio
import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import nats
import pytest
from waiting import LIMIT_S

from actors.model.port import Call, Reply
from actors.settings import Settings
from protocol.messages import Usage
from tests.cli.running import Ended, Here, Process, environment, handoff, is_alive, names, plan_json, task

pytestmark = pytest.mark.process

NATS: Any = nats  # its types are not complete
PATIENT = ("--timeout", str(LIMIT_S))
WORKER_FILE = """\
import asyncio

from actors import Worker


async def work(handoff):
    if handoff.intent == "fail":
        raise RuntimeError("it cannot be done")
    if handoff.intent == "sleep":
        await asyncio.sleep(30)
    return f"{handoff.intent}, done"


errand = Worker("errand", summary="Runs errands.", run=work)
"""


class Up:
    """A bus and a team that are up, with a worker of one's own beside them."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.process = Process(self.home, "up", "--show-address", cwd=folder)
        self.said = self.process.line()
        self.url = self.said.removeprefix("export NATS_URL=").strip()
        self.process.until_said("ready after")
        (folder / "errands.py").write_text(WORKER_FILE)
        self.worker = Process(self.home, "worker", "errands.py:errand", cwd=folder)
        self.worker.until_said("worker.ready")

    def handoff(self, *arguments: str, stdin: str = "") -> Ended:
        """Run a command in a process of its own."""
        return handoff(self.home, *arguments, stdin=stdin.encode())

    def publish(self, subject: str, data: bytes) -> None:
        """Put bytes onto the bus with a plain NATS client."""

        async def send() -> None:
            client = await NATS.connect(self.url)
            await client.jetstream().publish(subject, data)
            await client.close()

        asyncio.run(send())


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Generator[Up]:
    running = Up(tmp_path_factory.mktemp("up"))
    try:
        yield running
        pids = [int(pid) for pid in re.findall(r"  (\d+)$", "".join(running.process.said), re.MULTILINE)]
        running.worker.tell(signal.SIGTERM)
        assert running.worker.ended().code == 0
        running.process.tell()
        ended = running.process.ended()
        assert ended.code == 0
        assert ended.err.endswith("stopped\n")
        assert len(pids) == 7
        assert not any(is_alive(pid) for pid in pids)
    finally:
        running.worker.close()
        running.process.close()


@pytest.fixture
def there(here: Here, up: Up, monkeypatch: pytest.MonkeyPatch) -> Here:
    """Run a looking command in this process, on the home that is up."""
    monkeypatch.setenv("HANDOFF_HOME", str(up.home))
    return here


def until(condition: Callable[[], object]) -> None:
    """Wait for something that another process does."""
    give_up_at = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.05)


def on_a_terminal(home: Path, folder: Path, *arguments: str, typed: Sequence[str] = ()) -> tuple[int, str]:
    """Run a command on a terminal; each line is typed when the next question is asked."""
    ours, its = pty.openpty()
    env = environment(home) | {"TERM": "xterm", "COLUMNS": "80", "LINES": "24", "EDITOR": "sed -i s/walk/run/"}
    left = list(typed)
    seen = b""
    with subprocess.Popen(
        [sys.executable, "-m", "actors", *arguments], stdin=its, stdout=its, stderr=its, env=env, cwd=folder
    ) as process:
        os.close(its)
        questions = 0
        try:
            while chunk := os.read(ours, 65536):
                seen += chunk
                asked = len(re.findall(rb"uit: |different\? ", seen))
                while asked > questions and left:
                    os.write(ours, f"{left.pop(0)}\n".encode())
                    questions += 1
        except OSError:
            pass  # the other end was closed
    os.close(ours)
    return process.returncode, seen.decode()


def errands(*intents: str) -> str:
    return plan_json(*(task(f"t{number}", "errand", intent=intent) for number, intent in enumerate(intents)))


def test_the_only_output_is_the_line_for_other_shells(up: Up) -> None:
    assert re.fullmatch(r"export NATS_URL=nats://handoff:[0-9a-f]+@127\.0\.0\.1:\d+\n", up.said)
    table = "".join(up.process.said)
    for actor in ("bus", "model", "supervisor", "worker researcher", "worker writer"):
        assert actor in table


def test_the_address_with_its_password_is_shown_on_request_only(up: Up, there: Here) -> None:
    ended = there("doctor", "--show-address")
    assert (ended.code, ended.out) == (0, up.said)
    parts = there("doctor", "--show-address", "--json").data
    assert f"nats://{parts['user']}:{parts['password']}@{parts['server']}" == parts["url"] == up.url
    everything = there("doctor").out + there("doctor", "--json").out + "".join(up.process.said)
    assert parts["password"] not in everything


def test_a_second_terminal_asks_the_team_that_is_up(up: Up) -> None:
    ended = up.handoff("ask", "What does the Carrier C2 cost?")
    assert ended.code == 0
    assert "Carrier C2" in ended.out
    assert "starting" not in ended.err


def test_a_second_team_in_the_same_home_is_refused(up: Up, there: Here) -> None:
    ended = there("up")
    assert ended.code == 2
    assert f"started by process {up.process.pid}" in ended.err
    ended = there("ask", "hi", "--data", str(up.home))
    assert ended.code == 2
    assert "leave --data out" in ended.err


def test_a_bare_request_of_any_nats_client_becomes_a_run(up: Up, there: Here) -> None:
    up.publish("handoff.request.default", b'{"text": "Which tickets are about batteries?"}')

    def found() -> bool:
        runs = there("runs", "--json").data
        return any(run["text"].startswith("Which tickets") and run["status"] == "complete" for run in runs)

    until(found)


def test_a_worker_of_ones_own_is_one_more_subscriber(up: Up, there: Here) -> None:
    workers = there("workers", "--json").data
    assert names(workers, "worker") == {"analyst", "errand", "researcher", "reviewer", "writer"}
    (mine,) = (card for card in workers if card["worker"] == "errand")
    assert f"-{up.worker.pid}-" in mine["instance"]
    assert mine["team"] == "default"
    assert "function" in there("workers", "--team", "default").out
    assert "no worker is alive in team 'other'" in there("workers", "--team", "other").err
    ended = up.handoff("ask", "--plan", "-", "--no-synthesis", "--json", stdin=errands("fetch milk"))
    assert ended.code == 0
    assert ended.data["text"] == "fetch milk, done"
    team = there("teams", "default", "--json").data
    assert team["supervised"]
    assert {"errand", "writer"} <= {member["name"] for member in team["workers"] if member["alive"]}


def test_what_became_of_a_run_is_told_by_its_exit_code(up: Up, there: Here) -> None:
    for plan, status, code in ((errands("fail", "walk"), "partial", 4), (errands("fail"), "failed", 1)):
        ended = up.handoff("ask", "--plan", "-", "--no-synthesis", "--json", stdin=plan)
        assert (ended.code, ended.data["status"]) == (code, status)
        assert "gap: t0 (errand) failed after 3 attempts: it cannot be done" in ended.err
        shown = there("show", ended.data["run"][:6])
        assert "it cannot be done" in shown.out
        assert status in shown.out


def test_a_run_is_left_alone_found_again_and_cancelled(up: Up, there: Here) -> None:
    detached = there("ask", "--plan", "-", "--detach", stdin=errands("walk", "sleep").encode())
    assert detached.code == 0
    run = detached.out.strip()
    assert len(run) == 32
    as_data = there("ask", "--plan", "-", "--detach", "--json", stdin=errands("walk").encode())
    assert len(as_data.data["run"]) == 32

    def summary() -> dict[str, Any]:
        rows: list[dict[str, Any]] = there("runs", "--json").data
        return next((row for row in rows if row["run"] == run), {"status": "unknown"})

    until(lambda: summary().get("done") == 1)
    assert (summary()["status"], summary()["tasks"], summary()["seconds"]) == ("running", 2, None)
    story = there("show", run[:8], "--json").data
    assert [told["status"] for told in story["tasks"]] == ["done", "running"]
    assert "not yet" in there("show", run).out
    cancelled = there("cancel", run[:6], "--json", *PATIENT).data
    assert isinstance(cancelled["sequence"], int)
    assert cancelled == {"run": run, "sent": "cancel", "sequence": cancelled["sequence"], "status": "cancelled"}
    (sent,) = there("show", run, "--json").data["controls"]
    assert (sent["kind"], sent["seq"]) == ("cancel", cancelled["sequence"])
    again = there("cancel", run, "--json").data
    assert again == {"run": run, "sent": None, "sequence": None, "status": "cancelled"}
    assert summary()["status"] == "cancelled"
    assert "cancelled" in there("runs").out


def test_a_run_that_does_not_exist_cannot_be_shown(there: Here) -> None:
    for given, said in (("0" * 31 + "1", "there is no run"), ("abc", "first 4"), ("not hex", "first 4")):
        ended = there("show", given)
        assert ended.code == 2
        assert said in ended.err


def test_a_waiting_request_is_seen_before_anybody_takes_it(up: Up, there: Here) -> None:
    up.publish("handoff.request.nobody", b'{"text": "Hello?", "id": "' + b"5" * 32 + b'"}')
    row = next(row for row in there("runs", "--json").data if row["run"] == "5" * 32)
    assert (row["status"], row["team"]) == ("waiting", "nobody")
    assert "Hello?" in there("show", "555555").out
    checks = there("doctor", "--json").data
    (waiting,) = (check for check in checks if "nobody" in check["found"])
    assert (waiting["state"], "supervisor" in waiting["advice"]) == ("warn", True)


def test_the_doctor_finds_everything_in_place(there: Here) -> None:
    ended = there("doctor", "--json")
    states = {check["name"]: check["state"] for check in ended.data if check["name"] != "requests"}
    assert ended.code == 0
    assert {states[name] for name in ("python", "nats-server", "home", "bus", "streams", "workers", "model")} == {"ok"}


def test_a_model_that_writes_prose_only_gets_a_plan_of_one_task_that_says_so(
    there: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Call] = []

    class Mute:
        async def call(self, call: Call, *, said: object = None, ready: object = None) -> Reply:
            asked.append(call)
            return Reply(model="mute", content=[{"type": "text", "text": "no"}], stop_reason="end_turn", usage=Usage())

    @contextlib.asynccontextmanager
    async def model_for(_: Settings) -> AsyncGenerator[Mute]:
        yield Mute()

    monkeypatch.setattr("actors.cli.plan.model_for", model_for)
    ended = there("plan", "Anything?")
    assert ended.code == 0, ended.err
    made = json.loads(ended.out)
    assert [task["intent"] for task in made["tasks"]] == ["Anything?"]
    assert "prose" in made["rationale"]
    assert len(asked) == 3


def test_interrupting_a_question_cancels_its_run(up: Up, there: Here, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(errands("sleep"))
    asking = Process(up.home, "ask", "--plan", "plan.json", "--json", cwd=tmp_path)
    try:
        asking.until_said("t0 → errand")
        asking.tell()
        ended = asking.ended()
    finally:
        asking.close()
    assert ended.code == 130
    assert "interrupted: cancelling the run" in ended.err
    assert ended.data["status"] == "cancelled"
    assert there("runs", "--json", "--limit", "1").data[0]["status"] == "cancelled"


def test_a_question_whose_run_somebody_else_cancels_says_so(up: Up, there: Here, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(errands("walk", "sleep"))
    asking = Process(up.home, "ask", "--plan", "plan.json", "--no-synthesis", cwd=tmp_path)
    try:
        asking.until_said("t0 done by errand-")
        run = there("runs", "--json", "--limit", "1").data[0]["run"]
        there("cancel", run, "--reason", "not needed")
        ended = asking.ended()
    finally:
        asking.close()
    assert ended.code == 5
    assert ended.out == "walk, done\n"
    assert "asked to cancel: not needed" in ended.err
    assert "gap: t1 (errand) was not finished before the run was cancelled" in ended.err


def test_an_actor_that_is_killed_comes_back_and_that_is_told(up: Up) -> None:
    line = up.process.until_said("worker reviewer")
    os.kill(int(line.split()[-1]), signal.SIGKILL)
    assert "killed by SIGKILL" in up.process.until_said(") died")
    assert "worker reviewer" in up.process.until_said("is back")


def test_a_message_that_nobody_can_read_is_kept_shown_and_put_back(up: Up, there: Here) -> None:
    up.publish("handoff.request.default", b'{"text": \xff\x1b[2J')
    until(lambda: there("dead", "--json").data)
    (letter,) = there("dead", "--json").data
    number = str(letter["number"])
    assert (letter["stream"], letter["subject"]) == ("HANDOFF_REQUESTS", "handoff.request.default")
    assert letter["reason"] in there("dead").out
    assert "\\xff" in there("dead", "show", number).out
    assert there("dead", "show", number, "--json").data["bytes"] == 14
    assert there("dead", "show", "4711").code == 2
    assert there("dead", "redrive", "4711").code == 2
    put_back = there("dead", "redrive", number, "--json")
    assert put_back.data == {"redriven": [int(number)], "kept": []}
    assert f"dead letter {number} is back on handoff.request.default" in put_back.err
    until(lambda: names(there("dead", "--json").data, "number") == {int(number) + 1})
    assert "1 dead letter put back" in there("dead", "redrive", "--all").err
    assert there("doctor").code == 0


def test_a_terminal_sees_rows_and_gets_its_cursor_back(up: Up, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(errands("walk", "\x1b]0;owned\x07"))
    code, text = on_a_terminal(up.home, tmp_path, "ask", "--plan", "plan.json", "--no-synthesis")
    assert code == 0
    assert "✓" in text
    assert text.count("\x1b[?25h") >= text.count("\x1b[?25l") >= 1
    assert "\x1b]0;" not in text
    assert "walk, done" in text


REVIEWED = ("ask", "--plan", "plan.json", "--no-synthesis", "--review")


def test_a_person_at_a_terminal_sees_the_plan_and_approves_it(up: Up, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(errands("walk", "sing"))
    code, text = on_a_terminal(up.home, tmp_path, *REVIEWED, typed=["what?", "a"])
    assert code == 0
    assert "2 tasks · longest chain 1 · widest level 2 · at least" in text
    assert text.count("[a]pprove, [r]eject with a comment") == 2
    assert "walk, done" in text
    assert text.count("\x1b[?25h") >= text.count("\x1b[?25l") >= 1


def test_a_person_at_a_terminal_edits_the_plan(up: Up, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(errands("walk"))
    code, text = on_a_terminal(up.home, tmp_path, *REVIEWED, typed=["e"])
    assert (code, "run, done" in text, "walk, done" in text) == (0, True, False)


def test_a_person_at_a_terminal_quits_and_nothing_was_done(up: Up, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(errands("walk"))
    code, text = on_a_terminal(up.home, tmp_path, *REVIEWED, typed=["q"])
    assert (code, "walk, done" in text) == (5, False)


def test_only_a_run_that_waits_can_be_approved(up: Up, there: Here) -> None:
    ended = there("ask", "--plan", "-", "--no-synthesis", "--json", stdin=errands("walk").encode())
    again = there("approve", ended.data["run"])
    assert (again.code, "has ended already: complete" in again.err) == (2, True)
    run = there("ask", "--plan", "-", "--detach", stdin=errands("sleep").encode()).out.strip()
    until(lambda: there("show", run, "--json").data["status"] == "running")
    refused = there("approve", run[:8], "--json")
    assert (refused.code, "does not wait for approval: its plan is being run" in refused.err) == (2, True)
    assert refused.data["error"]["kind"] == "invalid"
    assert refused.data["error"]["messages"][0] in refused.err
    there("cancel", run)
    assert there("approve", run, "--reject", "x", "--plan", "y").code == 2


def test_workers_tell_whom_the_supervisors_do_not_trust(up: Up, there: Here) -> None:
    up.publish("$KV.handoff_breakers.default.ghost", b'{"state": "open", "failures": 3, "since": 1.0}')
    found = {one["worker"]: one for one in there("workers", "--json").data}
    assert found["ghost"]["breaker"] == {"state": "open", "failures": 3, "since": 1.0}
    assert (found["ghost"]["instance"], found["errand"]["breaker"]["state"]) == ("", "closed")
    (line,) = (line for line in there("workers").out.splitlines() if "ghost" in line)
    assert re.search(r"nobody alive .* open since \d+d", line)
    up.publish("$KV.handoff_breakers.default.ghost", b'{"state": "closed"}')
    assert "ghost" not in there("workers").out
