"""Events and Steps that are too big for a message, on the in-memory bus: nothing that was paid for is lost."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import msgspec
import pytest
from model_replies import decided, wrote

from actors import by_reference
from actors.bus.memory import MemoryBus, MemoryServer
from actors.bus.port import Delivery, Stored
from actors.clock import SystemClock
from actors.lease import Lease
from actors.model.port import Call, Reply
from actors.record import complete_run, read_run
from actors.remote_run import Run
from actors.settings import Settings
from actors.supervisor.journal import Journal
from actors.supervisor.supervisor import Supervisor
from actors.worker.definition import Worker
from actors.worker.logbook import Logbook
from actors.worker.process import WorkerProcess
from actors.worker.run_end import RunEnd
from protocol import codec, streams, subjects
from protocol.errors import BusError, FencedError, TooLargeError, UnknownTypeError
from protocol.events import Finished, Planned, Started, Synthesized
from protocol.ids import RunId, new_run_id
from protocol.messages import Answer, Handoff, Plan, Request, Task, Usage
from protocol.references import ByReference
from protocol.steps import ModelCalled, Taken
from protocol.subjects import TaskAddress
from tests.worker.at_work import Desk, agent

RUN = RunId("ab" * 16)
SETTINGS = Settings(ack_wait_s=1.0, heartbeat_s=0.2, card_ttl_s=1.0, grace_s=0.2, poll_s=0.5)
ADDRESS = TaskAddress(RUN, "default", "w", "t", 1)
LONG = ("An answer of 300 KB. " * 15_000).strip()
BIG = ModelCalled(
    model="m",
    content=msgspec.Raw(msgspec.json.encode([{"type": "text", "text": LONG}])),
    stop_reason="end_turn",
    usage=Usage(model_calls=1),
)
TURN = [{"type": "text", "text": LONG}]


def text(answer: str) -> dict[str, Any]:
    return {"type": "text", "text": answer}


class Model:
    """Plans one task with a reason of 300 KB, and says everything else in 300 KB, too."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        self.calls.append(call.role)
        if not call.format:
            return wrote(LONG)
        if call.role == "report":
            return decided({"confidence": 0.9})
        task = {"id": "t", "worker": "w", "intent": "Find revenue per region for 2025", "success": "A figure each"}
        return decided({"tasks": [task], "rationale": LONG})

    async def close(self) -> None:
        pass


class StubbornBus(MemoryBus):
    """Its artifact store fails `failures` times, and `behind` direct reads are of a replica that is behind."""

    failures = 0
    behind = 0

    async def put_artifact(self, name: str, data: bytes) -> str:
        if self.failures:
            self.failures -= 1
            raise BusError("the artifact store is away")
        return await super().put_artifact(name, data)

    async def last(self, stream: str, subjects: Any) -> list[Stored]:
        found = await super().last(stream, subjects)
        if not self.behind:
            return found
        self.behind -= 1
        return [s for s in found if s.subject == ADDRESS.result]


class Stage:
    def __init__(self) -> None:
        self.clock = SystemClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.bus = StubbornBus(self.server, "w")
        self.model = Model()
        self.tasks: list[tuple[MemoryBus, asyncio.Task[None]]] = []

    async def logbook(self) -> Logbook:
        handoff = Handoff(run=RUN, task="t", attempt=1, from_agent="s", to_agent="w", intent="do")
        await self.bus.publish(ADDRESS.handoff, codec.encode(handoff))
        got: asyncio.Queue[Delivery] = asyncio.Queue()
        await self.bus.pull(streams.task_queue("default", "w", SETTINGS.ack_wait), 1, got.put_nowait)
        return Logbook(self.bus, ADDRESS, Lease(await got.get(), self.clock, SETTINGS.ack_wait_s))

    def start(self, process: str) -> None:
        bus = MemoryBus(self.server, process)
        if process == "supervisor":
            actor = Supervisor(bus, self.clock, self.model, SETTINGS, instance=f"s{len(self.tasks)}")
        else:
            worker = Worker("w", summary="Works.", prompt="Work.")
            actor = WorkerProcess(worker, bus, self.clock, SETTINGS, instance=f"w{len(self.tasks)}")
            actor.give_model(self.model)
        self.tasks.append((bus, asyncio.create_task(actor.run(asyncio.Event()))))

    async def kill_all(self) -> None:
        for bus, task in self.tasks:
            bus.kill()
            task.cancel()
        await asyncio.gather(*(task for _, task in self.tasks), return_exceptions=True)
        self.tasks.clear()

    def stored(self, subject: str) -> list[bytes]:
        return [message.data for message in self.server.stream(streams.RUNS).read(subject)]


