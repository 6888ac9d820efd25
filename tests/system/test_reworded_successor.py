"""A worker is killed in the middle of a thinking conversation, and a release with other prompts goes on with it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from actor_processes import Actor, Stage, task, until

from protocol.messages import Result
from protocol.steps import Begun, ModelCalled
from tests.model.asking import lines

pytestmark = pytest.mark.process

FIRST = '''
from actors import Worker, tool

@tool
def look(page: int) -> str:
    """Look up a page.

    Args:
        page: which one
    """
    return f"page {page}"

@tool
def forget(page: int) -> str:
    """Forget a page.

    Args:
        page: which one
    """
    return ""

reader = Worker("reader", summary="Reads.", prompt="You read.", tools=[look, forget], model="claude-sonnet-5-5")
'''

REWORDED = '''
from actors import Worker, tool
from actors.worker import conversation, moves
from actors.worker.answers import SPECS

conversation.system_prompt = lambda prompt, now: f"A new system prompt. {prompt}"
conversation.task_prompt = lambda handoff: f"<task>A new first message: {handoff.intent}</task>"
conversation.SPECS = SPECS[:1]
moves.GO_ON = "Continue."
moves.WRITE_TEXT = "Write text."

@tool
def look(page: int) -> str:
    """Open the book at a page, in other words than before.

    Args:
        page: the number of the page
    """
    return f"page {page} of the new release"

reader = Worker("reader", summary="Reads well.", prompt="Read on.", tools=[look], model="claude-opus-5-5")
'''

SCRIPT: dict[str, Any] = {
    "strict": True,
    "rules": [
        {"turns": 1, "thinking_tokens": 30, "tool_use": [{"name": "look", "input": {"page": 7}}]},
        {"turns": 3, "text": "Half of it, ", "stop_reason": "max_tokens"},
        {"turns": 5, "text": "Let me see. ", "tool_use": [{"name": "forget", "input": {"page": 7}}]},
        {"turns": 7, "delay_s": 600, "times": 1, "text": "never heard"},
        {"turns": 7, "tool_use": [{"name": "look", "input": {"page": 8}}]},
        {"turns": 9, "contains": "page 8 of the new release", "text": "and the other half."},
    ],
}


async def release(stage: Stage, name: str, source: str) -> Actor:
    """Start the worker of a release, and wait until it is listed."""
    (stage.directory / f"{name}.py").write_text(source)
    stage.environment["PYTHONPATH"] += f":{stage.directory}"
    actor = stage.start("worker", f"{name}:reader")

    async def listed() -> bool:
        return any(f"-{actor.pid}-" in key for key in await stage.bus.cards("default.reader."))

    await until(listed)
    return actor


async def test_a_release_with_other_prompts_goes_on_with_the_stored_bytes_of_a_killed_worker(tmp_path: Path) -> None:
    async with Stage(tmp_path) as stage:
        await stage.model(SCRIPT)
        await stage.supervisor()
        killed = await release(stage, "first", FIRST)
        run = await stage.ask(task("t", "reader"))
        await until(lambda: any(line["turns"] == 7 for line in stage.asked()))
        killed.kill()
        await release(stage, "reworded", REWORDED)
        result = (await stage.stored(run, Result)).message
        begun = (await stage.stored(run, Begun)).message
        record = [entry.message for entry in await run.past()]
    assert isinstance(result, Result)
    assert (result.status, result.error, result.output) == ("completed", None, "and the other half.")
    assert isinstance(begun, Begun)
    assert begun.model == "claude-sonnet-5-5"
    paid = [entry for entry in record if isinstance(entry, ModelCalled)]
    assert [kinds(step)[0] for step in paid] == ["thinking"] * 5

    log = lines(stage.requests)
    assert [line for line in log if line["event"] == "refused"] == []
    asked = [line for line in log if line["event"] == "asked"]
    assert [line["turns"] for line in asked] == [1, 3, 5, 7, 7, 9]
    assert {line["model"] for line in asked} == {"claude-sonnet-5-5"}
    assert asked[3]["key"] == asked[4]["key"], "the successor sends the bytes that the killed worker sent"
    answered = [line["key"] for line in log if line["event"] == "answered"]
    assert len(answered) == len(set(answered)) == len(paid)


def kinds(step: ModelCalled) -> list[str]:
    return [block["type"] for block in msgspec.json.decode(step.content)]
