"""A tool that a person must allow, on the in-memory bus with a virtual clock: asked, waited, killed, taken over."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, TypeVar

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, ProcessClock, VirtualClock
from actors.model.port import Call, Reply
from actors.settings import Settings
from actors.tools.tool import Tool, tool
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.controls import Approve, Cancel, Control, Reject
from protocol.events import Finished
from protocol.ids import RunId, new_run_id
from protocol.messages import Answer, Handoff, Result, Usage
from protocol.steps import ConfirmAsked, Confirmed, Step, ToolCalled
from protocol.subjects import TaskAddress

SETTINGS = Settings(ack_wait_s=2.0, poll_s=1.0, heartbeat_s=1.0, card_ttl_s=3.0, grace_s=1.0, confirm_s=30.0)
S = TypeVar("S", bound=Step)


class Model:
    """Uses the tools it is told to, in one turn, and then repeats what they gave back."""

    def __init__(self, uses: Sequence[tuple[str, dict[str, Any]]]) -> None:
        self._uses = uses
        self.calls = 0

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        self.calls += 1
        if len(call.turns) == 1:
            content: list[dict[str, Any]] = [
                {"type": "tool_use", "id": f"c{at}", "name": name, "input": arguments}
                for at, (name, arguments) in enumerate(self._uses, 1)
            ]
            return Reply(model="m", content=content, stop_reason="tool_use", usage=Usage(model_calls=1))
        told = " | ".join(block["content"] for block in call.turns[-1].content if not isinstance(block, str))
        text = [{"type": "text", "text": told}]
        return Reply(model="m", content=text, stop_reason="end_turn", usage=Usage(model_calls=1))

    async def close(self) -> None:
        pass


class World:
    """One worker with a tool that asks first; what it really sent is in `sent`."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.client = MemoryBus(self.server, "client")
        self.sent: list[str] = []
        self.model = Model([("send", {"text": "hello"})])
        self.address = TaskAddress(RunId(new_run_id()), "default", "clerk", "t", 1)
        self.workers: list[tuple[MemoryBus, asyncio.Task[None], asyncio.Event]] = []

    def tools(self) -> list[Tool]:
        @tool(confirm=True)
        async def send(text: str) -> str:
            """Send a text."""
            self.sent.append(text)
            return f"sent {text}"

        @tool
        async def look() -> str:
            """Look around."""
            return "seen"

        return [send, look]

    def start(self, wrong_by_s: float = 0.0) -> None:
        name = f"clerk-{len(self.workers)}"
        worker = Worker("clerk", summary="Sends.", prompt="Send.", tools=self.tools())
        clock = ProcessClock(self.clock, wrong_by_s)
        bus, stop = MemoryBus(self.server, name, clock), asyncio.Event()
        process = WorkerProcess(worker, bus, clock, SETTINGS, instance=name)
        process.give_model(self.model)
        self.workers.append((bus, asyncio.create_task(process.run(stop)), stop))

    async def kill(self, at: int) -> None:
        bus, task, _ = self.workers[at]
        bus.kill()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def hand_out(self, deadline_s: float = 600.0) -> None:
        run, _, worker, task, attempt = self.address
        handoff = Handoff(
            run=run,
            task=task,
            attempt=attempt,
            from_agent="supervisor",
            to_agent=worker,
            intent="Send hello",
            deadline=self.clock.now() + deadline_s,
        )
        await self.client.publish(self.address.handoff, codec.encode(handoff), expect=0)
        assert await self.clock.advance_until(lambda: bool(self.steps(ConfirmAsked)), 10)

    async def say(self, control: Control) -> None:
        await self.client.publish(subjects.control(self.address.run), codec.encode(control))

    def steps(self, kind: type[S]) -> list[S]:
        stored = self.server.stream(streams.RUNS).read(self.address.steps, 0)
        steps = [codec.decode_step(message.data) for message in stored]
        return [step for step in steps if isinstance(step, kind)]

    def result(self) -> Result | None:
        stored = self.server.stream(streams.RUNS).read(self.address.result, 0)
        return codec.decode(stored[0].data, Result) if stored else None

    async def ends(self, within_s: float = 60.0) -> Result:
        assert await self.clock.advance_until(lambda: self.result() is not None, within_s)
        result = self.result()
        assert result is not None
        return result

    def unsettled(self) -> int:
        queue = self.server.queues(streams.RUNS)[subjects.durable("default", "clerk")].state()
        return queue.pending + queue.unsettled


@pytest.fixture
async def world() -> AsyncGenerator[World]:
    world = World()
    yield world
    for at in range(len(world.workers)):
        await world.kill(at)


@pytest.mark.parametrize("wrong_by_s", [-3600.0, 0.0, 3600.0])
async def test_an_allowed_call_runs_with_the_arguments_that_were_shown(world: World, wrong_by_s: float) -> None:
    world.start(wrong_by_s)
    await world.hand_out()
    (asked,) = world.steps(ConfirmAsked)
    assert (asked.tool, bytes(asked.arguments)) == ("send", b'{"text":"hello"}')
    await world.clock.advance(10)
    assert world.sent == [], "nothing runs before somebody has spoken"
    await world.say(Approve(task="t", call="c1", by="ada"))
    assert (await world.ends(1)).output == "sent hello"
    assert world.sent == ["hello"]
    assert [(step.granted, step.by) for step in world.steps(Confirmed)] == [(True, "ada")]


async def test_a_denied_call_does_not_run_and_the_model_is_told_by_whom(world: World) -> None:
    world.start()
    await world.hand_out()
    await world.say(Reject(task="t", call="c1", by="ada", comment="too early"))
    assert (await world.ends(1)).output == "denied by ada: too early"
    assert world.sent == []
    assert world.steps(ToolCalled)[0].failed


