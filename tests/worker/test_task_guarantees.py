"""What a worker stores and looks up before it acknowledges, pays or goes on."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import msgspec
import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.bus.port import NO_HEADERS, Delivery, Headers, Stored
from actors.settings import Settings
from actors.tools.tool import tool
from actors.worker.definition import Outcome, Worker
from actors.worker.process import WorkerProcess
from actors.worker.results import Results
from protocol import codec, streams, subjects
from protocol.controls import Cancel
from protocol.ids import RunId
from protocol.messages import Handoff, Message, Result, Stop, Usage
from protocol.steps import ModelCalled, Taken
from protocol.subjects import TaskAddress
from tests.worker.at_work import SaidModel, use

RUN = RunId("ab" * 16)
SETTINGS = Settings(ack_wait_s=2.0, heartbeat_s=1.0, card_ttl_s=3.0, grace_s=0.0)
ADDRESS = TaskAddress(RUN, "default", "w", "t", 1)
HANDOFF = codec.encode(Handoff(run=RUN, task="t", attempt=1, from_agent="s", to_agent="w", intent="do"))
TURN = ModelCalled(model="m", content=msgspec.Raw(msgspec.json.encode([use("wait")])), stop_reason="tool_use")


class HeldBus(MemoryBus):
    """Waits for `go` at one place: before a result or a step is stored, during the look, or after a tool's step."""

    def __init__(self, server: MemoryServer, place: str) -> None:
        super().__init__(server, "worker")
        self._place = place
        self.waits = asyncio.Event()
        self.go = asyncio.Event()

    async def publish(
        self, subject: str, data: bytes, *, expect: int | None = None, headers: Headers = NO_HEADERS
    ) -> int:
        await self._pass("before result" if subject == ADDRESS.result else "")
        return await super().publish(subject, data, expect=expect, headers=headers)

    async def send(
        self, subject: str, data: bytes, *, expect: int | None = None, headers: Headers = NO_HEADERS
    ) -> "asyncio.Future[int]":
        step = next((kind for kind in ("model_called", "tool_called") if kind.encode() in data), "")
        await self._pass(f"before {step}")
        sent = await super().send(subject, data, expect=expect, headers=headers)
        await self._pass(f"after {step}")
        return sent

    async def last(self, stream: str, subjects: Sequence[str]) -> list[Stored]:
        found = await super().last(stream, subjects)
        await self._pass("during look")
        return found

    async def _pass(self, place: str) -> None:
        if place and place == self._place:
            self.waits.set()
            await self.go.wait()


class Stage:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.client = MemoryBus(self.server, "client")
        self.model = SaidModel([[use("wait")]])
        self.calls = 0
        self.tasks: list[asyncio.Task[None]] = []

    async def hand(self, data: bytes = HANDOFF) -> None:
        await self.client.publish(ADDRESS.handoff, data)

    async def lose(self) -> None:
        """An instance takes the task and dies."""
        held: list[Delivery] = []
        bus = MemoryBus(self.server, "lost")
        await bus.pull(streams.task_queue("default", "w", SETTINGS.ack_wait), 1, held.append)
        assert await self.clock.advance_until(lambda: bool(held), 10)
        bus.kill()

    async def store(self, subject: str, message: Message) -> None:
        await self.client.publish(subject, codec.encode(message))

    async def start(self, kind: str, hold: str = "") -> HeldBus:
        @tool
        async def wait() -> str:
            """Wait."""
            self.calls += 1
            return "waited"

        async def work(_: Handoff) -> str:
            self.calls += 1
            return "done"

        bus = HeldBus(self.server, hold)
        worker = {
            "agent": Worker("w", summary="Works.", prompt="Work.", tools=[wait]),
            "function": Worker("w", summary="Works.", run=work),
        }[kind]
        process = WorkerProcess(worker, bus, self.clock, SETTINGS, instance="w-1")
        process.give_model(self.model)
        self.tasks.append(asyncio.create_task(process.run(asyncio.Event())))
        if hold:
            assert await self.clock.advance_until(bus.waits.is_set, 30)
        return bus

    def settled(self) -> bool:
        state = self.server.queues(streams.RUNS)[subjects.durable("default", "w")].state()
        return (state.pending, state.unsettled) == (0, 0)

    def results(self) -> list[Result]:
        stored = self.server.stream(streams.RUNS).read(ADDRESS.result)
        return [codec.decode(message.data, Result) for message in stored]


