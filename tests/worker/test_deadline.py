"""Deadlines of tasks go by the server's clock, before the work and while it is under way."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, ProcessClock, VirtualClock
from actors.model.port import Call, Reply
from actors.settings import Settings
from actors.tools.tool import tool
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.ids import RunId, new_run_id
from protocol.messages import DEADLINE, Handoff, Result, Usage
from protocol.subjects import TaskAddress

SETTINGS = Settings(ack_wait_s=2.0, heartbeat_s=1.0, card_ttl_s=3.0, grace_s=1.0)
HOUR_S = 3600.0
WRONG = pytest.mark.parametrize("wrong_by_s", [-HOUR_S, 0.0, HOUR_S])


class OneToolModel:
    """Uses the tool `nap` in its first turn, and is done in the second."""

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        usage = Usage(model_calls=1, output_tokens=7)
        if len(call.turns) == 1:
            use: list[dict[str, Any]] = [
                {"type": "text", "text": "First I rest."},
                {"type": "tool_use", "id": "c1", "name": "nap", "input": {}},
            ]
            return Reply(model="m", content=use, stop_reason="tool_use", usage=usage)
        return Reply(model="m", content=[{"type": "text", "text": "rested"}], stop_reason="end_turn", usage=usage)

    async def close(self) -> None:
        pass


class World:
    """One worker with a wall clock of its own; each task takes `takes_s` of the time that all share."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.client = MemoryBus(self.server, "client")
        self.takes_s = 1.0
        self.began = 0
        self.address = TaskAddress(RunId(new_run_id()), "default", "w", "t", 1)
        self.tasks: list[asyncio.Task[None]] = []

    async def _rest(self) -> str:
        self.began += 1
        await self.clock.sleep(self.takes_s)
        return "done"

    def _function(self) -> Worker:
        async def run(_: Handoff) -> str:
            return await self._rest()

        return Worker("w", summary="Works.", run=run)

    def _agent(self) -> Worker:
        @tool
        async def nap() -> str:
            """Rest for a while."""
            return await self._rest()

        return Worker("w", summary="Works.", prompt="Work.", tools=[nap])

    def start(self, kind: str = "function", wrong_by_s: float = 0.0) -> None:
        clock = ProcessClock(self.clock, wrong_by_s)
        worker = self._function() if kind == "function" else self._agent()
        process = WorkerProcess(worker, MemoryBus(self.server, "w", clock), clock, SETTINGS, instance="w1")
        process.give_model(OneToolModel())
        self.tasks.append(asyncio.create_task(process.run(asyncio.Event())))

    async def hand_out(self, deadline_s: float) -> None:
        handoff = Handoff(
            run=self.address.run,
            task="t",
            attempt=1,
            from_agent="s",
            to_agent="w",
            intent="rest",
            deadline=self.clock.now() + deadline_s,
        )
        await self._stored(self.client.publish(self.address.handoff, codec.encode(handoff), expect=0))

    async def _stored(self, work: Awaitable[Any]) -> None:
        task = asyncio.ensure_future(work)
        assert await self.clock.advance_until(task.done, 10)

    async def result(self, within_s: float = 60.0) -> tuple[Result, float]:
        """The result of the task, and when it was stored."""

        def found() -> list[Any]:
            return self.server.stream(streams.RUNS).read(self.address.result, 0)

        assert await self.clock.advance_until(lambda: bool(found()), within_s), "the task has no result"
        (stored,) = found()
        return codec.decode(stored.data, Result), stored.time

    def unsettled(self) -> int:
        queue = self.server.queues(streams.RUNS)[subjects.durable("default", "w")].state()
        return queue.pending + queue.unsettled


@pytest.fixture
async def world() -> AsyncGenerator[World]:
    world = World()
    yield world
    for task in world.tasks:
        task.cancel()
    await asyncio.gather(*world.tasks, return_exceptions=True)