@pytest.fixture
async def stage() -> AsyncGenerator[Stage]:
    stage = Stage()
    yield stage
    await stage.kill_all()


async def test_a_turn_of_the_model_that_is_too_big_for_a_message_is_kept_whole() -> None:
    desk = Desk(agent())
    done = await desk.do(TURN)
    assert (done.result.status, done.result.error) == ("completed", None)
    assert LONG in await desk.artifact(done.result.artifacts[0].name)
    assert done.result.usage.model_calls == len(done.calls)


async def test_a_worker_that_goes_on_does_not_pay_again_for_a_big_turn(stage: Stage) -> None:
    logbook = await stage.logbook()
    await logbook.write(BIG)
    (data,) = stage.stored(ADDRESS.steps)
    assert len(data) < 1000
    reference = codec.decode_reference(data)
    assert reference is not None
    assert (reference.of, reference.artifact.media_type) == ("model_called", "application/json")
    other = Logbook(stage.bus, ADDRESS, logbook._lease)  # pyright: ignore[reportPrivateUsage]
    assert await other.look()
    assert other.steps == [BIG]
    await other.claim("other")
    assert [type(step) for step in other.steps] == [ModelCalled, Taken]


async def test_a_run_with_a_big_plan_and_a_big_answer_pays_once_though_both_are_killed(stage: Stage) -> None:
    run = Run(stage.bus, stage.clock, new_run_id())
    stage.start("supervisor")
    stage.start("worker")
    await stage.bus.publish(
        subjects.request("default"),
        codec.encode(Request(id=run.id, text="Which region grew fastest in 2025?")),
    )
    async with asyncio.timeout(30):
        async for event in run.events():
            if isinstance(event, Planned | ModelCalled):
                await stage.kill_all()
                stage.start("supervisor")
                stage.start("worker")
        answer = await run.answer()
    assert (answer.status, answer.text) == ("complete", LONG)
    assert sorted(stage.model.calls) == ["planner", "report", "synthesizer", "w"]
    for record in (await read_run(stage.bus, run.id), await complete_run(stage.bus, run.id, {})):
        (planned,) = [entry.message for entry in record if isinstance(entry.message, Planned)]
        (said,) = [entry.message for entry in record if isinstance(entry.message, ModelCalled)]
        (made,) = [entry.message for entry in record if isinstance(entry.message, Synthesized)]
        assert (planned.plan.rationale, said.content, made.text) == (LONG, BIG.content, LONG)


async def test_the_last_event_of_a_run_is_never_a_reference(stage: Stage) -> None:
    finished = Finished(answer=Answer(run=RUN, status="complete", text=LONG))
    with pytest.raises(TooLargeError):
        await by_reference.send(stage.bus, subjects.log(RUN), finished, 0)
    assert stage.server.artifacts == {}


async def test_a_big_turn_waits_for_an_artifact_store_that_is_away(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_reference, "PAUSE_S", 0.01)
    logbook = await stage.logbook()
    stage.bus.failures = 3
    await logbook.write(BIG)
    assert [step.content for step in logbook.steps if isinstance(step, ModelCalled)] == [BIG.content]
    assert len(stage.stored(ADDRESS.steps)) == 1


async def test_what_a_replaced_worker_keeps_does_not_touch_what_its_successor_kept(stage: Stage) -> None:
    first = await stage.logbook()
    second = Logbook(stage.bus, ADDRESS, first._lease)  # pyright: ignore[reportPrivateUsage]
    await second.write(BIG)
    other = msgspec.structs.replace(BIG, content=msgspec.Raw(msgspec.json.encode([text(LONG.upper())])))
    with pytest.raises(FencedError):
        await first.write(other)
    third = Logbook(stage.bus, ADDRESS, first._lease)  # pyright: ignore[reportPrivateUsage]
    await third.look()
    assert third.steps == [BIG]


