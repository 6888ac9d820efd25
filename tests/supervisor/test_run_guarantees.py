"""What a supervisor stores and reads before it acknowledges, pays or goes on."""

import asyncio
from collections.abc import AsyncGenerator, Callable

import msgspec
import pytest
from supervisor.world import SETTINGS, NoModel, World

from actors.bus.memory import MemoryBus, MemoryServer
from actors.bus.port import NO_HEADERS, Headers, Stored
from actors.model.port import Call, Reply
from actors.supervisor.supervisor import Supervisor
from protocol import codec, streams, subjects
from protocol.events import Finished, Started
from protocol.messages import Handoff, Request, Result, Task
from protocol.subjects import TaskAddress

NEVER_POLLS = msgspec.structs.replace(SETTINGS, poll_s=100_000.0)
"""Such a supervisor reads the stream only when something tells it to."""


class HeldBus(MemoryBus):
    """Waits for `go` at one place: before an event of that type is stored, or while the registry is read."""

    def __init__(self, server: MemoryServer, place: str) -> None:
        super().__init__(server, "held")
        self._place = place
        self.waits = asyncio.Event()
        self.go = asyncio.Event()

    async def send(
        self, subject: str, data: bytes, *, expect: int | None = None, headers: Headers = NO_HEADERS
    ) -> "asyncio.Future[int]":
        if f'"type":"{self._place}"'.encode() in data:
            await self._wait()
        return await super().send(subject, data, expect=expect, headers=headers)

    async def cards(self, prefix: str = "", *, bucket: str = streams.WORKERS) -> dict[str, Stored]:
        found = await super().cards(prefix, bucket=bucket)
        if self._place == "registry" and found and bucket == streams.WORKERS:
            await self._wait()
        return found

    async def _wait(self) -> None:
        self.waits.set()
        await self.go.wait()


class CountingModel(NoModel):
    calls = 0

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        self.calls += 1
        raise AssertionError("the run belongs to another supervisor")


@pytest.fixture
async def world() -> AsyncGenerator[World]:
    world = World()
    yield world
    for task in world.tasks:
        task.cancel()
    await asyncio.gather(*world.tasks, return_exceptions=True)


def a_task(name: str, *needs: str) -> Task:
    return Task(id=name, worker="w", intent="do it", depends_on=needs)


async def works(_: Handoff) -> str:
    return "done"


def requests(world: World) -> int:
    return len(world.server.stream(streams.REQUESTS).read(subjects.REQUESTS))


async def store_result(world: World, task: str = "a") -> None:
    """Store the result of a task that was handed out."""
    result = Result(run=world.run, task=task, attempt=1, worker="w", instance="w-9", status="completed", output="done")
    await world.client.publish(TaskAddress(world.run, "default", "w", task, 1).result, codec.encode(result))


async def never(_: Handoff) -> str:
    await asyncio.Event().wait()
    return ""


async def test_a_request_is_acknowledged_only_after_finished_is_stored(world: World) -> None:
    world.employ("w", works)
    bus = HeldBus(world.server, "finished")
    world.supervise(bus, "first")
    await world.ask(a_task("a"))
    await world.until(bus.waits.is_set)
    await world.clock.advance(SETTINGS.ack_wait_s)
    assert requests(world) == 1
    bus.go.set()
    await world.answer()
    await world.until(lambda: requests(world) == 0)


async def test_what_was_missed_while_the_connection_was_lost_is_read_at_once(world: World) -> None:
    world.employ("w", never)
    bus = MemoryBus(world.server, "first")
    world.supervise(bus, "first", NEVER_POLLS)
    await world.ask(a_task("a"))
    await world.until(lambda: world.handed("a"))
    await world.clock.advance(1)
    bus.lost()
    await store_result(world)
    await world.clock.advance(0.1)
    bus.back()
    assert (await world.answer(within_s=0.5)).status == "complete"


async def test_a_result_that_is_stored_while_a_run_is_taken_over_is_read(world: World) -> None:
    world.employ("w", never)
    first = MemoryBus(world.server, "first")
    world.supervise(first, "first")
    await world.ask(a_task("a"))
    await world.until(lambda: world.handed("a"))
    first.kill()
    world.tasks[-1].cancel()
    second = HeldBus(world.server, "started")
    world.supervise(second, "second", NEVER_POLLS)
    await world.until(second.waits.is_set)  # it has read the past
    world.server.lose_republished = lambda _: True
    await store_result(world)
    second.go.set()
    assert (await world.answer(within_s=0.5)).status == "complete"


async def test_a_run_goes_on_if_nothing_is_republished(world: World) -> None:
    world.server.lose_republished = lambda _: True
    world.employ("w", works)
    world.supervise(MemoryBus(world.server, "first"), "first")
    await world.ask(a_task("a"), a_task("b", "a"))
    assert (await world.answer()).status == "complete"


async def test_a_supervisor_that_was_replaced_pays_for_no_plan(world: World) -> None:
    world.employ("w", works)
    await world.clock.advance(0.1)
    model, bus = CountingModel(), HeldBus(world.server, "registry")
    bus.go.set()
    supervisor = Supervisor(bus, world.clock, model, SETTINGS, instance="first")
    world.tasks.append(asyncio.create_task(supervisor.run(asyncio.Event())))
    await world.clock.advance(0.1)
    bus.waits.clear()
    bus.go.clear()
    await world.client.publish(subjects.request("default"), codec.encode(Request(id=world.run, text="?")))
    await world.until(lambda: world.first(Started) and bus.waits.is_set())
    world.take_over()
    await world.clock.advance(SETTINGS.ack_wait_s / 8)
    bus.go.set()
    await world.clock.advance(SETTINGS.ack_wait_s / 8)
    assert model.calls == 0


async def test_a_refused_event_is_a_takeover_and_the_request_is_not_acknowledged(world: World) -> None:
    world.employ("w", works)
    bus = HeldBus(world.server, "finished")
    world.supervise(bus, "first")
    await world.ask(a_task("a"))
    await world.until(bus.waits.is_set)
    world.take_over()
    await world.clock.advance(0.1)
    bus.go.set()
    assert (await world.answer()).status == "complete"
    last = [event.epoch for _, event in world.log() if isinstance(event, Started)][-1]
    assert last == 3, "the run was taken anew behind the foreign event"
    assert sum(isinstance(event, Finished) for _, event in world.log()) == 1


async def test_an_attempt_that_was_handed_out_before_is_not_handed_out_again(world: World) -> None:
    handoff = Handoff(run=world.run, task="a", attempt=1, from_agent="s", to_agent="w", intent="do it")
    await world.client.publish(TaskAddress(world.run, "default", "w", "a", 1).handoff, codec.encode(handoff))
    world.supervise(MemoryBus(world.server, "first"), "first")
    world.employ("w", works)
    await world.ask(a_task("a"))
    assert (await world.answer()).status == "complete"
    assert len(world.handed("a")) == 1
