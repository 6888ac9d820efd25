"""Heartbeats: a live process keeps its card whatever else fails, on the in-memory bus with a virtual clock."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.bus.port import QueueState
from actors.dead_letter import dead_letters
from actors.people.person import PersonProcess
from actors.settings import Settings
from actors.supervisor.roster import read_cards
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.errors import BusError, DeniedError
from protocol.ids import RunId
from protocol.messages import Card, Handoff
from protocol.streams import Queue
from protocol.subjects import TaskAddress

SETTINGS = Settings(ack_wait_s=2.0, heartbeat_s=1.0, card_ttl_s=3.0, grace_s=0.1)


class FaultyBus(MemoryBus):
    """Reads of queues fail or never end."""

    def __init__(self, server: MemoryServer) -> None:
        super().__init__(server, "worker")
        self.reads = "well"
        self.listings = 0

    async def queues(self, stream: str) -> dict[str, QueueState]:
        self.listings += 1
        await self._read()
        return await super().queues(stream)

    async def queue_state(self, queue: Queue) -> QueueState | None:
        await self._read()
        return await super().queue_state(queue)

    async def _read(self) -> None:
        if self.reads == "failing":
            raise BusError("the server is busy with something else")
        if self.reads == "hanging":
            await asyncio.Event().wait()


class Stage:
    def __init__(self, kind: str) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.bus = FaultyBus(self.server)
        self.client = MemoryBus(self.server, "client")
        self.stop = asyncio.Event()
        self.kind = kind
        self.troubles: list[str | Exception] = []
        self.tasks: list[asyncio.Task[None]] = []

    def start(self) -> "asyncio.Task[None]":
        if self.kind == "person":
            process = PersonProcess(
                Worker("w", summary="Waits.", person=True), self.bus, self.clock, SETTINGS, instance="w1"
            )
        else:
            worker = Worker("w", summary="Waits.", run=self.work, concurrency=1, trouble=self._trouble)
            process = WorkerProcess(worker, self.bus, self.clock, SETTINGS, instance="w1")
        self.tasks.append(asyncio.create_task(process.run(self.stop)))
        return self.tasks[-1]

    async def work(self, handoff: Handoff) -> str:
        await asyncio.Event().wait()
        return handoff.intent

    def _trouble(self) -> str:
        if self.troubles and isinstance(error := self.troubles.pop(0), Exception):
            raise error
        return ""

    async def cards(self) -> list[Card]:
        return [card for _, card in await read_cards(self.client, "default")]

    async def hand(self, data: bytes, task: str = "t") -> None:
        address = TaskAddress(RunId("ab" * 16), "default", "w", task, 1)
        await self.client.publish(address.handoff, data)


@pytest.fixture(params=["function", "person"])
async def stage(request: pytest.FixtureRequest) -> AsyncGenerator[Stage]:
    stage = Stage(request.param)
    yield stage
    stage.stop.set()
    for task in stage.tasks:
        task.cancel()
    await asyncio.gather(*stage.tasks, return_exceptions=True)


@pytest.mark.parametrize("reads", ["failing", "hanging"])
async def test_a_card_is_written_though_the_queue_cannot_be_read(stage: Stage, reads: str) -> None:
    stage.bus.reads = reads
    running = stage.start()
    await stage.clock.advance(SETTINGS.card_ttl_s * 5)
    assert not running.done()
    assert [card.instance for card in await stage.cards()] == ["w1"]


async def test_a_process_reads_no_queue_but_its_own(stage: Stage) -> None:
    stage.start()
    await stage.clock.advance(10)
    assert stage.bus.listings == 0


async def test_a_card_is_written_at_once_when_the_connection_is_back(stage: Stage) -> None:
    stage.start()
    await stage.clock.advance(1.5)
    stage.bus.lost()
    stage.server.drop_card(streams.WORKERS, subjects.card("default", "w", "w1"))
    assert await stage.cards() == []
    stage.bus.back()
    await stage.clock.advance(0.1)
    assert len(await stage.cards()) == 1


async def test_a_card_says_how_many_tasks_wait(stage: Stage) -> None:
    handoff = Handoff(run="ab" * 16, task="t", attempt=1, from_agent="s", to_agent="w", intent="do")
    for number in range(105):
        await stage.hand(codec.encode(handoff), f"t{number}")
    stage.start()
    await stage.clock.advance(SETTINGS.heartbeat_s * 2)
    (card,) = await stage.cards()
    assert card.queue == 105 - card.capacity


@pytest.mark.parametrize("stage", ["function"], indirect=True)
async def test_an_error_in_one_heartbeat_does_not_end_the_heartbeats(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.troubles = ["", ValueError("a bug in a tool server"), ValueError("a bug in a tool server")]
    running = stage.start()
    await stage.clock.advance(SETTINGS.card_ttl_s * 5)
    assert not running.done()
    assert [card.instance for card in await stage.cards()] == ["w1"]
    assert caplog.text.count("a bug in a tool server") == 1


async def test_a_card_shows_what_cannot_be_settled(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    async def bury(*_: object) -> None:
        raise DeniedError("permissions violation for publish to handoff.dead")

    monkeypatch.setattr("actors.runner.bury", bury)
    stage.start()
    await stage.hand(b"no handoff")
    await stage.clock.advance(SETTINGS.heartbeat_s * 2)
    (card,) = await stage.cards()
    assert "permissions violation" in card.trouble
    monkeypatch.undo()
    await stage.clock.advance(30)
    assert len(await dead_letters(stage.client)) == 1
    assert [card.trouble for card in await stage.cards()] == [""]
