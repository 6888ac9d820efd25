"""The real actors on the in-memory bus with a virtual clock, and a hand that breaks things."""

import asyncio
import os
import random
from collections.abc import Callable, Mapping
from typing import Any

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.model.port import Model
from actors.settings import Settings
from actors.supervisor.supervisor import Supervisor
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.controls import Control
from protocol.events import Event, Finished
from protocol.messages import Request, Result

SETTINGS = Settings(ack_wait_s=2.0, poll_s=1.0, heartbeat_s=1.0, card_ttl_s=3.0, grace_s=1.0, deadline_s=100_000.0)
SEEDS = range(int(os.environ.get("SIMULATION_SEEDS", "40")))
"""More of them in a long night: SIMULATION_SEEDS=2500 takes a minute and a half."""


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

    def __init__(self, seed: int, workers: Mapping[str, Worker], settings: Settings = SETTINGS) -> None:
        self.luck = random.Random(seed)
        self.clock = VirtualClock()
        self.settings = settings
        self.server = MemoryServer(settings, self.clock)
        self.client = MemoryBus(self.server, "client")
        self.workers = workers
        self.model: Model
        self.names = 0
        self.processes: dict[str, list[Process]] = {}

    def start(self, kind: str) -> None:
        self.names += 1
        name = f"{kind}-{self.names}"

        async def work(bus: MemoryBus, stop: asyncio.Event) -> None:
            if kind == "supervisor":
                await Supervisor(bus, self.clock, self.model, self.settings, instance=name).run(stop)
            else:
                process = WorkerProcess(self.workers[kind], bus, self.clock, self.settings, instance=name)
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

    async def start_all(self, each: int = 2) -> None:
        for kind in ("supervisor", *self.workers):
            for _ in range(each):
                self.start(kind)
        await self.clock.advance(0.5)
        self.server.lose_acks = lambda _: self.luck.random() < 0.1
        self.server.unknown_publishes = lambda _: self.luck.random() < 0.05

    async def submit(self, request: Request) -> None:
        await self._publish(subjects.request("default"), codec.encode(request))

    async def tell(self, run: str, control: Control) -> None:
        await self._publish(subjects.control(run), codec.encode(control))

    async def _publish(self, subject: str, data: bytes) -> None:
        accepted = asyncio.create_task(self.client.publish(subject, data))
        assert await self.clock.advance_until(accepted.done, within_s=60)

    async def calm(self, runs: list[str], within_s: float = 300.0) -> None:
        """Break nothing more, and let every run come to its end."""
        self.server.lose_acks = self.server.unknown_publishes = lambda _: False
        done = await self.clock.advance_until(lambda: all(self.ends(run) for run in runs), within_s)
        assert done, [self.log(run) for run in runs if not self.ends(run)]
        await self.clock.advance(10)

    async def end(self) -> None:
        for processes in self.processes.values():
            for process in processes:
                await process.kill()

    def results(self, run: str) -> list[Result]:
        found = self.server.stream(streams.RUNS).read(subjects.run_work(run, "result"), 0)
        return [codec.decode(stored.data, Result) for stored in found]

    def log(self, run: str) -> list[Event]:
        stored = self.server.stream(streams.RUNS).read(subjects.log(run), 0)
        return [codec.decode_event(message.data) for message in stored]

    def ends(self, run: str) -> list[Finished]:
        return [event for event in self.log(run) if isinstance(event, Finished)]
