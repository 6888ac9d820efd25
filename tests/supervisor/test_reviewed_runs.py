"""The review of a plan by the real supervisor on the in-memory bus: stale decisions, names, faults of an edit."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from actors.client import Client
from actors.remote_run import Run
from protocol import codec, streams, subjects
from protocol.controls import Approve, Cancel, Control, Edit, Reject
from protocol.events import Approved, Cancelled, Event, Planned, PlanRejected, Waiting
from protocol.ids import new_run_id
from protocol.messages import Plan, Request, Task
from tests.supervisor.test_live_runs import SETTINGS, World, echo


@pytest.fixture
async def world() -> AsyncGenerator[World]:
    world = World()
    yield world
    for task in world.tasks:
        task.cancel()
    await asyncio.gather(*world.tasks, return_exceptions=True)


class Reviewed:
    """A run under review."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.run: Run = Client(world.client, settings=SETTINGS).run(new_run_id())

    async def ask(self) -> None:
        await self.world.ask(Request(id=self.run.id, text="count", review=True, synthesis=False))

    def events(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.world.log(self.run.id) if isinstance(event, kind)]

    async def until(self, kind: type[Event], count: int) -> Event:
        assert await self.world.clock.advance_until(lambda: len(self.events(kind)) == count, 60)
        return self.events(kind)[-1]

    def planned_at(self) -> list[int]:
        stored = self.world.server.stream(streams.RUNS).read(subjects.log(self.run.id), 0)
        return [one.seq for one in stored if isinstance(codec.decode_event(one.data), Planned)]

    def refusals(self) -> list[Waiting]:
        waits = [event for event in self.world.log(self.run.id) if isinstance(event, Waiting)]
        return [event for event in waits if event.control]

    async def second_plan(self) -> list[int]:
        """Reject the first plan; the sequences of both."""
        await self.ask()
        await self.until(Planned, 1)
        await self.run.reject("more", asked=self.planned_at()[0], by="ada")
        await self.until(Planned, 2)
        return self.planned_at()


@pytest.mark.parametrize("supervisors", [1, 2])
async def test_a_stale_approval_runs_nothing_and_the_right_one_does(world: World, supervisors: int) -> None:
    world.start(echo, supervisors)
    reviewed = Reviewed(world)
    first, second = await reviewed.second_plan()
    stale: list[Control] = [
        Approve(asked=first, by="eve"),
        Edit(plan=Plan(tasks=(Task(id="x", worker="w", intent="i"),)), asked=first),
        Reject(comment="no", asked=first),
    ]
    for control in stale:
        await reviewed.run.control(control)
    assert await world.clock.advance_until(lambda: len(reviewed.refusals()) == len(stale), 60)
    await world.clock.advance(20)
    assert reviewed.events(Approved) == []
    assert len(reviewed.events(Planned)) == 2
    assert world.server.stream(streams.RUNS).read(subjects.run_work(reviewed.run.id, "task"), 0) == []
    await reviewed.run.approve(asked=second, by="ada")
    assert (await world.answer(reviewed.run.id)).status == "complete"
    assert reviewed.events(Approved) == [Approved(control=4, by="ada")]
    rejected = [event.by for event in reviewed.events(PlanRejected) if isinstance(event, PlanRejected)]
    assert rejected == ["ada"]


async def test_a_control_of_an_older_client_counts_for_the_plan_that_waits(world: World) -> None:
    world.start(echo)
    reviewed = Reviewed(world)
    await reviewed.second_plan()
    await world.client.publish(subjects.control(reviewed.run.id), b'{"type":"approve"}')
    assert (await world.answer(reviewed.run.id)).status == "complete"


async def test_a_supervisor_that_takes_over_does_not_act_on_a_stale_approval(world: World) -> None:
    world.start(echo)
    reviewed = Reviewed(world)
    first, _ = await reviewed.second_plan()
    for task in world.tasks:
        task.cancel()
    await asyncio.gather(*world.tasks, return_exceptions=True)
    await reviewed.run.approve(asked=first, by="eve")
    world.start(echo)
    assert await world.clock.advance_until(lambda: len(reviewed.refusals()) == 1, 60)
    await world.clock.advance(20)
    assert (reviewed.events(Approved), len(reviewed.refusals())) == ([], 1)


async def test_an_edit_is_told_the_faults_of_the_plan_and_of_its_workers_at_once(world: World) -> None:
    world.start(echo)
    reviewed = Reviewed(world)
    await reviewed.ask()
    await reviewed.until(Planned, 1)
    tasks = (
        Task(id="a", worker="ghost", intent="i", depends_on=("b",)),
        Task(id="b", worker="w", intent="i", depends_on=("a", "c"), fallback="wraith"),
    )
    await reviewed.run.edit(Plan(tasks=tasks), asked=reviewed.planned_at()[0], by="ada")
    assert await world.clock.advance_until(lambda: len(reviewed.refusals()) == 1, 60)
    (refusal,) = reviewed.refusals()
    for part in ("circle", "'c'", "'ghost'", "'wraith'"):
        assert part in refusal.reason
    await reviewed.run.edit(Plan(tasks=(Task(id="x", worker="w", intent="i"),)), asked=reviewed.planned_at()[0])
    assert (await world.answer(reviewed.run.id)).status == "complete"


async def test_who_cancelled_a_run_is_in_its_log(world: World) -> None:
    world.start(echo)
    reviewed = Reviewed(world)
    await reviewed.ask()
    await reviewed.until(Planned, 1)
    await reviewed.run.control(Cancel(reason="enough", by="ada"))
    assert (await world.answer(reviewed.run.id)).status == "cancelled"
    assert reviewed.events(Cancelled) == [Cancelled(reason="enough", by="ada")]
