"""Workers of two versions share a queue: neither does again what the other has done, in memory with a virtual clock."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.bus.port import Delivery
from actors.settings import Settings
from actors.supervisor.roster import read_cards
from actors.worker.definition import Worker
from actors.worker.moves import next_move
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.events import Cancelled, Started
from protocol.ids import RunId
from protocol.messages import Handoff, Request, Result, Usage
from protocol.steps import Begun, GivenBack, ModelCalled, Step, Taken, ToolCalled
from protocol.subjects import TaskAddress
from tests.worker.at_work import SaidModel

KEPT = Path(__file__).parent.parent / "protocol" / "kept"
RUN = RunId("ab" * 16)
SETTINGS = Settings(ack_wait_s=2.0, heartbeat_s=1.0, card_ttl_s=3.0, grace_s=0.0)
NEWER_STEP = b'{"type":"delegated_elsewhere","instance":"newer","digest":"SHA-256=x"}'
NEWER_EVENT = b'{"type":"negotiated","with":"somebody"}'
STARTED = codec.encode(Started(epoch=1, supervisor="s", request=Request(text="?")))


class Stage:
    """One task for an agent of this version."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.client = MemoryBus(self.server, "client")
        self.address = TaskAddress(RUN, "default", "w", "t", 1)
        self.model = SaidModel([])
        self.deliveries: list[float] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def store(self, *, steps: tuple[bytes, ...] = (), log: tuple[bytes, ...] = ()) -> None:
        for event in log:
            await self.client.publish(subjects.log(RUN), event)
        handoff = Handoff(run=RUN, task="t", attempt=1, from_agent="s", to_agent="w", intent="do")
        await self.client.publish(self.address.handoff, codec.encode(handoff))
        for step in steps:
            await self.client.publish(self.address.steps, step)

    def start(self) -> None:
        bus = MemoryBus(self.server, "w")
        worker = Worker("w", summary="Works.", prompt="Work.")
        process = WorkerProcess(worker, bus, self.clock, SETTINGS, instance="this")
        process.give_model(self.model)
        pull = bus.pull

        async def watched(queue: Any, slots: int, deliver: Any) -> Any:
            def noted(delivery: Delivery) -> None:
                self.deliveries.append(self.clock.monotonic())
                deliver(delivery)

            return await pull(queue, slots, noted)

        bus.pull = watched
        self.tasks.append(asyncio.create_task(process.run(asyncio.Event())))

    async def trouble(self) -> str:
        return "".join(card.trouble for _, card in await read_cards(self.client, "default"))

    def stored(self, subject: str) -> list[bytes]:
        return [message.data for message in self.server.stream(streams.RUNS).read(subject)]


@pytest.fixture
async def stage() -> AsyncGenerator[Stage]:
    stage = Stage()
    yield stage
    for task in stage.tasks:
        task.cancel()
    await asyncio.gather(*stage.tasks, return_exceptions=True)


@pytest.mark.parametrize("what", ["step", "event"])
async def test_what_a_newer_version_began_is_given_back_untouched_ever_more_rarely(stage: Stage, what: str) -> None:
    steps = (NEWER_STEP,) if what == "step" else ()
    await stage.store(steps=steps, log=(STARTED, NEWER_EVENT, STARTED) if what == "event" else (STARTED,))
    stage.start()
    await stage.clock.advance(600)
    assert stage.model.calls == []
    assert stage.stored(stage.address.steps) == list(steps)
    assert stage.stored(stage.address.result) == []
    gaps = [after - before for before, after in zip(stage.deliveries, stage.deliveries[1:], strict=False)]
    assert gaps == sorted(gaps)
    assert len(gaps) < 15
    assert gaps[-1] >= 200
    assert ("delegated_elsewhere" if what == "step" else "negotiated") in await stage.trouble()


