"""A run that has ended is found to have ended, whatever is stored behind its end."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.bus.port import Stored
from actors.people.person import PersonProcess
from actors.settings import Settings
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from actors.worker.run_end import RunEnd
from protocol import codec, streams, subjects
from protocol.controls import Approve, Cancel, Control
from protocol.events import Cancelled, Event, Expired, Finished, Planned, Started, Synthesized
from protocol.ids import RunId
from protocol.messages import Answer, Handoff, Plan, Request
from protocol.subjects import TaskAddress
from tests.worker.at_work import SaidModel

RUN = RunId("ab" * 16)
SETTINGS = Settings(ack_wait_s=2.0, poll_s=1.0, heartbeat_s=1.0, card_ttl_s=3.0)
STARTED = Started(epoch=2, supervisor="s", request=Request(text="?"))
FINISHED = Finished(answer=Answer(run=RUN, status="cancelled"))
SYNTHESIZED = Synthesized(text="x")

ENDS: dict[str, tuple[Sequence[Event], Sequence[Control]]] = {
    "finished": ([STARTED, FINISHED], []),
    "finished, started": ([FINISHED, STARTED], []),
    "cancelled, started": ([STARTED, Cancelled(), STARTED], []),
    "expired, synthesized": ([STARTED, Expired(deadline=1.0), SYNTHESIZED], []),
    "expired, started, synthesized": ([Expired(deadline=1.0), STARTED, SYNTHESIZED], []),
    "cancel": ([STARTED], [Cancel()]),
    "cancel, approve": ([STARTED], [Cancel(), Approve()]),
    "approve, cancel, approve": ([STARTED], [Approve(), Cancel(), Approve(task="t", call="a")]),
}


class Stage:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.client = MemoryBus(self.server, "client")
        self.address = TaskAddress(RUN, "default", "w", "t", 1)
        self.model = SaidModel([])
        self.tasks: list[asyncio.Task[None]] = []

    async def store(self, events: Sequence[Event], controls: Sequence[Control]) -> None:
        for event in events:
            await self.client.publish(subjects.log(RUN), codec.encode(event))
        for control in controls:
            await self.client.publish(subjects.control(RUN), codec.encode(control))

    async def hand(self) -> None:
        handoff = Handoff(run=RUN, task="t", attempt=1, from_agent="s", to_agent="w", intent="do")
        await self.client.publish(self.address.handoff, codec.encode(handoff))

    def start(self, kind: str) -> None:
        bus = MemoryBus(self.server, kind)
        if kind == "agent":
            process = WorkerProcess(Worker("w", summary="W.", prompt="W."), bus, self.clock, SETTINGS, instance="i")
            process.give_model(self.model)
        else:
            process = PersonProcess(Worker("w", summary="W.", person=True), bus, self.clock, SETTINGS, instance="i")
        self.tasks.append(asyncio.create_task(process.run(asyncio.Event())))

    def settled(self) -> bool:
        state = self.server.queues(streams.RUNS)[subjects.durable("default", "w")].state()
        return (state.pending, state.unsettled) == (0, 0)


@pytest.fixture
async def stage() -> AsyncGenerator[Stage]:
    stage = Stage()
    yield stage
    for task in stage.tasks:
        task.cancel()
    await asyncio.gather(*stage.tasks, return_exceptions=True)


@pytest.mark.parametrize("kind", ["agent", "person"])
@pytest.mark.parametrize("end", ENDS)
async def test_no_task_of_a_run_that_has_ended_is_done(stage: Stage, kind: str, end: str) -> None:
    await stage.store(*ENDS[end])
    await stage.hand()
    stage.start(kind)
    assert await stage.clock.advance_until(stage.settled, 10)
    assert stage.model.calls == []
    assert stage.server.stream(streams.RUNS).read(subjects.run_work(RUN, "step")) == []
    assert stage.server.stream(streams.RUNS).read(subjects.run_work(RUN, "result")) == []


class CountingBus(MemoryBus):
    read_so_far = 0

    async def read(self, stream: str, subject: str, *, after: int = 0, limit: int = 0) -> list[Stored]:
        found = await super().read(stream, subject, after=after, limit=limit)
        self.read_so_far += len(found)
        return found


async def test_each_event_and_control_is_read_once(stage: Stage) -> None:
    bus = CountingBus(stage.server, "w")
    end = RunEnd(bus, RUN)

    async def reached() -> bool:
        return await end.reached({s.subject: s for s in await bus.last(streams.RUNS, end.subjects)})

    assert not await reached()
    await stage.store([STARTED, Planned(plan=Plan(tasks=()))], [Approve()])
    assert [await reached(), await reached(), bus.read_so_far] == [False, False, 3]
    await stage.store([Cancelled(), STARTED], [])
    assert [await reached(), await reached(), bus.read_so_far] == [True, True, 5]