@pytest.mark.parametrize("content", [None, b"something else"])
async def test_a_reference_to_what_is_not_there_is_like_a_type_that_is_not_known(
    stage: Stage, content: bytes | None
) -> None:
    logbook = await stage.logbook()
    await logbook.write(BIG)
    (name,) = stage.server.artifacts
    del stage.server.artifacts[name]
    if content:
        stage.server.artifacts[name] = content
    with pytest.raises(UnknownTypeError):
        await Logbook(stage.bus, ADDRESS, logbook._lease).look()  # pyright: ignore[reportPrivateUsage]
    assert [type(entry.message) for entry in await read_run(stage.bus, RUN)] == [Handoff]


async def test_an_event_by_reference_is_no_end_and_needs_not_be_loaded_by_a_worker(stage: Stage) -> None:
    plan = Plan(tasks=(Task(id="t", worker="w", intent="do"),), rationale=LONG)
    started = Started(epoch=1, supervisor="s", request=Request(text="?"))
    first = await stage.bus.publish(subjects.log(RUN), codec.encode(started))
    await (await by_reference.send(stage.bus, subjects.log(RUN), Planned(plan=plan), first))
    stage.server.artifacts.clear()
    end = RunEnd(stage.bus, RUN)
    last = {s.subject: s for s in await stage.bus.last(streams.RUNS, end.subjects)}
    assert not await end.reached(last)
    reference = codec.decode_reference(stage.stored(subjects.log(RUN))[1])
    assert reference is not None
    newer = ByReference(of="negotiated", artifact=reference.artifact)
    await stage.bus.publish(subjects.log(RUN), codec.encode(newer))
    with pytest.raises(UnknownTypeError):
        await end.reached({s.subject: s for s in await stage.bus.last(streams.RUNS, end.subjects)})


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every proof is too old, and a read is made again at once."""
    monkeypatch.setattr("actors.lease.CERTAIN_S", -1.0)
    monkeypatch.setattr("actors.worker.logbook.READ_AGAIN_S", 0.001)
    monkeypatch.setattr("actors.supervisor.journal.READ_AGAIN_S", 0.001)


@pytest.mark.usefixtures("quick")
async def test_a_read_that_is_behind_our_own_step_is_no_takeover_and_no_proof(stage: Stage) -> None:
    logbook = await stage.logbook()
    await logbook.write(Taken(instance="w", delivery=2))
    stage.bus.behind = 1
    assert await logbook.still_ours()
    assert stage.bus.behind == 0
    await stage.bus.publish(ADDRESS.steps, codec.encode(Taken(instance="other", delivery=3)))
    stage.bus.behind = 1  # the replica does not know yet that the task was taken over
    with pytest.raises(FencedError):
        await logbook.still_ours()


@pytest.mark.usefixtures("quick")
async def test_nothing_is_paid_for_while_a_replica_stays_behind_our_own_step(stage: Stage) -> None:
    logbook = await stage.logbook()
    await logbook.write(Taken(instance="w", delivery=2))
    stage.bus.behind = 1000
    with pytest.raises(BusError):
        await logbook.still_ours()


@pytest.mark.usefixtures("quick")
async def test_a_read_that_is_behind_our_own_event_is_no_takeover_and_no_proof(stage: Stage) -> None:
    lease = (await stage.logbook())._lease  # pyright: ignore[reportPrivateUsage]
    journal = Journal(stage.bus, RUN, lease, stage.clock)
    await journal.append(Started(epoch=1, supervisor="s", request=Request(text="?")))
    await journal.append(Synthesized(text="x"))
    stage.bus.behind = 1
    assert not await journal.check()
    assert stage.bus.behind == 0
    await stage.bus.publish(
        subjects.log(RUN), codec.encode(Started(epoch=2, supervisor="o", request=Request(text="?")))
    )
    stage.bus.behind = 1  # the replica does not know yet that the run was taken over
    with pytest.raises(FencedError):
        await journal.check()


@pytest.mark.usefixtures("quick")
async def test_nothing_is_paid_for_while_a_replica_stays_behind_our_own_event(stage: Stage) -> None:
    lease = (await stage.logbook())._lease  # pyright: ignore[reportPrivateUsage]
    journal = Journal(stage.bus, RUN, lease, stage.clock)
    await journal.append(Started(epoch=1, supervisor="s", request=Request(text="?")))
    stage.bus.behind = 1000
    with pytest.raises(BusError):
        await journal.check()
