"""Runs whose worker is open-circuited, and runs that must not open a breaker."""

import asyncio
from collections.abc import AsyncGenerator

import msgspec
import pytest
from supervisor.world import SETTINGS, World

from actors.bus.memory import MemoryBus
from actors.worker.definition import Outcome
from protocol import codec, subjects
from protocol.ids import new_run_id
from protocol.messages import Breaker, Fault, Handoff, Task

COOL_S = 30.0
STRICT = msgspec.structs.replace(SETTINGS, breaker_failures=3, breaker_cool_s=COOL_S)


async def works(handoff: Handoff) -> str:
    return handoff.task


def a_task(name: str, worker: str) -> Task:
    return Task(id=name, worker=worker, intent="do it")


@pytest.fixture
async def world() -> AsyncGenerator[World]:
    world = World()
    world.employ("w", works)
    yield world
    for task in world.tasks:
        task.cancel()
    await asyncio.gather(*world.tasks, return_exceptions=True)


async def open_breaker(world: World, worker: str) -> None:
    breaker = Breaker(state="open", failures=3, since=world.clock.now())
    await world.client.publish(subjects.breaker("default", worker), codec.encode(breaker))


async def test_a_run_with_other_results_does_not_wait_for_the_probe_of_an_open_worker(world: World) -> None:
    world.employ("weak", works)
    world.supervise(MemoryBus(world.server, "s"), "s", STRICT)
    await world.clock.advance(2)
    await open_breaker(world, "weak")
    began = world.clock.now()
    await world.ask(a_task("a", "w"), a_task("b", "weak"))
    answer = await world.answer()
    assert world.clock.now() - began < 5
    assert (answer.status, answer.text) == ("partial", "a")
    assert world.handed("b") == []


async def test_a_run_of_one_task_waits_for_the_probe(world: World) -> None:
    world.employ("weak", works)
    world.supervise(MemoryBus(world.server, "s"), "s", STRICT)
    await world.clock.advance(2)
    await open_breaker(world, "weak")
    began = world.clock.now()
    await world.ask(a_task("b", "weak"))
    assert (await world.answer()).status == "complete"
    assert world.clock.now() - began >= COOL_S


@pytest.mark.parametrize("kind", ["refusal", "context", "authentication_error", "overloaded_error"])
async def test_three_hard_questions_do_not_fail_the_runs_of_everybody_else(world: World, kind: str) -> None:
    async def fails(handoff: Handoff) -> Outcome:
        hard = handoff.task == "hard"
        return Outcome(output="done", error=Fault(kind=kind, message="too hard") if hard else None)

    world.employ("keeper", fails)
    world.supervise(MemoryBus(world.server, "s"), "s", STRICT)
    await world.clock.advance(2)
    for _ in range(4):
        world.run = new_run_id()
        await world.ask(a_task("hard", "keeper"))
        assert (await world.answer()).status == "failed"
    world.run = new_run_id()
    began = world.clock.now()
    await world.ask(a_task("easy", "keeper"))
    assert (await world.answer()).status == "complete"
    assert world.clock.now() - began < 5
