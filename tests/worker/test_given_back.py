"""A task that its worker gives back on purpose, on the in-memory bus with a virtual clock."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.bus.port import NO_HEADERS, Headers
from actors.lease import Lease
from actors.settings import Settings
from actors.tools.tool import tool
from actors.worker.definition import Worker
from actors.worker.logbook import Logbook
from actors.worker.process import WorkerProcess
from protocol import codec, streams
from protocol.errors import BusError
from protocol.ids import RunId
from protocol.messages import Handoff, Result
from protocol.steps import GivenBack, Step, Taken, ToolCalled
from protocol.subjects import TaskAddress
from tests.worker.at_work import SaidModel, use

RUN = RunId("ab" * 16)
SETTINGS = Settings(ack_wait_s=2.0, heartbeat_s=1.0, card_ttl_s=3.0, grace_s=0.0)


class FaultyBus(MemoryBus):
    """Fails to store a result as often as a test says."""

    failures = 0

    async def publish(
        self, subject: str, data: bytes, *, expect: int | None = None, headers: Headers = NO_HEADERS
    ) -> int:
        if ".result." in subject and self.failures:
            self.failures -= 1
            raise BusError("the stream has no leader")
        return await super().publish(subject, data, expect=expect, headers=headers)


class Stage:
    """One task, and instances of its worker that come and go. Tools and functions wait until `release` is set."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.client = MemoryBus(self.server, "client")
        self.address = TaskAddress(RUN, "default", "w", "t", 1)
        self.release = asyncio.Event()
        self.began = 0
        self.running: dict[str, tuple[FaultyBus, asyncio.Event, asyncio.Task[None]]] = {}

        @tool
        async def wait() -> str:
            """Wait."""
            return await self.work()

        self.agent = Worker("w", summary="Waits.", prompt="Wait.", tools=[wait])
        self.function = Worker("w", summary="Waits.", run=self.do)

    async def do(self, _: Handoff) -> str:
        return await self.work()

    async def work(self) -> str:
        self.began += 1
        await self.release.wait()
        return "waited"

    async def hand(self) -> None:
        handoff = Handoff(run=RUN, task="t", attempt=1, from_agent="s", to_agent="w", intent="wait")
        await self.client.publish(self.address.handoff, codec.encode(handoff))

    async def start(self, worker: Worker, name: str) -> FaultyBus:
        """Start an instance; returns when it is at work."""
        bus, stop, before = FaultyBus(self.server, name), asyncio.Event(), self.began
        process = WorkerProcess(worker, bus, self.clock, SETTINGS, instance=name)
        process.give_model(SaidModel([[use("wait")]]))
        self.running[name] = bus, stop, asyncio.create_task(process.run(stop))
        assert await self.clock.advance_until(lambda: self.began > before or bool(self.results()), 30), self.steps()
        return bus

    async def stop(self, name: str) -> None:
        _, stop, task = self.running.pop(name)
        stop.set()
        await task

    async def kill(self, name: str) -> None:
        bus, _, task = self.running.pop(name)
        bus.kill()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    def results(self) -> list[Result]:
        return [codec.decode(data, Result) for data in self._stored(self.address.result)]

    def steps(self) -> list[Step]:
        return [codec.decode_step(data) for data in self._stored(self.address.steps)]

    async def result(self) -> Result:
        assert await self.clock.advance_until(lambda: bool(self.results()), 60), self.steps()
        (result,) = self.results()
        return result

    def _stored(self, subject: str) -> list[bytes]:
        return [stored.data for stored in self.server.stream(streams.RUNS).read(subject, 0)]


@pytest.fixture
async def stage() -> AsyncGenerator[Stage]:
    stage = Stage()
    await stage.hand()
    yield stage
    for name in list(stage.running):
        await stage.kill(name)


@pytest.mark.parametrize("kind", ["function", "agent"])
async def test_a_task_that_outlasts_eleven_deployments_is_completed(stage: Stage, kind: str) -> None:
    for number in range(11):
        await stage.start(getattr(stage, kind), f"w-{number}")
        await stage.stop(f"w-{number}")
    stage.release.set()
    await stage.start(getattr(stage, kind), "last")
    result = await stage.result()
    assert (result.status, result.error, result.instance) == ("completed", None, "last")
    marks = [step for step in stage.steps() if isinstance(step, GivenBack)]
    assert [mark.instance for mark in marks] == [f"w-{number}" for number in range(11)]
    assert all(mark.reason for mark in marks)


