"""kill -9 of any process at any moment loses nothing, and nothing that was stored is paid for again."""

import asyncio
import collections
import random
import signal
from collections.abc import Generator
from contextlib import contextmanager

from actor_processes import Actor, Stage, task, until
from waiting import LIMIT_S

from actors.remote_run import Run
from protocol.events import Finished, Planned, Started
from protocol.messages import Handoff, Result
from protocol.steps import ModelCalled, Taken, ToolCalled

GATED_PLAN = {
    "goal": "Wait",
    "tasks": [{"id": "g", "worker": "gated", "intent": "Wait for the.gate", "success": "It opened"}],
}
READER_PLAN = {"goal": "Read", "tasks": [{"id": "r", "worker": "reader", "intent": "Read 4 pages", "success": "Read"}]}


def five_turns(delay_s: float) -> dict[str, object]:
    """A worker that looks up four pages one by one, then answers; every call takes a while."""
    turns = [
        {"role": "worker", "turns": 1 + 2 * n, "tool_use": [{"name": "look_up", "input": {"page": n + 1}}]}
        for n in range(4)
    ]
    end = {"role": "worker", "turns": 9, "text": "All four pages read."}
    return {"rules": [{"role": "planner", "plan": READER_PLAN}, *turns, end], "delay_s": delay_s}


def asked_again(stage: Stage) -> dict[str, int]:
    """How often each call was made beyond the first time."""
    counts = collections.Counter(line["key"] for line in stage.asked())
    return {key: count - 1 for key, count in counts.items() if count > 1}


def open_gate(stage: Stage, name: str) -> None:
    """Let the task that waits for this file come to its end."""
    (stage.directory / name).touch()


@contextmanager
def frozen(model: Actor) -> Generator[None]:
    """The model answers nothing inside the block: a call that is under way stays so."""
    model.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        model.signal(signal.SIGCONT)


async def test_another_supervisor_finishes_the_run_of_a_killed_one(stage: Stage) -> None:
    await stage.model({"rules": [{"role": "planner", "plan": GATED_PLAN}]})
    await stage.worker("gated")
    both = {actor.pid: actor for actor in (await stage.supervisor(), await stage.supervisor())}
    run = await stage.ask(text="Wait for it")
    started = (await stage.stored(run, Started)).message
    await stage.stored(run, Handoff)
    assert isinstance(started, Started)
    both[int(started.supervisor.split("-")[-2])].kill()
    open_gate(stage, "the.gate")
    answer = await asyncio.wait_for(run.answer(), LIMIT_S)
    assert answer.status == "complete"
    past = [entry.message for entry in await run.past()]
    assert [entry.epoch for entry in past if isinstance(entry, Started)] == [1, 2]
    assert sum(isinstance(entry, Planned) for entry in past) == 1
    assert sum(isinstance(entry, Finished) for entry in past) == 1
    assert asked_again(stage) == {}


async def test_a_killed_worker_costs_at_most_the_call_that_was_under_way(stage: Stage) -> None:
    model = await stage.model(five_turns(delay_s=0.3))
    await stage.supervisor()
    first = await stage.worker("reader")
    run = await stage.ask(text="Read the book")
    await _second_call(run)
    with frozen(model):
        second = await stage.worker("reader")
        first.kill()
    answer = await asyncio.wait_for(run.answer(), LIMIT_S)
    assert answer.status == "complete"
    past = [entry.message for entry in await run.past()]
    assert sum(isinstance(entry, ModelCalled) for entry in past) == 5
    assert sum(isinstance(entry, ToolCalled) for entry in past) == 4
    assert [f"-{second.pid}-" in entry.instance for entry in past if isinstance(entry, Taken)] == [True]
    assert sum(asked_again(stage).values()) <= 1


async def _second_call(run: Run) -> None:
    async def two() -> bool:
        return sum(isinstance(entry.message, ToolCalled) for entry in await run.past()) >= 2

    await until(two)


async def test_a_killed_server_that_comes_back_costs_no_stored_call(stage: Stage) -> None:
    luck = random.Random(1)
    await stage.model(five_turns(delay_s=0.15))
    await stage.worker("reader")
    await stage.supervisor()
    for _ in range(4):
        before = len(stage.asked())
        run = await stage.ask(text="Read the book")
        for _ in range(2):
            await asyncio.sleep(luck.uniform(0.05, 0.9))
            await stage.server.kill()
            await asyncio.sleep(luck.uniform(0.0, 0.4))
            await stage.server.start()
        answer = await asyncio.wait_for(run.answer(), LIMIT_S)
        assert answer.status == "complete"
        past = [entry.message for entry in await run.past()]
        assert sum(isinstance(entry, ModelCalled) for entry in past) == 5
        assert sum(isinstance(entry, Finished) for entry in past) == 1
        assert before + 7 <= len(stage.asked()) <= before + 9, "at most the call under way is repeated after each kill"


