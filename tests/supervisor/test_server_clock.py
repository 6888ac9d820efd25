"""Deadlines of runs go by the server's clock: a supervisor's wall clock may be wrong, and may jump."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, ProcessClock, VirtualClock
from actors.model.port import Call, Reply
from actors.settings import Settings
from actors.supervisor.alarm import Alarm
from actors.supervisor.supervisor import Supervisor
from actors.worker.definition import Outcome, Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.controls import Approve
from protocol.events import Event, Expired, Finished, Planned, Started
from protocol.ids import new_run_id
from protocol.messages import DEADLINE, Answer, Fault, Handoff, Plan, Request, Task

SETTINGS = Settings(ack_wait_s=2.0, poll_s=1.0, heartbeat_s=1.0, card_ttl_s=3.0, breaker_failures=1, attempts=2)
HOUR_S = 3600.0
WRONG = pytest.mark.parametrize("wrong_by_s", [-HOUR_S, HOUR_S])
PLAN = Plan(tasks=(Task(id="a", worker="w", intent="do it"),))


class NoModel:
    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        raise AssertionError("these runs ask no model")

    async def close(self) -> None:
        pass


class World:
    """Supervisors with wall clocks of their own, and one worker with the right time, which does what `work` does."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.client = MemoryBus(self.server, "client")
        self.release = asyncio.Event()
        self.outcome: str | Outcome = "done"
        worker = Worker("w", summary="Works.", run=self._work)
        process = WorkerProcess(worker, MemoryBus(self.server, "w"), self.clock, SETTINGS, instance="w1")
        self.tasks = [asyncio.create_task(process.run(asyncio.Event()))]
        self.supervisors: list[tuple[MemoryBus, asyncio.Task[None]]] = []

    async def _work(self, _: Handoff) -> str | Outcome:
        await self.release.wait()
        return self.outcome

    def supervise(self, wrong_by_s: float = 0.0) -> ProcessClock:
        name, clock = f"s{len(self.supervisors)}", ProcessClock(self.clock, wrong_by_s)
        bus = MemoryBus(self.server, name, clock)
        task = asyncio.create_task(Supervisor(bus, clock, NoModel(), SETTINGS, instance=name).run(asyncio.Event()))
        self.supervisors.append((bus, task))
        self.tasks.append(task)
        return clock

    async def kill_supervisor(self) -> None:
        bus, task = self.supervisors[-1]
        bus.kill()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def ask(self, **fields: Any) -> str:
        request = Request(id=new_run_id(), plan=PLAN, synthesis=False, **fields)
        await self.client.publish(subjects.request("default"), codec.encode(request))
        return request.id

    async def happens(self, run: str, kind: type[Event], within_s: float = 60.0) -> float:
        """Wait until such an event is in the log; returns when the last of them was stored."""
        assert await self.clock.advance_until(lambda: bool(self.times(run, kind)), within_s), self.log(run)
        return self.times(run, kind)[-1]

    def log(self, run: str) -> list[tuple[Event, float]]:
        stored = self.server.stream(streams.RUNS).read(subjects.log(run), 0)
        return [(codec.decode_event(message.data), message.time) for message in stored]

    def times(self, run: str, kind: type[Event]) -> list[float]:
        return [time for event, time in self.log(run) if isinstance(event, kind)]

    def handoffs(self, run: str) -> list[Handoff]:
        stored = self.server.stream(streams.RUNS).read(subjects.run_work(run, "task"), 0)
        return [codec.decode(message.data, Handoff) for message in stored]

    async def handed_out(self, run: str, count: int = 1) -> Handoff:
        assert await self.clock.advance_until(lambda: len(self.handoffs(run)) == count, 60)
        return self.handoffs(run)[-1]

    async def answer(self, run: str, within_s: float = 60.0) -> Answer:
        await self.happens(run, Finished, within_s)
        (answer,) = [event.answer for event, _ in self.log(run) if isinstance(event, Finished)]
        return answer


@pytest.fixture
async def world() -> AsyncGenerator[World]:
    world = World()
    await world.clock.advance(1)
    yield world
    for task in world.tasks:
        task.cancel()
    await asyncio.gather(*world.tasks, return_exceptions=True)


@WRONG
async def test_the_deadline_of_a_handoff_is_counted_from_the_stored_start(world: World, wrong_by_s: float) -> None:
    world.supervise(wrong_by_s)
    run = await world.ask(deadline_s=100.0)
    handoff = await world.handed_out(run)
    assert handoff.deadline == world.times(run, Started)[0] + 100.0
    world.release.set()
    assert (await world.answer(run)).status == "complete"


@WRONG
async def test_a_run_resumed_by_a_wrong_clock_expires_at_its_deadline(world: World, wrong_by_s: float) -> None:
    world.supervise()
    run = await world.ask(deadline_s=60.0)
    began = await world.happens(run, Started)
    await world.clock.advance(20)
    await world.kill_supervisor()
    world.supervise(wrong_by_s)
    expired = await world.happens(run, Expired, within_s=100)
    assert expired - began == pytest.approx(60.0, abs=0.5)
    assert (await world.answer(run)).timing.wall_s == pytest.approx(60.0, abs=1.0)


@WRONG
async def test_a_wall_clock_that_jumps_moves_no_deadline(world: World, wrong_by_s: float) -> None:
    clock = world.supervise()
    run = await world.ask(deadline_s=60.0)
    began = await world.happens(run, Started)
    await world.clock.advance(20)
    clock.wrong_by_s = wrong_by_s
    expired = await world.happens(run, Expired, within_s=100)
    assert expired - began == pytest.approx(60.0, abs=0.5)


@WRONG
async def test_a_resumed_run_has_the_deadline_of_the_live_one(world: World, wrong_by_s: float) -> None:
    world.supervise(wrong_by_s)
    world.outcome = Outcome(error=Fault(kind="broken", message="no", retryable=True, refinable=False))
    run = await world.ask(deadline_s=500.0, review=True)
    await world.happens(run, Planned)
    await world.clock.advance(30)
    await world.client.publish(subjects.control(run), codec.encode(Approve()))
    live = await world.handed_out(run)
    await world.kill_supervisor()
    world.supervise()
    world.release.set()
    resumed = await world.handed_out(run, 2)
    assert (live.attempt, resumed.attempt) == (1, 2)
    assert resumed.deadline == live.deadline
    assert resumed.deadline is not None
    assert resumed.deadline - world.times(run, Started)[0] == pytest.approx(530.0, abs=1.0)


async def test_a_task_past_its_deadline_is_not_counted_against_its_worker(world: World) -> None:
    world.supervise()
    world.outcome = Outcome(error=Fault(kind=DEADLINE, message="late", retryable=True))
    world.release.set()
    run = await world.ask()
    assert (await world.answer(run)).status == "failed"
    assert len(world.handoffs(run)) == 1
    assert world.server.stream(streams.BREAKERS).read(">", 0) == []


@pytest.mark.parametrize("jump_s", [-HOUR_S, HOUR_S])
async def test_how_long_a_run_was_silent_is_measured_by_the_monotonic_clock(jump_s: float) -> None:
    shared = VirtualClock()
    clock = ProcessClock(shared)
    alarm = Alarm(clock, clock.now, silence_s=5.0)
    alarm.heard()
    clock.wrong_by_s = jump_s
    await shared.advance(4)
    assert not alarm.overdue
    await shared.advance(2)
    assert alarm.overdue
