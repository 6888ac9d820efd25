"""A worker process with a tool server of its own: listed, killed in mid-call, and the run goes on."""

import os
import signal
from pathlib import Path

import pytest
from actor_processes import Stage, task, until

from actors.cli.checks import check_all
from actors.launcher import equipping
from actors.launcher.equipping import require_servers
from actors.supervisor.roster import read_cards, troubles
from protocol import codec
from protocol.errors import InvalidError
from protocol.messages import Card
from protocol.steps import ToolCalled
from tests.system import workers_for_tests

pytestmark = pytest.mark.process


async def test_a_server_killed_in_mid_call_fails_that_call_and_the_run_goes_on(stage: Stage, tmp_path: Path) -> None:
    noted = tmp_path / "server.pid"
    await stage.model(
        {
            "strict": True,
            "rules": [
                {"turns": 1, "tool_use": [{"name": "desk_nap", "input": {"seconds": 60, "noted_in": str(noted)}}]},
                {"turns": 3, "tool_use": [{"name": "desk_add", "input": {"first": 20, "second": 22}}]},
                {"turns": 5, "contains": "42", "text": "It is 42."},
            ],
        }
    )
    await stage.supervisor()
    await stage.worker("clerk")
    run = await stage.ask(task("a", "clerk"))
    await until(noted.exists)
    await until(lambda: bool(noted.read_text()))
    os.kill(int(noted.read_text()), signal.SIGKILL)
    answer = await run.answer()
    assert answer.status == "complete"
    assert "It is 42." in answer.text
    calls = [entry.message for entry in await run.past() if isinstance(entry.message, ToolCalled)]
    assert [(call.tool, call.failed) for call in calls] == [("desk_nap", True), ("desk_add", False)]
    assert "died while this ran" in calls[0].output


async def test_the_card_lists_what_the_servers_lend(stage: Stage) -> None:
    await stage.worker("clerk")
    cards = await stage.bus.cards("default.")
    card = codec.decode(next(iter(cards.values())).data, Card)
    assert "desk_add" in card.tools


async def test_the_card_says_which_server_is_not_there(stage: Stage) -> None:
    await stage.worker("lender")
    told = troubles(await read_cards(stage.bus, "default"))
    assert len(told) == 1
    assert told[0].startswith("lender (team 'default'): tool server 'shed' is not there: ")
    checks = await check_all(stage.settings, 5.0)
    assert [check.state for check in checks if check.found == told[0]] == ["warn"]


def test_without_the_package_a_worker_with_tool_servers_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> None:
        return None

    monkeypatch.setattr(equipping.importlib.util, "find_spec", nowhere)
    require_servers([workers_for_tests.reader])
    with pytest.raises(InvalidError, match=r"'clerk' lists tool servers.*pip install 'handoff-bus\[mcp\]'"):
        require_servers([workers_for_tests.reader, workers_for_tests.clerk])
