"""The real actors on the in-memory bus with a virtual clock: killed at any moment, and nothing is lost or doubled."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from simulation.world import SEEDS, World

from actors.bus.memory import MemoryServer, VirtualClock
from actors.model.port import Call, Reply
from actors.tools.tool import tool
from actors.worker.definition import Worker
from protocol import codec, streams, subjects
from protocol.ids import RunId
from protocol.messages import Handoff, Plan, Request, Task, Usage
from protocol.steps import ModelCalled

TURNS = 3


@tool
async def look_up(page: int) -> str:
    """Look up a page.

    Args:
        page: which one
    """
    return f"page {page}"


async def _echo(handoff: Handoff) -> str:
    return handoff.intent + "".join(part.output for part in handoff.context)


READER = Worker("reader", summary="Reads.", prompt="Read.", tools=[look_up])
ECHO = Worker("echo", summary="Repeats.", run=_echo)


class PaidModel:
    """Asks for the tool a few times, then answers; notes every call that had been stored before it was made."""

    def __init__(self, server: MemoryServer, clock: VirtualClock, luck: random.Random) -> None:
        self._server = server
        self._clock = clock
        self._luck = luck
        self.calls = 0
        self.paid_again: list[str] = []

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        turn = sum(t.role == "assistant" for t in call.turns)
        self.calls += 1
        if self._stored_turns(call.run) > turn:
            self.paid_again.append(f"{call.run} turn {turn}")
        await self._clock.sleep(self._luck.uniform(0.05, 1.5))
        if turn < TURNS:
            use = {"type": "tool_use", "id": f"use-{turn}", "name": "look_up", "input": {"page": turn}}
            return Reply(model="m", content=[use], stop_reason="tool_use", usage=Usage(model_calls=1))
        content: list[dict[str, Any]] = [{"type": "text", "text": "read"}]
        return Reply(model="m", content=content, stop_reason="end_turn", usage=Usage(model_calls=1))

    async def close(self) -> None:
        pass

    def _stored_turns(self, run: str) -> int:
        steps = self._server.stream(streams.RUNS).read(subjects.run_work(run, "step"), 0)
        return sum(isinstance(codec.decode_step(step.data), ModelCalled) for step in steps)


def a_request(world: World) -> Request:
    tasks = (
        Task(id="a", worker="echo", intent="A"),
        Task(id="r", worker="reader", intent="read"),
        Task(id="b", worker="echo", intent="B", depends_on=("a", "r")),
    )
    return Request(id=world.run_id(), plan=Plan(tasks=tasks), synthesis=False)


@pytest.mark.parametrize("seed", SEEDS)
async def test_chaos_loses_nothing_doubles_nothing_and_pays_nothing_twice(seed: int) -> None:
    world = World(seed, {"reader": READER, "echo": ECHO})
    world.model = model = PaidModel(world.server, world.clock, world.luck)
    await world.start_all()
    runs: list[RunId] = []
    for _ in range(6):
        request = a_request(world)
        runs.append(RunId(request.id))
        await world.submit(request)
        await world.mischief()
    for _ in range(10):
        await world.mischief()
    await world.calm(runs)
    for run in runs:
        (end,) = world.ends(run)
        assert end.answer.status == "complete", end.answer.gaps
        assert end.answer.text == "BAread"
        assert sorted(result.task for result in world.results(run)) == ["a", "b", "r"]
    assert model.paid_again == []
    assert model.calls >= len(runs) * (TURNS + 1)
    assert world.server.stream(streams.REQUESTS).read(subjects.REQUESTS, 0) == [], "every request was acknowledged"
    await world.end()
