"""A worker process with a tool server of its own: listed, killed in mid-call, and the run goes on."""

import os
import signal
from pathlib import Path

import pytest
from actor_processes import Stage, task, until
from waiting import LIMIT_S

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


async def lent(stage: Stage, tool: str) -> bool:
    cards = await stage.bus.cards("default.")
    return any(tool in codec.decode(card.data, Card).tools for card in cards.values())


async def test_a_server_killed_in_mid_call_fails_that_call_and_the_run_goes_on(stage: Stage, tmp_path: Path) -> None:
    noted = tmp_path / "server.pid"
    add = {"name": "desk_add", "input": {"first": 20, "second": 22}}
    await stage.model(
        {
            "strict": True,
            "rules": [
                {"turns": 1, "tool_use": [{"name": "desk_nap", "input": {"seconds": 600, "noted_in": str(noted)}}]},
                {"turns": 3, "tool_use": [add]},
                {"contains": "42", "text": "It is 42."},
                {"tool_use": [add]},  # the server is being started again: on a busy machine that takes a while
            ],
        }
    )
    await stage.supervisor()
    await stage.worker("clerk")
    await until(lambda: lent(stage, "desk_add"))
    run = await stage.ask(task("a", "clerk"))
    await until(noted.exists)
    await until(lambda: bool(noted.read_text()))
    os.kill(int(noted.read_text()), signal.SIGKILL)
    answer = await run.answer()
    assert answer.status == "complete"
    assert "It is 42." in answer.text
    calls = [entry.message for entry in await run.past() if isinstance(entry.message, ToolCalled)]
    assert [call.tool for call in calls] == ["desk_nap"] + ["desk_add"] * (len(calls) - 1)
    assert (calls[0].failed, calls[-1].failed) == (True, False)
    assert "died while this ran" in calls[0].output


async def test_the_card_lists_what_the_servers_lend(stage: Stage) -> None:
    await stage.worker("clerk")
    await until(lambda: lent(stage, "desk_add"))


async def test_the_card_says_which_server_is_not_there(stage: Stage) -> None:
    await stage.worker("lender")
    told = troubles(await read_cards(stage.bus, "default"))
    assert len(told) == 1
    assert told[0].startswith("lender (team 'default'): tool server 'shed' is not there: ")
    checks = await check_all(stage.settings, LIMIT_S)
    assert [check.state for check in checks if check.found == told[0]] == ["warn"]


def test_without_the_package_a_worker_with_tool_servers_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> None:
        return None

    monkeypatch.setattr(equipping.importlib.util, "find_spec", nowhere)
    require_servers([workers_for_tests.reader])
    with pytest.raises(InvalidError, match=r"'clerk' lists tool servers.*pip install 'handoff-bus\[mcp\]'"):
        require_servers([workers_for_tests.reader, workers_for_tests.clerk])