@pytest.fixture
async def stage() -> AsyncGenerator[Stage]:
    stage = Stage()
    yield stage
    for task in stage.tasks:
        task.cancel()
    await asyncio.gather(*stage.tasks, return_exceptions=True)


@pytest.mark.parametrize("kind", ["agent", "function"])
@pytest.mark.parametrize("data", [HANDOFF, b"no handoff"], ids=["a handoff", "no handoff"])
async def test_a_task_is_acknowledged_only_after_its_result_is_stored(stage: Stage, kind: str, data: bytes) -> None:
    await stage.hand(data)
    bus = await stage.start(kind, "before result")
    await stage.clock.advance(SETTINGS.ack_wait_s)
    assert not stage.settled()
    bus.go.set()
    assert await stage.clock.advance_until(stage.settled, 10)
    assert len(stage.results()) == 1


async def test_a_redelivered_task_pays_for_no_turn_that_is_stored(stage: Stage) -> None:
    await stage.hand()
    await stage.lose()
    await stage.store(ADDRESS.steps, TURN)
    await stage.start("agent")
    assert await stage.clock.advance_until(stage.settled, 30)
    assert [sum(turn.role == "assistant" for turn in call.turns) for call in stage.model.calls] == [1]


async def test_a_redelivered_function_is_not_run_if_its_result_is_stored(stage: Stage) -> None:
    await stage.hand()
    await stage.lose()
    await stage.store(ADDRESS.result, a_result("first"))
    await stage.start("function")
    assert await stage.clock.advance_until(stage.settled, 30)
    assert stage.calls == 0


async def test_a_function_whose_task_waited_long_is_not_run_if_its_result_is_stored(stage: Stage) -> None:
    await stage.hand()
    await stage.store(ADDRESS.result, a_result("first"))
    await stage.clock.advance(SETTINGS.ack_wait_s)  # a server that restarts forgets how often it delivered a task
    await stage.start("function")
    assert await stage.clock.advance_until(stage.settled, 30)
    assert stage.calls == 0


@pytest.mark.parametrize("stop", [codec.encode(Stop(tasks=("t",))), b""], ids=["the task", "the run"])
async def test_a_cancel_that_arrives_during_the_look_stops_the_task(stage: Stage, stop: bytes) -> None:
    await stage.hand()
    bus = await stage.start("agent", "during look")
    await stage.client.emit(subjects.cancel(RUN), stop)
    await stage.clock.advance(0.1)
    bus.go.set()
    assert await stage.clock.advance_until(stage.settled, 10)
    assert stage.model.calls == []


@pytest.mark.parametrize("news", ["taken over", "cancelled"])
async def test_nothing_is_paid_for_on_a_proof_that_is_old(stage: Stage, news: str) -> None:
    await stage.hand()
    bus = await stage.start("agent", "after tool_called")
    if news == "cancelled":
        await stage.store(subjects.control(RUN), Cancel())
    else:
        await stage.store(ADDRESS.steps, Taken(instance="other", delivery=2))
    await stage.clock.advance(0.2)
    bus.go.set()
    await stage.clock.advance(0.2)
    assert len(stage.model.calls) == 1
    assert stage.results() == []


@pytest.mark.parametrize(("step", "calls"), [("model_called", 0), ("tool_called", 1)])
async def test_the_agent_goes_on_only_after_its_step_is_stored(stage: Stage, step: str, calls: int) -> None:
    await stage.hand()
    bus = await stage.start("agent", f"before {step}")
    await stage.clock.advance(1)
    assert (len(stage.model.calls), stage.calls) == (1, calls)
    bus.go.set()
    assert await stage.clock.advance_until(stage.settled, 10)
    assert ([len(call.turns) for call in stage.model.calls], stage.calls) == ([1, 3], 1)


async def test_the_first_result_of_an_attempt_stays(stage: Stage) -> None:
    results = Results(stage.client, SETTINGS, "w", "w-1")
    for output in ("first", "second"):
        await results.store(results.of(Outcome(output=output), ADDRESS, Usage()), ADDRESS)
    assert [result.output for result in stage.results()] == ["first"]


def a_result(output: str) -> Result:
    return Result(run=RUN, task="t", attempt=1, worker="w", instance="w-0", status="completed", output=output)