async def test_a_tool_that_outlasts_two_deployments_is_run_again(stage: Stage) -> None:
    for name in ("one", "two"):
        await stage.start(stage.agent, name)
        await stage.stop(name)
    stage.release.set()
    await stage.start(stage.agent, "three")
    await stage.result()
    assert [(step.output, step.failed) for step in stage.steps() if isinstance(step, ToolCalled)] == [("waited", False)]


async def test_a_task_that_all_its_workers_die_of_is_failed_after_ten_losses(stage: Stage) -> None:
    for number in range(10):
        await stage.start(stage.function, f"w-{number}")
        assert not stage.results()
        await stage.kill(f"w-{number}")
    await stage.start(stage.function, "last")
    result = await stage.result()
    assert result.error is not None
    assert (result.status, result.error.kind) == ("failed", "poison")


async def test_returns_between_losses_do_not_count(stage: Stage) -> None:
    for number in range(9):
        await stage.start(stage.function, f"killed-{number}")
        await stage.kill(f"killed-{number}")
        await stage.start(stage.function, f"stopped-{number}")
        await stage.stop(f"stopped-{number}")
    stage.release.set()
    await stage.start(stage.function, "last")
    assert (await stage.result()).status == "completed"


async def test_a_task_that_comes_back_because_the_bus_failed_says_so_and_is_no_loss(stage: Stage) -> None:
    stage.release.set()
    bus = FaultyBus(stage.server, "w-1")
    bus.failures = 12
    stop = asyncio.Event()
    process = WorkerProcess(stage.function, bus, stage.clock, SETTINGS, instance="w-1")
    stage.running["w-1"] = bus, stop, asyncio.create_task(process.run(stop))
    assert await stage.clock.advance_until(lambda: bool(stage.results()), 600), stage.steps()
    assert stage.results()[0].status == "completed"
    marks = [step for step in stage.steps() if isinstance(step, GivenBack)]
    assert len(marks) == 12
    assert "no leader" in marks[0].reason


async def test_a_worker_that_was_replaced_neither_marks_nor_takes_the_task_back(stage: Stage) -> None:
    await stage.start(stage.agent, "frozen")
    stolen = Taken(instance="other", delivery=2)
    last = stage.server.stream(streams.RUNS).last([stage.address.steps])[-1]
    await stage.client.publish(stage.address.steps, codec.encode(stolen), expect=last.seq)
    got: list[int] = []
    queue = streams.task_queue("default", "w", SETTINGS.ack_wait)
    await MemoryBus(stage.server, "other").pull(queue, 1, lambda delivery: got.append(delivery.count))
    await stage.stop("frozen")
    await stage.clock.advance(0.5)
    assert got == [], "it was given back by an instance that no longer had it"
    assert stage.steps()[-1] == stolen


class SlowBus(MemoryBus):
    """Answers a publish only when `answer` is set, long after the message is stored."""

    answer = asyncio.Event()

    async def publish(
        self, subject: str, data: bytes, *, expect: int | None = None, headers: Headers = NO_HEADERS
    ) -> int:
        seq = await super().publish(subject, data, expect=expect, headers=headers)
        await self.answer.wait()
        return seq


async def test_the_mark_follows_a_step_that_was_on_its_way_when_the_process_stopped(stage: Stage) -> None:
    bus, got = SlowBus(stage.server, "slow"), list[Any]()
    bus.answer = asyncio.Event()
    queue = streams.task_queue("default", "w", SETTINGS.ack_wait)
    await bus.pull(queue, 1, got.append)
    await stage.clock.advance(0.1)
    logbook = Logbook(bus, stage.address, Lease(got[0], stage.clock, SETTINGS.ack_wait_s))
    step = ToolCalled(call="a", tool="say", output="x")
    writing = asyncio.create_task(logbook.write(step))
    await stage.clock.advance(0.1)
    writing.cancel()
    await asyncio.gather(writing, return_exceptions=True)
    bus.answer.set()
    await logbook.give_back("slow", "the process stops")
    assert stage.steps() == [step, GivenBack(instance="slow", reason="the process stops")]
