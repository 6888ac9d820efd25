"""Supervisors announce themselves: a card in the registry for as long as they take requests."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from datetime import timedelta

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.cli.checks import check_supervisors
from actors.model.port import Call, Reply
from actors.registry import is_served, read_supervisors, served_teams
from actors.settings import Settings
from actors.supervisor.supervisor import Supervisor
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.errors import DeniedError
from protocol.messages import Handoff, Plan, Request, SupervisorCard, Task

SETTINGS = Settings(ack_wait_s=2.0, poll_s=1.0, heartbeat_s=1.0, card_ttl_s=3.0, runs=2)
REQUEST = Request(plan=Plan(tasks=(Task(id="a", worker="w", intent="wait"),)), synthesis=False)


class NoModel:
    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        raise AssertionError("these runs ask no model")

    async def close(self) -> None:
        pass


class Stage:
    """A supervisor with two slots, and a worker that waits until `release` is set."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.client = MemoryBus(self.server, "client")
        self.bus = MemoryBus(self.server, "s")
        self.stop = asyncio.Event()
        self.release = asyncio.Event()
        supervisor = Supervisor(self.bus, self.clock, NoModel(), SETTINGS, instance="s1")
        worker = Worker("w", summary="Waits.", run=self._wait, concurrency=8)
        process = WorkerProcess(worker, MemoryBus(self.server, "w"), self.clock, SETTINGS, instance="w1")
        self.tasks = [asyncio.create_task(actor.run(self.stop)) for actor in (supervisor, process)]

    async def _wait(self, handoff: Handoff) -> str:
        await self.release.wait()
        return "done"

    async def ask(self, count: int) -> None:
        for _ in range(count):
            await self.client.publish(subjects.request("default"), codec.encode(REQUEST))
        await self.clock.advance(SETTINGS.heartbeat_s * 2)

    async def cards(self) -> list[SupervisorCard]:
        return await read_supervisors(self.client, "default")


@pytest.fixture
async def stage() -> AsyncGenerator[Stage]:
    stage = Stage()
    await stage.clock.advance(1)
    yield stage
    for task in stage.tasks:
        task.cancel()
    await asyncio.gather(*stage.tasks, return_exceptions=True)


async def test_a_supervisor_says_its_slots_and_the_runs_it_holds(stage: Stage) -> None:
    await stage.ask(1)
    (card,) = await stage.cards()
    assert (card.team, card.instance, card.slots, card.runs) == ("default", "s1", 2, 1)
    assert card.version


async def test_a_supervisor_whose_slots_are_all_in_use_is_there_all_the_same(stage: Stage) -> None:
    await stage.ask(3)
    queues = await stage.client.queues(streams.REQUESTS)
    assert queues["default"].waiting == 0
    assert [card.runs for card in await stage.cards()] == [2]
    assert await is_served(stage.client, "default")


async def test_a_supervisor_that_stops_takes_its_card_back_at_once(stage: Stage) -> None:
    await stage.ask(1)
    stage.stop.set()
    await stage.clock.advance(0)
    assert await stage.cards() == []
    assert not await is_served(stage.client, "default")


async def test_the_card_of_a_supervisor_that_was_killed_expires(stage: Stage) -> None:
    stage.bus.kill()
    assert await stage.cards()
    await stage.clock.advance(SETTINGS.card_ttl_s)
    assert await stage.cards() == []


async def test_a_supervisor_without_a_card_is_there_while_its_pull_waits(stage: Stage) -> None:
    old = MemoryBus(stage.server, "old")
    pull = await old.pull(streams.request_queue("legacy", timedelta(seconds=5)), 1, lambda _: None)
    assert await served_teams(stage.client) == {"default", "legacy"}
    await pull.stop()
    assert await served_teams(stage.client) == {"default"}


async def test_a_card_speaks_for_the_team_and_instance_of_its_key(stage: Stage) -> None:
    lie = codec.encode(SupervisorCard(team="other", instance="elsewhere", slots=1))
    await stage.client.put_card("default.s2", lie, bucket=streams.SUPERVISORS)
    await stage.client.put_card("default.s3", b"no card", bucket=streams.SUPERVISORS)
    await stage.client.put_card("no-key", lie, bucket=streams.SUPERVISORS)
    assert [(card.team, card.instance) for card in await read_supervisors(stage.client)] == [
        ("default", "s1"),
        ("default", "s2"),
    ]


async def test_a_request_that_cannot_be_settled_is_shown_by_the_doctor(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def bury(*_: object) -> None:
        raise DeniedError("permissions violation for publish to handoff.dead")

    monkeypatch.setattr("actors.runner.bury", bury)
    await stage.client.publish(subjects.request("default"), b"no request")
    await stage.clock.advance(SETTINGS.heartbeat_s * 2)
    (check,) = await check_supervisors(stage.client)
    assert check.state == "warn"
    assert "permissions violation" in check.found
    monkeypatch.undo()
    await stage.clock.advance(30)
    assert await check_supervisors(stage.client) == []
