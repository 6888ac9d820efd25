"""A worker that waits for a busy provider, and is replaced meanwhile, pays nothing when it wakes up."""

import asyncio
from pathlib import Path

import pytest
from at_work import RUN, SETTINGS
from waiting import LIMIT_S

from actors.bus.memory import MemoryBus, MemoryServer
from actors.clock import SystemClock
from actors.model.anthropic_api import AnthropicModel
from actors.model_server.scripted import Rule, Script
from actors.model_server.serve import offline_server
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams
from protocol.messages import Handoff
from protocol.steps import Taken
from protocol.subjects import TaskAddress, work
from tests.model.asking import QuickClock, endpoint, lines

WRITER = Worker("writer", summary="Writes.", prompt="You write.", model="claude-haiku-5-5")
ADDRESS = TaskAddress(RUN, "default", "writer", "t1", 1)


class ReplacedWhileAsleep(QuickClock):
    """A clock whose sleep lasts until another instance has taken the task."""

    def __init__(self, bus: MemoryBus) -> None:
        super().__init__()
        self._bus = bus
        self.slept = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        await self._bus.publish(ADDRESS.steps, codec.encode(Taken(instance="other", delivery=2)))
        await super().sleep(seconds)
        self.slept.set()


async def test_a_replaced_worker_that_waits_for_a_429_pays_nothing_when_it_wakes_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.lease.CERTAIN_S", -1.0)  # as if the wait had been longer than a store is certain for
    server = MemoryServer(SETTINGS, SystemClock())
    bus = MemoryBus(server, "test")
    handoff = Handoff(run=RUN, task="t1", attempt=1, from_agent="s", to_agent="writer", intent="write")
    await bus.publish(work("task", ADDRESS), codec.encode(handoff))
    clock, log, stop = ReplacedWhileAsleep(bus), tmp_path / "log", asyncio.Event()
    script = Script(rules=[Rule(status=429, retry_after_s=30, times=1), Rule(text="paid for")])
    async with offline_server(script=script, log=log) as url:
        model = AnthropicModel(endpoint(url), clock=clock)
        process = WorkerProcess(WRITER, MemoryBus(server, "w"), SystemClock(), SETTINGS, instance="w-1")
        process.give_model(model)
        working = asyncio.create_task(process.run(stop))
        async with asyncio.timeout(LIMIT_S):
            await clock.slept.wait()
            stop.set()
            await working
        await model.close()
    assert len([line for line in lines(log) if line["event"] == "asked"]) == 1
    assert server.stream(streams.RUNS).read(ADDRESS.result, 0) == []
