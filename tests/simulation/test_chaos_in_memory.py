"""The real actors on the in-memory bus with a virtual clock: killed at any moment, and nothing is lost or doubled."""

import asyncio
import os
import random
from collections.abc import Callable
from typing import Any

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.model.port import Call, Reply
from actors.settings import Settings
from actors.supervisor.supervisor import Supervisor
from actors.tools.tool import tool
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.events import Finished
from protocol.ids import new_run_id
from protocol.messages import Handoff, Plan, Request, Result, Task, Usage
from protocol.steps import ModelCalled

SETTINGS = Settings(ack_wait_s=2.0, poll_s=1.0, heartbeat_s=1.0, card_ttl_s=3.0, grace_s=1.0, deadline_s=100_000.0)
TURNS = 3
SEEDS = range(int(os.environ.get("SIMULATION_SEEDS", "40")))
"""More of them in a long night: SIMULATION_SEEDS=2500 takes a minute and a half."""


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

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None) -> Reply:
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


class Process:
    """One actor that can be killed: its tasks end, its bus goes dead, and nobody hears a word of it."""

    def __init__(self, bus: MemoryBus, work: Callable[[MemoryBus, asyncio.Event], Any]) -> None:
        self._bus = bus
        self._task = asyncio.create_task(work(bus, asyncio.Event()))

    async def kill(self) -> None:
        self._bus.kill()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


class World:
    """A server, actors, and a hand that breaks things."""

    def __init__(self, seed: int) -> None:
        self.luck = random.Random(seed)
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.model = PaidModel(self.server, self.clock, self.luck)
        self.names = 0
        self.processes: dict[str, list[Process]] = {}

    def start(self, kind: str) -> None:
        self.names += 1
        name = f"{kind}-{self.names}"

        async def work(bus: MemoryBus, stop: asyncio.Event) -> None:
            if kind == "supervisor":
                await Supervisor(bus, self.clock, self.model, SETTINGS, instance=name).run(stop)
            else:
                worker = READER if kind == "reader" else ECHO
                process = WorkerProcess(worker, bus, self.clock, SETTINGS, instance=name)
                process.give_model(self.model)
                await process.run(stop)

        self.processes.setdefault(kind, []).append(Process(MemoryBus(self.server, name), work))

    async def mischief(self) -> None:
        match self.luck.randrange(6):
            case 0 | 1 | 2:
                kind = self.luck.choice(list(self.processes))
                victim = self.processes[kind].pop(self.luck.randrange(len(self.processes[kind])))
                await victim.kill()
                self.start(kind)
            case 3:
                self.server.down()
                await self.clock.advance(self.luck.uniform(0.1, 3.0))
                self.server.up()
            case 4:
                self.server.restart()
            case _:
                pass
        await self.clock.advance(self.luck.uniform(0.05, 1.5))

    async def submit(self) -> str:
        run = new_run_id()
        tasks = (
            Task(id="a", worker="echo", intent="A"),
            Task(id="r", worker="reader", intent="read"),
            Task(id="b", worker="echo", intent="B", depends_on=("a", "r")),
        )
        request = Request(id=run, plan=Plan(tasks=tasks), synthesis=False)
        client = MemoryBus(self.server, "client")
        accepted = asyncio.create_task(client.publish(subjects.request("default"), codec.encode(request)))
        assert await self.clock.advance_until(accepted.done, within_s=60)
        return run

    def results(self, run: str) -> list[Result]:
        found = self.server.stream(streams.RUNS).read(subjects.run_work(run, "result"), 0)
        return [codec.decode(stored.data, Result) for stored in found]

    def ends(self, run: str) -> list[Finished]:
        log = self.server.stream(streams.RUNS).read(subjects.log(run), 0)
        events = [codec.decode_event(stored.data) for stored in log]
        return [event for event in events if isinstance(event, Finished)]


@pytest.mark.parametrize("seed", SEEDS)
async def test_chaos_loses_nothing_doubles_nothing_and_pays_nothing_twice(seed: int) -> None:
    world = World(seed)
    for kind in ("supervisor", "reader", "echo"):
        for _ in range(2):
            world.start(kind)
    await world.clock.advance(0.5)
    world.server.lose_acks = lambda _: world.luck.random() < 0.1
    world.server.unknown_publishes = lambda _: world.luck.random() < 0.05
    runs: list[str] = []
    for _ in range(6):
        runs.append(await world.submit())
        await world.mischief()
    for _ in range(10):
        await world.mischief()
    world.server.lose_acks = world.server.unknown_publishes = lambda _: False
    done = await world.clock.advance_until(lambda: all(world.ends(run) for run in runs), within_s=300)
    assert done, [run for run in runs if not world.ends(run)]
    await world.clock.advance(10)
    for run in runs:
        (end,) = world.ends(run)
        assert end.answer.status == "complete", end.answer.gaps
        assert end.answer.text == "BAread"
        assert sorted(result.task for result in world.results(run)) == ["a", "b", "r"]
    assert world.model.paid_again == []
    assert world.model.calls >= len(runs) * (TURNS + 1)
    assert world.server.stream(streams.REQUESTS).read(subjects.REQUESTS, 0) == [], "every request was acknowledged"
    for processes in world.processes.values():
        for process in processes:
            await process.kill()
