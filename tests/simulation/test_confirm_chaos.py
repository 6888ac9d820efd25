"""Workers that wait for a person, killed at any moment: nothing runs without a yes, and nobody is asked twice."""

import asyncio
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from simulation.world import SEEDS

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.model.port import Call, Reply
from actors.settings import Settings
from actors.tools.tool import tool
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.controls import Approve, Control, Reject
from protocol.ids import RunId
from protocol.messages import Handoff, Usage
from protocol.steps import ConfirmAsked, Confirmed, Step
from protocol.subjects import TaskAddress

SETTINGS = Settings(
    ack_wait_s=2.0, heartbeat_s=1.0, card_ttl_s=3.0, grace_s=1.0, confirm_s=20.0, deliveries=10_000, deadline_s=1e6
)
TASKS = 4


class Model:
    """Asks for two calls in one turn, twice, with the same ids; then answers."""

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        turn = sum(t.role == "assistant" for t in call.turns)
        if turn == 2:
            return Reply(model="m", content=[{"type": "text", "text": "done"}], stop_reason="end_turn", usage=Usage())
        uses: list[dict[str, Any]] = [
            {"type": "tool_use", "id": f"c{n}", "name": "send", "input": {"text": f"{call.run}-{turn}-{n}"}}
            for n in range(2)
        ]
        return Reply(model="m", content=uses, stop_reason="tool_use", usage=Usage(model_calls=1))

    async def close(self) -> None:
        pass


class World:
    """Two workers, a hand that kills them, and a person who says yes, no or nothing."""

    def __init__(self, seed: int) -> None:
        random.seed(seed)
        self.luck = random.Random(seed)
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.person = MemoryBus(self.server, "person")
        self.sent: list[str] = []
        self.unasked: list[str] = []
        self.allowed: set[str] = set()
        self.seen: set[int] = set()
        self.processes: list[tuple[MemoryBus, asyncio.Task[None]]] = []
        self.started = 0
        self.runs = [RunId(f"{self.luck.getrandbits(128):032x}") for _ in range(TASKS)]

    def start(self) -> None:
        @tool(confirm=True)
        async def send(text: str) -> str:
            """Send a text."""
            (self.sent if text in self.allowed else self.unasked).append(text)
            await self.clock.sleep(self.luck.uniform(0.0, 1.0))
            return "sent"

        self.started += 1
        bus = MemoryBus(self.server, f"w{self.started}")
        worker = Worker("clerk", summary="Sends.", prompt="Send.", tools=[send])
        process = WorkerProcess(worker, bus, self.clock, SETTINGS, instance=f"w{self.started}")
        process.give_model(Model())
        self.processes.append((bus, asyncio.create_task(process.run(asyncio.Event()))))

    async def kill(self) -> None:
        bus, task = self.processes.pop(self.luck.randrange(len(self.processes)))
        bus.kill()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    def steps(self) -> list[tuple[TaskAddress, int, Step]]:
        stored = self.server.stream(streams.RUNS).read(subjects.work_of("step", "default", "clerk"), 0)
        return [(subjects.address_of(one.subject), one.seq, codec.decode_step(one.data)) for one in stored]

    async def speak(self) -> None:
        """The person looks at what is asked, and says something about some of it."""
        for address, seq, step in self.steps():
            if not isinstance(step, ConfirmAsked) or seq in self.seen:
                continue
            self.seen.add(seq)
            word: Control | None = None
            match self.luck.randrange(5):
                case 0:
                    word = Reject(task=address.task, call=step.call, asked=seq, by="ada")
                case 1:
                    pass
                case _:
                    word = Approve(task=address.task, call=step.call, asked=seq, by="ada")
                    self.allowed.add(json.loads(bytes(step.arguments))["text"])
            if word is not None:
                await self.person.publish(subjects.control(address.run), codec.encode(word))

    async def mischief(self) -> None:
        match self.luck.randrange(6):
            case 0 | 1:
                await self.kill()
                self.start()
            case 2:
                self.server.restart()
            case _:
                await self.speak()
        await self.clock.advance(self.luck.uniform(0.05, 4.0))

    def results(self) -> int:
        return len(self.server.stream(streams.RUNS).read(subjects.work_of("result", "default", "clerk"), 0))


@pytest.mark.parametrize("seed", SEEDS)
async def test_nothing_runs_without_a_yes_and_nobody_is_asked_twice(seed: int) -> None:
    world = World(seed)
    for _ in range(2):
        world.start()
    client = MemoryBus(world.server, "client")
    for run in world.runs:
        handoff = Handoff(run=run, task="t", attempt=1, from_agent="s", to_agent="clerk", intent="send")
        await client.publish(TaskAddress(run, "default", "clerk", "t", 1).handoff, codec.encode(handoff))
    for _ in range(25):
        await world.mischief()
    assert await world.clock.advance_until(lambda: world.results() == TASKS, within_s=300)
    asked = [
        (address, step.call, bytes(step.arguments))
        for address, _, step in world.steps()
        if isinstance(step, ConfirmAsked)
    ]
    assert len(asked) == len(set(asked)) == TASKS * 4, "each call of each turn was asked about once"
    settled = [step for _, _, step in world.steps() if isinstance(step, Confirmed)]
    assert len(settled) == TASKS * 4
    assert world.unasked == []
    assert len(set(world.sent)) == sum(step.granted for step in settled), "what was allowed ran, and nothing else"
    while world.processes:
        await world.kill()
