"""No actor answers offline in silence when a key was meant: its log and the answer's first line say so."""

import asyncio
import json
import sys

import pytest
from actor_processes import BOOT, Stage, task
from waiting import LIMIT_S

from actors.supervisor.roster import read_cards, troubles

pytestmark = pytest.mark.process


async def first_line(stage: Stage) -> str:
    run = await stage.ask(task("a", "ponder", intent="Say hello"))
    answer = await asyncio.wait_for(run.answer(), LIMIT_S)
    assert answer.status == "complete"
    return answer.text.splitlines()[0]


async def test_an_empty_key_is_said_at_the_start_and_in_the_first_line_of_the_answer(stage: Stage) -> None:
    stage.environment["ANTHROPIC_API_KEY"] = ""
    actors = await asyncio.gather(stage.supervisor(), stage.worker("ponder"))
    for actor in actors:
        (line,) = [json.loads(line) for line in actor.log.read_text().splitlines() if "model.offline" in line]
        assert line["level"] == "warning"
        assert "ANTHROPIC_API_KEY" in line["reason"]
    line = await first_line(stage)
    assert "offline" in line
    assert "ANTHROPIC_API_KEY" in line
    assert any("ANTHROPIC_API_KEY" in trouble for trouble in troubles(await read_cards(stage.bus)))


async def test_a_worker_without_a_key_in_a_team_with_one_is_named_in_the_first_line(stage: Stage) -> None:
    await stage.worker("ponder")
    await stage.model({})
    await stage.supervisor()
    await stage.worker("dig")
    line = await first_line(stage)
    assert "offline" in line
    assert "ponder" in line
    (trouble,) = troubles(await read_cards(stage.bus))
    assert "ponder" in trouble


async def test_a_team_that_is_offline_on_purpose_needs_no_first_line(stage: Stage) -> None:
    await asyncio.gather(stage.supervisor(), stage.worker("ponder"))
    assert not (await first_line(stage)).startswith("(offline model: ponder")
    assert troubles(await read_cards(stage.bus)) == []


async def test_the_doctor_warns_of_an_empty_key(stage: Stage) -> None:
    stage.environment["ANTHROPIC_AUTH_TOKEN"] = ""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", BOOT, "doctor", "--json", env=stage.environment, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    (check,) = [check for check in json.loads(said) if check["name"] == "model"]
    assert check["state"] == "warn"
    assert "ANTHROPIC_AUTH_TOKEN" in check["found"]
