"""A real supervisor and function workers on the in-memory bus with a virtual clock, one run at a time."""

import asyncio
from collections.abc import Callable

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.model.port import Call, Reply
from actors.settings import Settings
from actors.supervisor.supervisor import Supervisor
from actors.worker.definition import Work, Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.events import Event, Finished, Started
from protocol.ids import new_run_id
from protocol.messages import Answer, Handoff, Plan, Request, Task

SETTINGS = Settings(
    ack_wait_s=2.0,
    poll_s=1.0,
    heartbeat_s=1.0,
    card_ttl_s=3.0,
    breaker_failures=10_000,
    message_bytes=32 * 1024,
    attempts=1,
)


class NoModel:
    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        raise AssertionError("no model is needed here")

    async def close(self) -> None:
        pass


class World:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.client = MemoryBus(self.server, "client")
        self.tasks: list[asyncio.Task[None]] = []
        self.run = new_run_id()

    def supervise(self, bus: MemoryBus, name: str, settings: Settings = SETTINGS) -> None:
        supervisor = Supervisor(bus, self.clock, NoModel(), settings, instance=name)
        self.tasks.append(asyncio.create_task(supervisor.run(asyncio.Event())))

    def employ(self, name: str, run: Work) -> None:
        worker = Worker(name, summary="Works.", run=run)
        process = WorkerProcess(worker, MemoryBus(self.server, name), self.clock, SETTINGS, instance=f"{name}-1")
        self.tasks.append(asyncio.create_task(process.run(asyncio.Event())))

    async def ask(self, *tasks: Task) -> None:
        request = Request(id=self.run, plan=Plan(tasks=tasks), synthesis=False)
        await self.client.publish(subjects.request("default"), codec.encode(request))

    def take_over(self) -> None:
        """Another supervisor writes itself into the log; the first one has not heard of it yet."""
        request = Request(id=self.run, plan=Plan(tasks=()), synthesis=False)
        started = codec.encode(Started(epoch=2, supervisor="other", request=request))
        self.tasks.append(asyncio.create_task(self._store(subjects.log(self.run), started)))

    async def _store(self, subject: str, data: bytes) -> None:
        await self.client.publish(subject, data)

    def log(self) -> list[tuple[int, Event]]:
        stored = self.server.stream(streams.RUNS).read(subjects.log(self.run))
        return [(message.seq, codec.decode_event(message.data)) for message in stored]

    def first(self, kind: type[Event]) -> int:
        return next((seq for seq, event in self.log() if isinstance(event, kind)), 0)

    def handed(self, task: str) -> list[tuple[int, Handoff]]:
        found = self.server.stream(streams.RUNS).read(subjects.run_work(self.run, "task"))
        handoffs = [(message.seq, codec.decode(message.data, Handoff)) for message in found]
        return [(seq, handoff) for seq, handoff in handoffs if handoff.task == task]

    async def until(self, holds: Callable[[], object], within_s: float = 60.0) -> None:
        assert await self.clock.advance_until(lambda: bool(holds()), within_s), self.log()

    async def answer(self, within_s: float = 60.0) -> Answer:
        await self.until(lambda: self.first(Finished), within_s)
        return next(event.answer for _, event in self.log() if isinstance(event, Finished))