@WRONG
@pytest.mark.parametrize("kind", ["function", "agent"])
async def test_a_worker_with_a_wrong_clock_does_its_tasks(world: World, kind: str, wrong_by_s: float) -> None:
    world.start(kind, wrong_by_s)
    await world.hand_out(deadline_s=30.0)
    result, _ = await world.result()
    assert (result.status, result.error) == ("completed", None)


@WRONG
@pytest.mark.parametrize("kind", ["function", "agent"])
async def test_a_task_that_comes_too_late_fails_by_its_deadline(world: World, kind: str, wrong_by_s: float) -> None:
    await world.hand_out(deadline_s=30.0)
    await world.clock.advance(40)  # nobody was there, and this task is the first message that the worker receives
    world.start(kind, wrong_by_s)
    result, _ = await world.result()
    assert (result.status, world.began) == ("failed", 0)
    assert result.error is not None
    assert (result.error.kind, result.error.retryable) == (DEADLINE, False)
    await world.clock.advance(0.1)
    assert world.unsettled() == 0


async def test_a_task_that_comes_too_late_is_not_begun_while_another_is_under_way(world: World) -> None:
    world.takes_s = 10.0
    world.start()
    await world.hand_out(deadline_s=100.0)
    assert await world.clock.advance_until(lambda: world.began == 1, 10)
    world.address = TaskAddress(world.address.run, "default", "w", "late", 1)
    await world.hand_out(deadline_s=-1.0)
    result, _ = await world.result(within_s=1.0)
    assert (result.status, world.began) == ("failed", 1)


@WRONG
async def test_a_function_is_stopped_at_its_deadline(world: World, wrong_by_s: float) -> None:
    world.takes_s = 1000.0
    world.start("function", wrong_by_s)
    await world.hand_out(deadline_s=30.0)
    began = world.clock.now()
    result, time = await world.result()
    assert time - began == pytest.approx(30.0, abs=0.5)
    assert (result.status, world.began) == ("failed", 1)
    assert result.error is not None
    assert result.error.kind == DEADLINE
    assert result.usage.seconds == pytest.approx(30.0, abs=0.5)
    await world.clock.advance(0.1)
    assert world.unsettled() == 0


async def test_an_agent_is_stopped_at_its_deadline_with_the_usage_so_far(world: World) -> None:
    world.takes_s = 1000.0
    world.start("agent")
    await world.hand_out(deadline_s=30.0)
    began = world.clock.now()
    result, time = await world.result()
    assert time - began == pytest.approx(30.0, abs=0.5)
    assert result.error is not None
    assert (result.status, result.error.kind) == ("failed", DEADLINE)
    assert (result.usage.model_calls, result.usage.output_tokens) == (1, 7)
    assert result.output == "First I rest."


async def test_a_task_that_is_done_before_its_deadline_is_completed(world: World) -> None:
    world.takes_s = 29.0
    world.start("agent")
    await world.hand_out(deadline_s=30.0)
    result, _ = await world.result()
    assert (result.status, result.output) == ("completed", "rested")
    await world.clock.advance(5)


async def test_a_run_that_is_ended_at_the_deadline_has_the_same_result(world: World) -> None:
    """The supervisor notices the deadline a moment before the worker, and tells it to stop."""
    world.takes_s = 1000.0
    world.start("agent")
    await world.hand_out(deadline_s=30.0)
    await world.clock.advance(29.9)
    await world.client.emit(subjects.cancel(world.address.run), b"")
    result, _ = await world.result(within_s=0.05)
    assert result.error is not None
    assert (result.error.kind, result.usage.model_calls) == (DEADLINE, 1)


async def test_a_run_that_is_ended_before_the_deadline_has_no_result(world: World) -> None:
    world.takes_s = 1000.0
    world.start("agent")
    await world.hand_out(deadline_s=30.0)
    await world.clock.advance(10)
    await world.client.emit(subjects.cancel(world.address.run), b"")
    await world.clock.advance(40)
    assert world.server.stream(streams.RUNS).read(world.address.result, 0) == []
    assert world.unsettled() == 0