@pytest.mark.parametrize("wrong_by_s", [-3600.0, 0.0, 3600.0])
async def test_silence_means_no(world: World, wrong_by_s: float) -> None:
    world.start(wrong_by_s)
    await world.hand_out()
    began = world.clock.now()
    assert (await world.ends(31)).output == "denied by default: nobody answered in time"
    assert world.clock.now() - began == pytest.approx(30, abs=0.5)
    await world.say(Approve(task="t", call="c1", by="ada"))
    await world.clock.advance(5)
    assert world.sent == []


async def test_the_wait_ends_with_the_deadline_of_the_handoff(world: World) -> None:
    world.start()
    await world.hand_out(deadline_s=5)
    assert world.steps(ConfirmAsked)[0].deadline <= world.clock.now() + 5


async def test_words_about_the_plan_or_another_call_do_not_let_it_pass(world: World) -> None:
    world.start()
    await world.hand_out()
    for control in (Approve(), Approve(task="t", call="c2"), Approve(task="u", call="c1"), Approve(call="c1")):
        await world.say(control)
    await world.clock.advance(5)
    assert world.sent == []


async def test_a_worker_killed_while_it_waits_is_replaced_and_the_deadline_stays(world: World) -> None:
    world.start()
    await world.hand_out()
    await world.clock.advance(10)
    await world.kill(0)
    world.start()
    await world.clock.advance(5)
    (asked,) = world.steps(ConfirmAsked)
    assert asked.deadline - world.clock.now() == pytest.approx(15, abs=0.5)
    await world.say(Approve(task="t", call="c1", by="ada"))
    assert (await world.ends(1)).output == "sent hello"
    assert world.model.calls == 2, "the stored turn was not paid for again"


async def test_a_call_that_only_waited_while_workers_were_lost_still_runs(world: World) -> None:
    world.start()
    await world.hand_out()
    for lost in range(3):
        await world.kill(lost)
        world.start()
        await world.clock.advance(4)
    await world.say(Approve(task="t", call="c1", by="ada"))
    assert (await world.ends(1)).output == "sent hello"


async def test_a_word_in_time_counts_though_nobody_was_there_to_hear_it(world: World) -> None:
    world.start()
    await world.hand_out()
    await world.kill(0)
    await world.say(Approve(task="t", call="c1", by="ada"))
    await world.clock.advance(60)
    world.start()
    assert (await world.ends(10)).output == "sent hello"


async def test_a_worker_killed_between_the_word_and_the_tool_does_not_ask_again(world: World) -> None:
    world.start()
    await world.hand_out()
    await world.say(Approve(task="t", call="c1", by="ada"))
    await world.clock.advance_until(lambda: bool(world.steps(Confirmed)), 2)
    await world.kill(0)
    world.start()
    await world.ends(20)
    assert len(world.steps(ConfirmAsked)) == len(world.steps(Confirmed)) == 1


async def test_a_missed_word_is_found_in_the_stream(world: World) -> None:
    world.start()
    await world.hand_out()
    world.server.subscriptions.clear()
    await world.say(Approve(task="t", call="c1", by="ada"))
    assert (await world.ends(2)).output == "sent hello"


async def test_a_cancelled_run_ends_the_wait_within_a_second_without_a_supervisor(world: World) -> None:
    world.start()
    await world.hand_out()
    await world.say(Cancel())
    await world.say(Approve(task="t", call="c1", by="ada"))
    assert await world.clock.advance_until(lambda: world.unsettled() == 0, 1)
    assert world.sent == []
    assert world.result() is None


async def test_the_end_of_the_run_ends_the_wait(world: World) -> None:
    world.start()
    await world.hand_out()
    end = Finished(answer=Answer(run=world.address.run, status="partial"))
    await world.client.publish(subjects.log(world.address.run), codec.encode(end))
    assert await world.clock.advance_until(lambda: world.unsettled() == 0, 2.5)
    assert world.sent == []


async def test_other_calls_of_the_turn_do_not_wait(world: World) -> None:
    world.model = Model([("send", {"text": "a"}), ("look", {}), ("send", {"text": "b"})])
    world.start()
    await world.hand_out()
    assert await world.clock.advance_until(lambda: [step.tool for step in world.steps(ToolCalled)] == ["look"], 1)
    await world.say(Approve(task="t", call="c3", by="ada"))
    await world.say(Reject(task="t", call="c1", by="bob"))
    assert (await world.ends(2)).output == "denied by bob | seen | sent b"
    assert world.sent == ["b"]


async def test_nobody_is_asked_about_a_call_that_cannot_run(world: World) -> None:
    world.model = Model([("send", {"words": "hello"}), ("send", {"text": "b"})])
    world.start()
    await world.hand_out()
    await world.say(Approve(task="t", call="c2", by="ada"))
    assert (await world.ends(2)).output.startswith("bad arguments for send")
    assert [step.call for step in world.steps(ConfirmAsked)] == ["c2"]


async def test_a_worker_that_stops_hands_the_waiting_call_to_the_next(world: World) -> None:
    world.start()
    await world.hand_out()
    world.workers[0][2].set()
    assert await world.clock.advance_until(world.workers[0][1].done, 1.5)
    world.start()
    await world.clock.advance(1)
    await world.say(Approve(task="t", call="c1", by="ada"))
    assert (await world.ends(2)).output == "sent hello"
    assert len(world.steps(ConfirmAsked)) == 1