async def test_a_supervisor_woken_after_losing_its_lease_changes_nothing(stage: Stage) -> None:
    await stage.worker("gated", "echo")
    sleeper = await stage.supervisor()
    run = await stage.ask(task("a", "gated", intent="a.gate"), task("b", "echo", "a"), task("c", "echo", "b"))
    await stage.stored(run, Handoff, task="a")
    sleeper.signal(signal.SIGSTOP)
    await stage.supervisor()
    open_gate(stage, "a.gate")
    answer = await asyncio.wait_for(run.answer(), LIMIT_S)
    assert answer.status == "complete"
    before = [(entry.seq, entry.subject) for entry in await run.past()]
    sleeper.signal(signal.SIGCONT)
    await until(lambda: b"delivery.lost" in sleeper.log.read_bytes())
    again = await stage.ask(task("x", "echo", intent="still there"))
    assert (await asyncio.wait_for(again.answer(), LIMIT_S)).text == "still there"
    assert [(entry.seq, entry.subject) for entry in await run.past()] == before


async def test_a_woken_supervisor_does_not_touch_a_run_that_goes_on_elsewhere(stage: Stage) -> None:
    await stage.worker("gated", "echo")
    sleeper = await stage.supervisor()
    run = await stage.ask(task("a", "gated", intent="a.gate"), task("b", "echo", "a"))
    await stage.stored(run, Handoff, task="a")
    sleeper.signal(signal.SIGSTOP)
    await stage.supervisor()
    await stage.stored(run, Started, epoch=2)
    sleeper.signal(signal.SIGCONT)
    await until(lambda: b"delivery.lost" in sleeper.log.read_bytes())
    open_gate(stage, "a.gate")
    assert (await asyncio.wait_for(run.answer(), LIMIT_S)).status == "complete"
    past = [entry.message for entry in await run.past()]
    assert [entry.epoch for entry in past if isinstance(entry, Started)] == [1, 2]


async def test_the_task_of_a_frozen_worker_is_not_delivered_to_it_again(stage: Stage) -> None:
    frozen = await stage.worker("marked_nap")
    await stage.supervisor()
    run = await stage.ask(task("a", "marked_nap", intent="0.5"))
    await until((stage.directory / f"nap.{frozen.pid}").exists)
    frozen.signal(signal.SIGSTOP)
    other = await stage.worker("marked_nap")
    answer = await asyncio.wait_for(run.answer(), 60)
    assert answer.text == str(other.pid)
    taken = [entry.message for entry in await run.past() if isinstance(entry.message, Taken)]
    assert [entry.delivery for entry in taken] == [2], "the open pull of the frozen process took the task again"


async def test_sigterm_ends_a_worker_in_good_order_and_nothing_is_redone(stage: Stage) -> None:
    stage.environment["HANDOFF_GRACE_S"] = str(LIMIT_S)
    model = await stage.model(five_turns(delay_s=0.3))
    await stage.supervisor()
    first = await stage.worker("reader")
    run = await stage.ask(text="Read the book")
    await stage.stored(run, ModelCalled)
    with frozen(model):
        await stage.worker("reader")
        first.signal(signal.SIGTERM)
    assert await first.ended() == 0
    assert (await asyncio.wait_for(run.answer(), LIMIT_S)).status == "complete"
    assert asked_again(stage) == {}


async def test_sigterm_ends_a_supervisor_in_good_order_and_nothing_is_redone(stage: Stage) -> None:
    stage.environment["HANDOFF_GRACE_S"] = str(LIMIT_S)
    model = await stage.model({"rules": [{"role": "planner", "plan": READER_PLAN}], "delay_s": 0.5})
    await stage.worker("reader")
    first = await stage.supervisor()
    run = await stage.ask(text="Read the book")
    await until(lambda: len(stage.asked()) > 0)
    with frozen(model):
        await stage.supervisor()
        first.signal(signal.SIGTERM)
    assert await first.ended() == 0
    assert (await asyncio.wait_for(run.answer(), LIMIT_S)).status == "complete"
    assert asked_again(stage) == {}


async def test_a_function_under_way_is_finished_before_its_worker_stops(stage: Stage) -> None:
    await stage.supervisor()
    stage.environment["HANDOFF_GRACE_S"] = str(LIMIT_S)
    first = await stage.worker("gated")
    run = await stage.ask(task("a", "gated", intent="a.gate"))
    await stage.stored(run, Handoff, task="a")

    async def taken() -> bool:
        return (await stage.bus.queues("HANDOFF_RUNS"))["default-gated"].unsettled == 1

    await until(taken)
    first.signal(signal.SIGTERM)
    open_gate(stage, "a.gate")
    assert await first.ended() == 0
    result = (await stage.stored(run, Result, task="a")).message
    assert isinstance(result, Result)
    assert f"-{first.pid}-" in result.instance


async def test_a_handoff_that_kills_every_worker_is_poison(stage: Stage) -> None:
    stage.environment["HANDOFF_DELIVERIES"] = "2"
    stage.environment["HANDOFF_ACK_WAIT_S"] = "0.5"
    await stage.supervisor()
    run = await stage.ask(task("a", "suicide"))
    for _ in range(2):
        assert await stage.start("worker", "system.workers_for_tests:suicide").ended() == 1
    stage.start("worker", "system.workers_for_tests:suicide")
    answer = await asyncio.wait_for(run.answer(), LIMIT_S)
    assert answer.status == "failed"
    result = (await stage.stored(run, Result, task="a")).message
    assert isinstance(result, Result)
    assert result.error is not None
    assert result.error.kind == "poison"
