"""The real supervisor and workers on the in-memory bus with a virtual clock: what must hold in odd corners."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from time import gmtime, strftime

import pytest
from model_replies import decided, wrote

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.client import Client
from actors.dead_letter import dead_letters
from actors.model.port import Call, Reply
from actors.settings import Settings
from actors.supervisor.supervisor import Supervisor
from actors.worker.definition import Work, Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.controls import Approve, Reject
from protocol.events import Event, Finished, Planned, Started, Waiting
from protocol.ids import RunId, new_run_id
from protocol.messages import Answer, Card, Handoff, Plan, Request, Result, Task
from protocol.subjects import TaskAddress

SETTINGS = Settings(ack_wait_s=2.0, poll_s=1.0, heartbeat_s=1.0, card_ttl_s=3.0, breaker_failures=10_000)
ONE = {"goal": "g", "tasks": [{"id": "a", "worker": "w", "intent": "count apples", "success": "counted"}]}


class SlowPlanner:
    """A model whose every answer takes eight seconds, or as long as a test says."""

    takes_s = 8.0

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.calls = 0

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        self.calls += 1
        await self._clock.sleep(self.takes_s)
        return decided(ONE) if call.format else wrote("all")

    async def close(self) -> None:
        pass


class World:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.model = SlowPlanner(self.clock)
        self.client = MemoryBus(self.server, "client")
        self.tasks: list[asyncio.Task[None]] = []

    def start(self, run: Work, supervisors: int = 1) -> None:
        stop = asyncio.Event()
        for number in range(supervisors):
            bus = MemoryBus(self.server, f"s{number}")
            supervisor = Supervisor(bus, self.clock, self.model, SETTINGS, instance=f"s{number}")
            self.tasks.append(asyncio.create_task(supervisor.run(stop)))
        worker = Worker("w", summary="Works.", run=run, concurrency=64)
        process = WorkerProcess(worker, MemoryBus(self.server, "w"), self.clock, SETTINGS, instance="w1")
        self.tasks.append(asyncio.create_task(process.run(stop)))

    async def ask(self, request: Request) -> None:
        await self.client.publish(subjects.request("default"), codec.encode(request))

    def log(self, run: str) -> list[Event]:
        stored = self.server.stream(streams.RUNS).read(subjects.log(run), 0)
        return [codec.decode_event(message.data) for message in stored]

    async def answer(self, run: str, within_s: float = 60.0) -> Answer:
        def ended() -> bool:
            return any(isinstance(event, Finished) for event in self.log(run))

        assert await self.clock.advance_until(ended, within_s), self.log(run)
        (end,) = [event for event in self.log(run) if isinstance(event, Finished)]
        return end.answer


@pytest.fixture
async def world() -> AsyncGenerator[World]:
    world = World()
    yield world
    for task in world.tasks:
        task.cancel()
    await asyncio.gather(*world.tasks, return_exceptions=True)


async def echo(handoff: Handoff) -> str:
    return handoff.intent


async def test_a_request_stored_twice_is_one_run_and_paid_for_once(world: World) -> None:
    world.start(echo, supervisors=2)
    request = Request(id=new_run_id(), text="count", synthesis=False)
    for _ in range(2):
        await world.ask(request)
    await world.answer(request.id)
    await world.clock.advance(20)
    assert world.model.calls == 1
    assert sum(isinstance(event, Started) for event in world.log(request.id)) == 1
    assert world.server.stream(streams.REQUESTS).read(subjects.REQUESTS, 0) == []


def fan_in(count: int) -> Plan:
    leaves = tuple(Task(id=f"t{n}", worker="w", intent="leaf") for n in range(count))
    last = Task(id="last", worker="w", intent="join", depends_on=tuple(task.id for task in leaves))
    return Plan(tasks=(*leaves, last))


async def test_a_fan_in_too_big_for_a_message_goes_along_by_reference(world: World) -> None:
    seen: list[Handoff] = []

    async def work(handoff: Handoff) -> str:
        if handoff.task == "last":
            seen.append(handoff)
        return "x" * 400

    world.start(work)
    run = new_run_id()
    await world.ask(Request(id=run, plan=fan_in(900), synthesis=False))
    answer = await world.answer(run)
    assert answer.status == "complete"
    (handoff,) = seen
    assert len(handoff.context) == 900
    (artifact,) = handoff.artifacts
    assert len(await world.client.get_artifact(artifact.name) or b"") == artifact.size


LONG = "wort " * 140_000


async def test_an_output_too_long_for_a_message_is_whole_in_the_answer(world: World) -> None:
    world.start(lambda handoff: LONG)
    run = new_run_id()
    await world.ask(Request(id=run, plan=Plan(tasks=(Task(id="a", worker="w", intent="write"),)), synthesis=False))
    stored = await world.answer(run)
    async with Client(world.client, settings=SETTINGS) as client:
        answer = await client.run(run).answer()
    assert (answer.text, answer.status, answer.gaps) == (LONG, "complete", ())
    assert len(stored.text) < len(LONG)
    assert [artifact.name for artifact in stored.artifacts] == [f"{run}.answer"]


async def test_several_long_outputs_stand_side_by_side_whole(world: World) -> None:
    world.start(lambda handoff: LONG + handoff.task if handoff.task != "b" else "short")
    run = new_run_id()
    tasks = tuple(Task(id=name, worker="w", intent="write") for name in "abc")
    await world.ask(Request(id=run, plan=Plan(tasks=tasks), synthesis=False))
    await world.answer(run)
    async with Client(world.client, settings=SETTINGS) as client:
        text = (await client.run(run).answer()).text
    assert text == f"## a (w)\n\n{LONG}a\n\n## b (w)\n\nshort\n\n## c (w)\n\n{LONG}c"


async def test_a_long_output_that_cannot_be_read_is_a_gap(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.supervisor.desk.MOST_OUTPUT_BYTES", 1_000)
    world.start(lambda handoff: LONG)
    run = new_run_id()
    await world.ask(Request(id=run, plan=Plan(tasks=(Task(id="a", worker="w", intent="write"),)), synthesis=False))
    answer = await world.answer(run)
    assert answer.status == "partial"
    assert [artifact.name for artifact in answer.artifacts] == [f"{run}.a.1.output"]
    assert f"{run}.a.1.output" in answer.gaps[0]


async def test_a_thousand_failures_still_end_in_an_answer(world: World) -> None:
    async def work(_: Handoff) -> str:
        raise ValueError("y" * 400)

    world.start(work)
    run = new_run_id()
    tasks = tuple(Task(id=f"t{n}", worker="w", intent="leaf") for n in range(900))
    await world.ask(Request(id=run, plan=Plan(tasks=tasks), synthesis=False))
    answer = await world.answer(run)
    assert answer.status == "failed"
    assert answer.gaps[-1] == "and 800 more"


async def test_a_request_that_outgrows_a_message_once_written_out_is_refused(world: World) -> None:
    world.start(echo)
    tasks = ",".join(f'{{"id":"t{n}","worker":"w","intent":"{"i" * 160}"}}' for n in range(990))
    raw = f'{{"plan":{{"tasks":[{tasks}]}}}}'.encode()
    assert len(raw) < SETTINGS.message_bytes
    await world.client.publish(subjects.request("default"), raw)
    await world.clock.advance(5)
    (letter,) = await dead_letters(world.client)
    assert "with all its fields" in letter.reason
    assert letter.data == raw


async def test_messages_on_malformed_subjects_do_no_harm(world: World) -> None:
    world.start(echo)
    run = new_run_id()
    await world.client.publish(f"handoff.run.{run}.result.default.w.a.one", b"{}")
    await world.client.publish(f"handoff.run.{run}.task.default.w.a.one", b"{}")
    await world.client.publish(f"handoff.run.{run}.control", b"nonsense")
    await world.ask(Request(id=run, plan=Plan(tasks=(Task(id="a", worker="w", intent="fine"),)), synthesis=False))
    assert (await world.answer(run)).text == "fine"
    await world.clock.advance(5)
    letters = await dead_letters(world.client)
    assert any("is not the subject of a task" in letter.reason for letter in letters)


async def test_an_unreadable_handoff_is_a_failed_task_not_a_silence(world: World) -> None:
    world.start(echo)
    await world.clock.advance(1)
    address = TaskAddress(new_run_id(), "default", "w", "a", 1)
    await world.client.publish(address.handoff, b"garbage")
    await world.clock.advance(5)
    (stored,) = world.server.stream(streams.RUNS).read(address.result, 0)
    result = codec.decode(stored.data, Result)
    assert result.error is not None
    assert (result.status, result.error.kind) == ("failed", "undecodable")


async def test_a_very_long_error_is_a_failed_result_not_a_flood(world: World) -> None:
    async def work(_: Handoff) -> str:
        raise ValueError("z" * 300_000)

    world.start(work)
    run = new_run_id()
    await world.ask(Request(id=run, plan=Plan(tasks=(Task(id="a", worker="w", intent="x"),)), synthesis=False))
    answer = await world.answer(run)
    assert answer.status == "failed"
    assert world.server.artifacts == {}


async def test_results_that_were_stored_before_the_plan_count_after_a_takeover(world: World) -> None:
    run = new_run_id()
    plan = Plan(tasks=(Task(id="a", worker="w", intent="x"), Task(id="b", worker="w", intent="y", depends_on=("a",))))
    request = Request(id=run, team="default", plan=plan, synthesis=False)
    address = TaskAddress(run, "default", "w", "a", 1)
    handoff = Handoff(run=run, task="a", attempt=1, from_agent="s", to_agent="w", intent="x")
    result = Result(run=run, task="a", attempt=1, worker="w", status="completed", output="early")
    started = Started(epoch=1, supervisor="gone", request=request)
    for subject, message in (
        (subjects.log(run), started),
        (address.handoff, handoff),
        (address.result, result),
        (subjects.log(run), Planned(plan=plan)),
    ):
        await world.client.publish(subject, codec.encode(message))
    world.start(echo)
    await world.ask(request)
    answer = await world.answer(run)
    assert (answer.status, answer.text) == ("complete", "y")


async def test_a_lapsed_lease_gives_nothing_back(world: World) -> None:
    from datetime import timedelta

    from actors.lease import Lease
    from actors.runner import Runner
    from actors.verdict import Retry, Verdict

    queue = streams.request_queue("default", timedelta(seconds=2))
    await world.ask(Request(id=new_run_id(), text="x"))

    async def handler(lease: Lease) -> Verdict:
        lease._beaten_at -= 10  # pyright: ignore[reportPrivateUsage]  the process stood still for ten seconds
        return Retry(0.0)

    runner = Runner(MemoryBus(world.server, "r"), world.clock, queue, 1, handler)
    world.tasks.append(asyncio.create_task(runner.run(asyncio.Event(), 1.0)))
    await world.clock.advance(0.5)
    counts: list[int] = []
    await world.client.pull(queue, 5, lambda delivery: counts.append(delivery.count))
    await world.clock.advance(1.0)
    assert counts == [], "only the ack wait gives it to somebody else"


@pytest.mark.parametrize("takes_s", [8.0, 0.1], ids=["read before the next plan", "read after the next plan"])
async def test_a_refusal_is_heard_and_read_but_refuses_only_the_plan_it_was_meant_for(
    world: World, takes_s: float
) -> None:
    world.model.takes_s = takes_s
    world.start(echo)
    run = new_run_id()
    await world.ask(Request(id=run, text="count", review=True, synthesis=False))

    def plans() -> int:
        return sum(isinstance(event, Planned) for event in world.log(run))

    assert await world.clock.advance_until(lambda: plans() == 1, 60)
    await world.client.publish(subjects.control(run), codec.encode(Reject(comment="more")))
    assert await world.clock.advance_until(lambda: plans() == 2, 60)
    await world.clock.advance(30)
    assert plans() == 2, "the stream was read meanwhile, and said nothing new"
    await world.client.publish(subjects.control(run), codec.encode(Approve()))
    assert (await world.answer(run)).status == "complete"


async def test_a_stand_in_is_known_even_when_the_card_that_named_it_is_gone(world: World) -> None:
    supervisor = Supervisor(world.client, world.clock, world.model, SETTINGS, instance="s")
    desk = supervisor._desk  # pyright: ignore[reportPrivateUsage]
    key = subjects.card("default", "weak", "i")
    await world.client.put_card(key, codec.encode(Card(worker="weak", instance="i", fallback="strong")))
    await desk.look_around()
    assert desk.view.fallbacks == {}, "nobody called strong was ever here"
    stand_in = subjects.card("default", "strong", "i")
    await world.client.put_card(stand_in, codec.encode(Card(worker="strong", instance="i")))
    await world.clock.advance(1)
    await desk.look_around()
    await world.client.drop_card(key)
    await world.client.drop_card(stand_in)
    await world.clock.advance(5)
    await desk.look_around()
    assert desk.view.alive == frozenset()
    assert desk.view.fallbacks == {"weak": "strong"}


async def test_a_plan_with_a_fallback_that_nobody_knows_is_refused(world: World) -> None:
    world.start(echo)
    run = new_run_id()
    tasks = (Task(id="a", worker="w", intent="x", fallback="ghost"),)
    await world.ask(Request(id=run, plan=Plan(tasks=tasks), synthesis=False))
    answer = await world.answer(run)
    assert answer.status == "failed"
    assert "task 'a' has the fallback 'ghost', and there is no such worker" in answer.text


async def test_a_run_that_waits_for_a_worker_says_why_and_until_when_within_seconds(world: World) -> None:
    world.start(lambda handoff: "done")
    run = new_run_id()
    plan = Plan(tasks=(Task(id="a", worker="poet", intent="write"),))
    await world.ask(Request(id=run, plan=plan, synthesis=False, deadline_s=60))
    await world.clock.advance(3)
    (waiting,) = (event for event in world.log(run) if isinstance(event, Waiting))
    started = world.server.stream(streams.RUNS).read(subjects.log(RunId(run)), 0)[0].time
    assert "poet" in waiting.reason
    assert strftime("%H:%M:%S", gmtime(started + 60)) in waiting.reason
    answer = await world.answer(run)
    assert answer.status == "failed"
    assert "poet" in answer.text
