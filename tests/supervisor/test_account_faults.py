"""A wrong key ends a run at once with one sentence; the mistyped model of one worker fails that worker's task alone."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest
from supervisor.test_live_runs import SETTINGS, World

from actors.bus.memory import MemoryBus
from actors.model.port import Call, Reply
from actors.supervisor.supervisor import Supervisor
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol.errors import ModelError
from protocol.ids import new_run_id
from protocol.messages import Plan, Request, Task, Usage


class Account:
    """A provider that refuses the calls to some models, and counts all calls."""

    def __init__(self, refused: str, kind: str) -> None:
        self.refused = refused
        self.kind = kind
        self.calls: list[str] = []

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        self.calls.append(call.role)
        if call.model.startswith(self.refused):
            raise ModelError(self.kind, "because of this", retryable=False)
        content = [{"type": "text", "text": "four apples"}]
        return Reply(model=call.model, content=content, stop_reason="end_turn", usage=Usage(model_calls=1))

    async def close(self) -> None:
        pass


@asynccontextmanager
async def team(world: World, model: Account, *workers: Worker) -> AsyncGenerator[None]:
    stop = asyncio.Event()
    supervisor = Supervisor(MemoryBus(world.server, "s"), world.clock, model, SETTINGS, instance="s")
    tasks = [asyncio.create_task(supervisor.run(stop))]
    for worker in workers:
        process = WorkerProcess(worker, MemoryBus(world.server, worker.name), world.clock, SETTINGS, instance="w1")
        process.give_model(model)
        tasks.append(asyncio.create_task(process.run(stop)))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("kind", ["authentication_error", "billing_error", "permission_error", "not_found_error"])
async def test_a_planner_whose_key_is_refused_is_asked_once_and_the_run_ends_with_one_sentence(kind: str) -> None:
    world, model = World(), Account("claude-sonnet", kind)
    async with team(world, model, Worker("w", summary="Works.", prompt="Work.")):
        run = new_run_id()
        await world.ask(Request(id=run, text="How many apples?"))
        answer = await world.answer(run, within_s=60)
    assert answer.status == "failed"
    assert model.calls == ["planner"]
    assert answer.text.count("because of this") == 1
    assert "handoff doctor" in answer.text


@pytest.mark.parametrize("kind", ["permission_error", "not_found_error"])
async def test_a_mistyped_model_of_one_worker_fails_its_task_once_and_leaves_the_others_alone(kind: str) -> None:
    world, model = World(), Account("mistyped", kind)
    good = Worker("good", summary="Works.", prompt="Work.")
    bad = Worker("bad", summary="Works.", prompt="Work.", model="mistyped-model")
    plan = Plan(tasks=(Task(id="a", worker="good", intent="count"), Task(id="b", worker="bad", intent="count")))
    async with team(world, model, good, bad):
        run = new_run_id()
        await world.ask(Request(id=run, text="How many apples?", plan=plan, synthesis=False))
        answer = await world.answer(run, within_s=60)
    assert answer.status == "partial"
    assert "four apples" in answer.text
    assert sorted(model.calls) == ["bad", "good"]
