"""`handoff ask` with nothing running: it brings its own bus and team, and takes them away again."""

import json
from pathlib import Path

import pytest

from actors.launcher.embedded import find
from actors.launcher.home import Home
from actors.launcher.lock import FileLock
from tests.cli.running import Process, handoff, is_alive

pytestmark = pytest.mark.process

QUESTION = "What happened in the charging incident of August 2025?"


def assert_all_gone(home: Path) -> None:
    address = Home(home).address()
    assert address is not None
    assert not is_alive(address.pid)
    assert find(home) is None


def test_a_question_is_answered_and_nothing_stays(home: Path) -> None:
    ended = handoff(home, "ask", QUESTION)
    assert ended.code == 0
    assert "incident" in ended.out
    assert "starting an embedded bus and team 'default' (4 workers, offline model)" in ended.err
    for part in ("planned ", " → ", " done by ", "complete in ", "free", "more: handoff show "):
        assert part in ended.err
        assert part not in ended.out
    assert "speed-up" not in ended.err  # of one task
    assert_all_gone(home)
    logs = "".join(log.read_text() for log in (home / "logs").glob("*.log"))
    assert "supervisor.stopped" in logs  # not killed: told to stop


def test_a_plan_can_be_looked_at_kept_and_run_on_data_of_ones_own(home: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "moon.md").write_text("# The moon\n\nThe moon landing of 1969 was called Apollo 11.\n")
    planned = handoff(home, "plan", "What was the moon landing called?", "--json")
    assert planned.code == 0
    assert "at least 4 model calls · at no cost" in planned.err
    (tmp_path / "plan.json").write_text(planned.out)
    ended = handoff(home, "ask", "--plan", "plan.json", "--data", "data", "--no-synthesis", "--json")
    assert ended.code == 0
    assert ended.data["status"] == "complete"
    usage = ended.data["usage"]
    cached = usage["cache_read_tokens"] + usage["cache_write_tokens"]
    rate = usage["cache_read_tokens"] / (usage["input_tokens"] + cached) if cached else None
    assert ended.data["cache_hit_rate"] == rate
    assert "Apollo 11" in ended.data["text"]
    assert len(json.loads(planned.out)["tasks"]) == 1
    assert_all_gone(home)


def test_a_bus_that_another_command_uses_stays_until_that_one_has_ended(home: Path) -> None:
    asking = Process(home, "ask", QUESTION)
    other = FileLock(Home(home).users)
    try:
        asking.until_said("starting an embedded bus")
        assert other.take(shared=True)
        asking.until_said("another command still uses the bus")
        assert find(home) is not None
        other.release()
        assert asking.ended().code == 0
    finally:
        other.release()
        asking.close()
    assert_all_gone(home)


def test_a_person_who_is_impatient_at_the_start_is_let_go(home: Path) -> None:
    asking = Process(home, "ask", QUESTION)
    try:
        asking.until_said("starting an embedded bus")
        asking.tell()
        ended = asking.ended()
    finally:
        asking.close()
    assert (ended.code, ended.out) == (130, "")
    assert "Traceback" not in ended.err
    assert_all_gone(home)
