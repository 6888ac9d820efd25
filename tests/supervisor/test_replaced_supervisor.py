"""A supervisor that lost its run to another one hands out nothing that the other one did not decide."""

import asyncio
from collections.abc import AsyncGenerator

import msgspec
import pytest
from supervisor.world import SETTINGS, World

from actors.bus.memory import MemoryBus
from actors.supervisor.journal import Journal
from actors.worker.definition import Outcome, Work
from protocol import codec, subjects
from protocol.controls import Cancel
from protocol.events import Event, Finished, GaveUp, Planned, PlanRejected, Rerouted
from protocol.messages import Fault, Handoff, Task


class CutOff(MemoryBus):
    """A process whose connection breaks when it stores an artifact; it goes on when the test calls `back`."""

    async def put_artifact(self, name: str, data: bytes) -> str:
        self.lost()
        return await super().put_artifact(name, data)


@pytest.fixture
async def world() -> AsyncGenerator[World]:
    world = World()
    yield world
    for task in world.tasks:
        task.cancel()
    await asyncio.gather(*world.tasks, return_exceptions=True)


def a_task(name: str, worker: str = "w", *needs: str, fallback: str | None = None) -> Task:
    return Task(id=name, worker=worker, intent="do it", depends_on=needs, optional=needs, fallback=fallback)


async def test_a_replaced_supervisor_hands_out_nothing_after_the_end_of_the_run(world: World) -> None:
    async def long_winded(_: Handoff) -> str:
        return "x" * 20_000

    world.employ("w", long_winded)
    first = CutOff(world.server, "first")
    world.supervise(first, "first")
    await world.ask(a_task("a"), a_task("b"), a_task("last", "w", "a", "b"))
    await world.until(lambda: not first.connected)
    await world.client.publish(subjects.control(world.run), codec.encode(Cancel()))
    world.supervise(MemoryBus(world.server, "second"), "second")
    await world.until(lambda: world.first(Finished))
    assert world.handed("last") == []
    first.back()
    await world.clock.advance(30)
    assert world.handed("last") == []


async def _fails(_: Handoff) -> Outcome:
    return Outcome(error=Fault(kind="broken", message="it is broken"))


async def _works(handoff: Handoff) -> str:
    return handoff.task


def failing_while_taken_over(world: World) -> Work:
    async def work(handoff: Handoff) -> Outcome:
        await world.clock.sleep(0.2)
        world.take_over()
        await world.clock.sleep(0.1)
        return await _fails(handoff)

    return work


async def test_a_task_goes_to_its_fallback_only_after_rerouted_is_stored(world: World) -> None:
    settings = msgspec.structs.replace(SETTINGS, attempts=2)
    world.employ("weak", failing_while_taken_over(world))
    world.employ("strong", _works)
    world.supervise(MemoryBus(world.server, "first"), "first", settings)
    await world.clock.advance(2)
    await world.ask(a_task("a", "weak", fallback="strong"))
    await world.until(lambda: world.first(Finished))
    rerouted = world.first(Rerouted)
    assert rerouted
    assert [seq > rerouted for seq, handoff in world.handed("a") if handoff.to_agent == "strong"] == [True]


async def test_what_needs_a_lost_task_goes_out_only_after_gave_up_is_stored(world: World) -> None:
    world.employ("weak", failing_while_taken_over(world))
    world.employ("strong", _works)
    world.supervise(MemoryBus(world.server, "first"), "first")
    await world.clock.advance(2)
    await world.ask(a_task("a", "weak"), a_task("b", "strong", "a"))
    await world.until(lambda: world.first(Finished))
    gave_up = world.first(GaveUp)
    assert gave_up
    assert [seq > gave_up for seq, _ in world.handed("b")] == [True]


async def test_a_rejection_by_the_registry_is_stored_before_the_run_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: dict[type[Event], bool] = {}
    append = Journal.append

    async def noting(journal: Journal, event: Event, *, wait: bool = True) -> None:
        waited[type(event)] = wait
        await append(journal, event, wait=wait)

    monkeypatch.setattr(Journal, "append", noting)
    world.supervise(MemoryBus(world.server, "first"), "first")
    await world.ask(a_task("a", "ghost"))
    await world.until(lambda: world.first(Finished))
    assert waited[PlanRejected]
    assert Planned not in waited
