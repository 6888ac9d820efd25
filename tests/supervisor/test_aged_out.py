"""Runs that outlast the time for which the bus keeps their messages."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta

import msgspec
import pytest

from actors.bus.memory import MemoryBus
from actors.dead_letter import dead_letters
from protocol import codec, streams, subjects
from protocol.controls import Approve
from protocol.events import Event, Finished, Started, Waiting
from protocol.messages import Answer, Handoff, Plan, Request, RunEntry, Task
from tests.supervisor.world import SETTINGS, World

KEPT_S = 300.0
PLAN = Plan(tasks=(Task(id="a", worker="echo", intent="count apples", success="counted"),))


class AgingWorld(World):
    def __init__(self) -> None:
        super().__init__()
        self.done = 0

    async def echo(self, handoff: Handoff) -> str:
        self.done += 1
        return handoff.intent

    def keep(self, seconds: float) -> None:
        """The operator changes how long the messages of runs are kept."""
        stream = self.server.stream(streams.RUNS)
        stream.spec = msgspec.structs.replace(stream.spec, max_age=timedelta(seconds=seconds))

    async def request(self, **fields: object) -> None:
        request = msgspec.structs.replace(Request(id=self.run, plan=PLAN, synthesis=False), **fields)
        await self.client.publish(subjects.request("default"), codec.encode(request))

    def events(self) -> list[type[Event]]:
        return [type(event) for _, event in self.log()]

    async def open_requests(self) -> int:
        await self.clock.advance(1)
        return len(self.server.stream(streams.REQUESTS).read(subjects.REQUESTS))


@pytest.fixture
async def world() -> AsyncGenerator[AgingWorld]:
    world = AgingWorld()
    world.employ("echo", world.echo)
    yield world
    for task in world.tasks:
        task.cancel()
    await asyncio.gather(*world.tasks, return_exceptions=True)


async def ended_once(world: AgingWorld) -> Answer:
    """The answer of a run, which must not begin again afterwards."""
    answer = await world.answer(within_s=3 * KEPT_S)
    assert await world.open_requests() == 0
    assert len(await dead_letters(world.client)) == 1
    await world.clock.advance(KEPT_S / 2)
    assert world.events().count(Finished) == 1
    assert Started not in world.events()
    return answer


async def test_a_held_run_whose_log_ages_out_ends_and_does_not_begin_again(world: AgingWorld) -> None:
    world.supervise(MemoryBus(world.server, "s1"), "s1")
    await world.request(review=True)
    await world.until(lambda: world.first(Waiting))
    world.keep(KEPT_S)
    answer = await ended_once(world)
    assert (answer.status, world.done) == ("failed", 0)
    (entry,) = world.server.stream(streams.INDEX).read(subjects.index("default", world.run))
    assert codec.decode(entry.data, RunEntry).status == "failed"


async def test_a_run_whose_log_ages_out_right_before_its_approval_ends(world: AgingWorld) -> None:
    """Polls of the stream come late here: the refused append tells that the log is empty."""
    world.supervise(MemoryBus(world.server, "s1"), "s1", msgspec.structs.replace(SETTINGS, poll_s=10 * KEPT_S))
    await world.request(review=True)
    await world.until(lambda: world.first(Waiting))
    world.keep(KEPT_S)
    await world.clock.advance(KEPT_S + 1)
    await world.client.publish(subjects.control(world.run), codec.encode(Approve()))
    assert (await ended_once(world)).status == "failed"
    assert world.done == 0


async def test_a_run_whose_log_aged_out_while_no_supervisor_was_alive_ends(world: AgingWorld) -> None:
    bus = MemoryBus(world.server, "s1")
    world.supervise(bus, "s1")
    await world.request(review=True)
    await world.until(lambda: world.first(Waiting))
    bus.kill()
    world.keep(KEPT_S)
    await world.clock.advance(KEPT_S + 1)
    assert world.events() == []
    world.supervise(MemoryBus(world.server, "s2"), "s2")
    assert (await ended_once(world)).status == "failed"
    assert world.done == 0


async def test_a_run_whose_log_lost_its_beginning_ends(world: AgingWorld) -> None:
    bus = MemoryBus(world.server, "s1")
    world.supervise(bus, "s1")
    await world.request(review=True)
    await world.until(lambda: world.first(Waiting))
    bus.kill()
    await world.client.delete(streams.RUNS, world.first(Started))
    world.supervise(MemoryBus(world.server, "s2"), "s2")
    answer = await world.answer()
    assert (answer.status, world.done) == ("failed", 0)
    assert await world.open_requests() == 0


async def test_a_request_that_waited_longer_than_runs_are_kept_is_begun(world: AgingWorld) -> None:
    await world.request()
    world.keep(KEPT_S)
    await world.clock.advance(2 * KEPT_S)
    world.supervise(MemoryBus(world.server, "s1"), "s1", msgspec.structs.replace(SETTINGS, deadline_s=60.0))
    assert (await world.answer()).status == "complete"
    assert world.done == 1


async def test_a_run_that_lost_its_log_before_it_aged_begins_again(world: AgingWorld) -> None:
    world.supervise(MemoryBus(world.server, "s1"), "s1")
    await world.request(review=True)
    await world.until(lambda: world.first(Waiting))
    world.server.delete_stream(streams.RUNS)
    await world.client.publish(subjects.control(world.run), codec.encode(Approve()))
    await world.until(lambda: world.first(Waiting))
    await world.client.publish(subjects.control(world.run), codec.encode(Approve()))
    assert (await world.answer()).status == "complete"


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"deadline_s": KEPT_S + 1}, "failed"),
        ({"deadline_s": KEPT_S}, "complete"),
        ({"deadline_s": 10.0, "review": True}, "failed"),
    ],
)
async def test_a_request_that_may_outlast_its_own_messages_is_refused_with_the_reason(
    world: AgingWorld, fields: dict[str, object], status: str
) -> None:
    world.keep(KEPT_S)
    world.supervise(MemoryBus(world.server, "s1"), "s1")
    await world.request(**fields)
    answer = await world.answer()
    assert answer.status == status
    assert ("300 s" in answer.text) == (status == "failed")
    assert world.done == (status == "complete")
    assert await world.open_requests() == 0
