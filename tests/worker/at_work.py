"""An agent at work on the bus in memory, with a model that says what it is told to."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec
from waiting import LIMIT_S

from actors.bus.memory import MemoryBus, MemoryServer
from actors.by_reference import whole
from actors.clock import SystemClock
from actors.model.port import Block, Call, Model, Reply
from actors.settings import Settings
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams
from protocol.ids import RunId
from protocol.messages import Artifact, Handoff, Result, Usage
from protocol.steps import Step, ToolCalled
from protocol.subjects import TaskAddress, work

RUN = RunId("ab" * 16)
SETTINGS = Settings(ack_wait_s=1.0, heartbeat_s=0.2, card_ttl_s=1.0, grace_s=0.2)


def use(name: str, number: int = 0, /, **arguments: Any) -> Block:
    """A call of a tool, as a model asks for it."""
    return {"type": "tool_use", "id": f"use-{name}-{number}", "name": name, "input": arguments}


class SaidModel:
    """Says these turns one after the other, then "done"; goes by what it is asked, so a resumed task goes on."""

    def __init__(self, turns: Sequence[Sequence[Block]]) -> None:
        self.turns = turns
        self.calls: list[Call] = []

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        self.calls.append(call)
        turn = sum(turn.role == "assistant" for turn in call.turns)
        if turn < len(self.turns):
            blocks, stop = list(self.turns[turn]), "tool_use"
        else:
            blocks, stop = [{"type": "text", "text": "done"}], "end_turn"
        return Reply(model="m", content=blocks, stop_reason=stop, usage=Usage(model_calls=1))

    async def close(self) -> None:
        pass


class Done(NamedTuple):
    """What came of a task."""

    result: Result
    steps: list[Step]
    calls: list[Call]

    @property
    def tools(self) -> list[ToolCalled]:
        return [step for step in self.steps if isinstance(step, ToolCalled)]

    @property
    def told(self) -> str:
        """What the model was told of its last calls."""
        return msgspec.json.encode(self.calls[-1].turns[-1].content).decode()


class CallingModel(Model, Protocol):
    """A model that keeps its calls."""

    calls: list[Call]


class Desk:
    """One bus and one task for a worker; `before` are steps that an earlier instance has stored."""

    def __init__(self, worker: Worker, settings: Settings = SETTINGS) -> None:
        self.worker = worker
        self.settings = settings
        self.server = MemoryServer(settings, SystemClock())
        self.address = TaskAddress(RUN, "default", worker.name, "t1", 1)
        self.artifacts: list[Artifact] = []
        self._bus = MemoryBus(self.server, "desk")

    async def attach(self, name: str, data: bytes, media_type: str) -> Artifact:
        """Store a file and hand it out with the task."""
        digest = await self._bus.put_artifact(name, data)
        self.artifacts.append(Artifact(name=name, digest=digest, size=len(data), media_type=media_type))
        return self.artifacts[-1]

    async def replace(self, name: str, data: bytes | None) -> None:
        """Store other content under the name of a file, or none."""
        if data is None:
            await self._bus.drop_artifact(name)
        else:
            await self._bus.put_artifact(name, data)

    async def do(self, *turns: Sequence[Block], before: Sequence[Step] = ()) -> Done:
        """Hand the task out, let a worker do it with a model that says these turns, and look at what is stored."""
        return await self.do_with(SaidModel(turns), before)

    async def do_with(self, model: CallingModel, before: Sequence[Step] = ()) -> Done:
        """The same with a model of the test's own."""
        for step in before:
            await self._bus.publish(self.address.steps, codec.encode(step))
        handoff = Handoff(
            run=RUN,
            task="t1",
            attempt=1,
            from_agent="s",
            to_agent=self.worker.name,
            intent="do",
            artifacts=tuple(self.artifacts),
        )
        await self._bus.publish(work("task", self.address), codec.encode(handoff))
        stop = asyncio.Event()
        process = WorkerProcess(self.worker, MemoryBus(self.server, "w"), SystemClock(), self.settings, instance="w-1")
        process.give_model(model)
        working = asyncio.create_task(process.run(stop))
        try:
            async with asyncio.timeout(LIMIT_S):
                while not self._stored(self.address.result):
                    assert not working.done(), "the worker ended"
                    await asyncio.sleep(0.005)
        finally:
            stop.set()
            await asyncio.wait({working}, timeout=LIMIT_S)
        (result,) = self._stored(self.address.result)
        stored = self.server.stream(streams.RUNS).read(self.address.steps, 0)
        steps = [codec.decode_step(message.data) for message in await whole(self._bus, stored)]
        return Done(codec.decode(result, Result), steps, model.calls)

    async def artifact(self, name: str) -> str:
        data = await self._bus.get_artifact(name)
        assert data is not None
        return data.decode()

    def _stored(self, subject: str) -> list[bytes]:
        return [stored.data for stored in self.server.stream(streams.RUNS).read(subject, 0)]


def agent(*tools: Any) -> Worker:
    """A worker with these tools."""
    return Worker("agent", summary="Works.", prompt="Work.", tools=tools)