async def test_a_newer_worker_goes_on_with_it_and_the_older_one_has_no_more_trouble(stage: Stage) -> None:
    await stage.store(steps=(NEWER_STEP,), log=(STARTED,))
    stage.start()
    await stage.clock.advance(5)
    assert "delegated_elsewhere" in await stage.trouble()
    got: list[Delivery] = []
    queue = streams.task_queue("default", "w", SETTINGS.ack_wait)
    await MemoryBus(stage.server, "newer").pull(queue, 1, got.append)
    assert await stage.clock.advance_until(lambda: bool(got), 60)
    result = Result(run=RUN, task="t", attempt=1, worker="w", instance="newer", status="completed")
    await stage.client.publish(stage.address.result, codec.encode(result), expect=0)
    await got[0].ack(sure=True)
    await stage.clock.advance(400)
    assert await stage.trouble() == ""
    assert (stage.model.calls, stage.stored(stage.address.steps)) == ([], [NEWER_STEP])


async def test_an_end_that_this_version_knows_counts_though_it_does_not_know_the_rest(stage: Stage) -> None:
    await stage.store(log=(STARTED, NEWER_EVENT, codec.encode(Cancelled()), NEWER_EVENT))
    stage.start()
    await stage.clock.advance(5)
    assert (len(stage.deliveries), await stage.trouble(), stage.model.calls) == (1, "", [])


async def test_bytes_that_are_no_message_are_passed_over(stage: Stage) -> None:
    await stage.store(steps=(b"no json", b'{"type": 7}', b'{"type":"model_called"}'), log=(STARTED, b"\xff", b"[]"))
    stage.start()
    assert await stage.clock.advance_until(lambda: bool(stage.stored(stage.address.result)), 10)
    assert len(stage.model.calls) == 1


async def test_an_event_of_a_newer_version_stops_a_task_that_is_under_way_before_its_next_paid_call(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.lease.CERTAIN_S", -1.0)  # as if more than a moment had passed since the last store
    stage.model.turns = [[{"type": "tool_use", "id": "a", "name": "none", "input": {}}]]
    call = stage.model.call

    async def slow(*args: Any, **more: Any) -> Any:
        reply = await call(*args, **more)
        await stage.client.publish(subjects.log(RUN), NEWER_EVENT)
        await stage.clock.sleep(1)
        return reply

    stage.model.call = slow
    await stage.store(log=(STARTED,))
    stage.start()
    await stage.clock.advance(30)
    assert len(stage.model.calls) == 1
    assert stage.stored(stage.address.result) == []
    steps = [codec.decode_step(data) for data in stage.stored(stage.address.steps)]
    assert [type(step) for step in steps] == [Begun, ModelCalled, GivenBack]


async def test_what_an_older_version_began_is_gone_on_with(stage: Stage) -> None:
    older = [(KEPT / f"{name}.json").read_bytes() for name in ("step-taken", "step-model_called")]
    await stage.store(steps=tuple(older), log=(STARTED,))
    stage.start()
    assert await stage.clock.advance_until(lambda: bool(stage.stored(stage.address.result)), 10)
    result = codec.decode(stage.stored(stage.address.result)[0], Result)
    assert (result.status, result.output, stage.model.calls) == ("completed", "hi", [])


TURN = ModelCalled(
    model="m",
    content=msgspec.Raw(b'[{"type":"tool_use","id":"a","name":"say","input":{}}]'),
    stop_reason="tool_use",
    usage=Usage(model_calls=1),
)
BACK = GivenBack(instance="i")
BEGUN = Begun(system="You work.", prompt=msgspec.Raw(b'"task"'))


@given(st.lists(st.sampled_from([TURN, ToolCalled(call="a", tool="say", output="x"), Taken(instance="i"), BACK])))
def test_an_older_version_that_passes_over_the_mark_goes_on_with_the_same_conversation(steps: list[Step]) -> None:
    assert next_move(BEGUN, steps) == next_move(BEGUN, [step for step in steps if step is not BACK])
