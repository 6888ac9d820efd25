"""An agent at work through the real SDK: whatever the model stops for, a result comes of it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from actor_processes import until

from actors.bus.memory import MemoryBus, MemoryServer
from actors.clock import SystemClock
from actors.model_server.scripted import Rule, Script, ScriptedTool
from actors.model_server.serve import offline_server
from actors.settings import Settings
from actors.tools.tool import tool
from actors.worker.definition import Worker
from actors.worker.moves import GO_ON
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.ids import new_run_id
from protocol.messages import Handoff, Result
from protocol.subjects import TaskAddress
from tests.model.asking import asking, lines

SETTINGS = Settings(max_turns=4)


@tool
def look_up(page: int) -> str:
    """Look up one page of the book.

    Args:
        page: which page
    """
    return f"page {page}: " + "word " * 4_000


READER = Worker("reader", summary="Reads.", prompt="You read.", tools=[look_up])


async def result_of(worker: Worker, *rules: Rule, settings: Settings = SETTINGS, log: Path | None = None) -> Result:
    """Hand one task to the worker, whose model speaks by these rules and no others."""
    clock = SystemClock()
    server = MemoryServer(settings, clock)
    bus = MemoryBus(server, "test")
    address = TaskAddress(new_run_id(), "default", worker.name, "t", 1)
    handoff = Handoff(
        run=address.run, task="t", attempt=1, from_agent="test", to_agent=worker.name, intent="Read.", success="Read."
    )
    stop = asyncio.Event()
    script = Script(rules=list(rules), strict=True)
    async with offline_server(script=script, log=log) as url, asking(url) as model, asyncio.TaskGroup() as group:
        process = WorkerProcess(worker, bus, clock, settings, instance="i")
        process.give_model(model)
        group.create_task(process.run(stop))
        await bus.publish(address.handoff, codec.encode(handoff), expect=0)
        found: list[Any] = []

        def there() -> bool:
            found[:] = server.stream(streams.RUNS).read(subjects.run_work(address.run, "result"), 0)
            return bool(found)

        await until(there)
        stop.set()
    return codec.decode(found[0].data, Result)


def look(page: int = 1) -> list[ScriptedTool]:
    return [ScriptedTool(name="look_up", input={"page": page})]


async def test_each_worker_asks_the_model_it_names_and_else_the_one_of_the_settings(tmp_path: Path) -> None:
    dear = Worker("dear", summary="Thinks hard.", prompt="You think.", model="claude-opus-5-5")
    for worker in (READER, dear):
        assert (await result_of(worker, Rule(text="ok"), log=tmp_path / "log")).status == "completed"
    asked = [line["model"] for line in lines(tmp_path / "log") if line["event"] == "asked"]
    assert asked == [SETTINGS.model_worker, "claude-opus-5-5"]


async def test_a_paused_turn_is_sent_back_and_gone_on_with() -> None:
    searcher = Worker("searcher", summary="Searches.", prompt="You search.", server_tools=["web_search"])
    result = await result_of(
        searcher, Rule(turns=1, text="I search. ", stop_reason="pause_turn"), Rule(turns=2, text="It rains.")
    )
    assert (result.status, result.output) == ("completed", "I search. It rains.")


async def test_an_answer_over_the_limit_of_tokens_is_gone_on_with() -> None:
    result = await result_of(
        READER,
        Rule(turns=1, text="One, ", stop_reason="max_tokens"),
        Rule(turns=3, contains=GO_ON, text="two, ", stop_reason="max_tokens"),
        Rule(turns=5, contains=GO_ON, text="three."),
    )
    assert (result.status, result.output) == ("completed", "One, two, three.")


async def test_an_answer_that_never_ends_is_ended_by_the_number_of_turns() -> None:
    result = await result_of(READER, Rule(text="more ", stop_reason="max_tokens"))
    assert result.error is not None
    assert (result.status, result.error.kind) == ("failed", "budget")
    assert result.usage.model_calls == SETTINGS.max_turns


async def test_a_tool_call_over_the_limit_of_tokens_is_not_made_but_asked_for_again() -> None:
    result = await result_of(
        READER,
        Rule(turns=1, tool_use=look(), stop_reason="max_tokens"),
        Rule(turns=3, contains="cut off before its end", text="I will not."),
    )
    assert (result.output, result.usage.tool_calls) == ("I will not.", 1)


@pytest.mark.parametrize("uses", [[], look()])
async def test_a_refusal_is_a_failed_result_and_no_crash(uses: list[ScriptedTool]) -> None:
    result = await result_of(READER, Rule(text="I must not.", tool_use=uses, stop_reason="refusal"))
    assert result.error is not None
    assert (result.status, result.error.kind, result.output) == ("failed", "refusal", "I must not.")
    assert not result.error.retryable
    assert result.usage.tool_calls == 0


async def test_a_context_that_is_full_in_the_middle_of_an_answer_fails_with_what_there_is() -> None:
    result = await result_of(READER, Rule(text="So far", stop_reason="model_context_window_exceeded"))
    assert result.error is not None
    assert (result.status, result.error.kind, result.output) == ("failed", "context", "So far")


async def test_a_prompt_that_the_provider_finds_too_long_fails_by_that_name() -> None:
    result = await result_of(READER, Rule(status=400, message="prompt is too long: 9 tokens > 8 maximum"))
    assert result.error is not None
    assert (result.status, result.error.kind) == ("failed", "context")


async def test_a_tool_result_that_the_context_does_not_hold_is_shortened_before_the_call() -> None:
    small = Settings(context_tokens=4_000, max_tokens=500)
    shortened = Rule(turns=3, contains="[the first ", text="It begins with word.")
    result = await result_of(READER, Rule(turns=1, tool_use=look()), shortened, settings=small)
    assert (result.status, result.output) == ("completed", "It begins with word.")


async def test_a_task_that_the_context_does_not_hold_fails_before_it_is_paid_for() -> None:
    result = await result_of(READER, Rule(text="never"), settings=Settings(context_tokens=100))
    assert result.error is not None
    assert (result.status, result.error.kind) == ("failed", "context")
    assert "100 tokens" in result.error.message
    assert result.usage.model_calls == 0


async def test_what_is_read_from_the_cache_is_seen_in_the_usage_of_the_result() -> None:
    long = Worker("long", summary="Reads.", prompt="You read with care. " * 400, tools=[look_up])
    result = await result_of(long, Rule(turns=1, tool_use=look()), Rule(turns=3, text="done"))
    assert result.usage.cache_write_tokens > 1_024
    assert result.usage.cache_read_tokens > 1_024
    assert result.usage.input_tokens < 100
