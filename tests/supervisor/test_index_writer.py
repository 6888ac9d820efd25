"""The supervisor keeps the entry of each run in the index of runs up to date."""

import asyncio
from collections.abc import AsyncGenerator, Callable

import msgspec
import pytest
from model_replies import decided

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.bus.memory.stream import Publication
from actors.bus.port import NO_HEADERS, Headers
from actors.model.port import Call, Reply
from actors.run_index import newest
from actors.settings import Settings
from actors.supervisor.index_writer import INTERVAL_S
from actors.supervisor.supervisor import Supervisor
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.controls import Approve
from protocol.errors import FullError
from protocol.ids import new_run_id
from protocol.messages import Card, Handoff, Plan, Request, RunEntry, Task

SETTINGS = Settings(ack_wait_s=2.0, poll_s=1.0, heartbeat_s=1.0, card_ttl_s=3.0)
PLANNED = {"goal": "g", "tasks": [{"id": "a", "worker": "w", "intent": "count apples", "success": "counted"}]}


class Planner:
    """A model that makes the same plan each time, after three seconds."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        await self._clock.sleep(3)
        return decided(PLANNED)

    async def close(self) -> None:
        pass


class Stage:
    """One server, actors that can be killed, and the entries that were written."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.client = MemoryBus(self.server, "client")
        self.run = new_run_id()
        self.tasks: list[asyncio.Task[None]] = []
        self.written: list[RunEntry] = []
        self.release: dict[str, asyncio.Event] = {}

    def supervisor(self, name: str, bus: MemoryBus | None = None) -> MemoryBus:
        bus = bus or MemoryBus(self.server, name)
        supervisor = Supervisor(bus, self.clock, Planner(self.clock), SETTINGS, instance=name)
        self.tasks.append(asyncio.create_task(supervisor.run(asyncio.Event())))
        return bus

    def worker(self) -> None:
        worker = Worker("w", summary="Works.", run=self._work, concurrency=8)
        process = WorkerProcess(worker, MemoryBus(self.server, "w"), self.clock, SETTINGS, instance="w1")
        self.tasks.append(asyncio.create_task(process.run(asyncio.Event())))

    async def _work(self, handoff: Handoff) -> str:
        await self.release.setdefault(handoff.task, asyncio.Event()).wait()
        return "done"

    def finish(self, *tasks: str) -> None:
        for task in tasks:
            self.release.setdefault(task, asyncio.Event()).set()

    async def ask(self, *tasks: str, worker: str = "w", review: bool = False) -> None:
        plan = Plan(tasks=tuple(Task(id=name, worker=worker, intent=f"do {name}") for name in tasks))
        request = Request(
            id=self.run, text="What? " * 100, plan=plan if tasks else None, synthesis=False, review=review
        )
        await self.client.publish(subjects.request("default"), codec.encode(request))

    async def record(self) -> None:
        """Remember every entry that is published."""
        async with self.client.subscribe(subjects.INDEX, lambda m: self.written.append(decoded(m.data))):
            await asyncio.Event().wait()

    @property
    def entry(self) -> RunEntry:
        (stored,) = self.server.stream(streams.INDEX).read(subjects.INDEX)
        return decoded(stored.data)

    async def until(self, holds: Callable[[RunEntry], bool], within_s: float = 60.0) -> RunEntry:
        def found() -> bool:
            return any(holds(decoded(m.data)) for m in self.server.stream(streams.INDEX).read(subjects.INDEX))

        assert await self.clock.advance_until(found, within_s), self.written
        return self.entry


def decoded(data: bytes) -> RunEntry:
    return codec.decode(data, RunEntry)


@pytest.fixture
async def stage() -> AsyncGenerator[Stage]:
    stage = Stage()
    stage.worker()
    stage.tasks.append(asyncio.create_task(stage.record()))
    await stage.clock.advance(1)
    yield stage
    for task in stage.tasks:
        task.cancel()
    await asyncio.gather(*stage.tasks, return_exceptions=True)


async def test_a_run_has_an_entry_from_its_start_to_its_end(stage: Stage) -> None:
    stage.supervisor("s1")
    await stage.ask("a", "b")
    started = await stage.until(lambda entry: entry.status == "running")
    assert (started.run, started.team, started.tasks, started.done) == (stage.run, "default", 2, 0)
    assert started.text == ("What? " * 100)[:200]
    assert started.finished is None
    assert stage.clock.now() - started.started < 5
    stage.finish("a", "b")
    ended = await stage.until(lambda entry: entry.status == "complete")
    assert (ended.tasks, ended.done, ended.started) == (2, 2, started.started)
    assert ended.finished is not None
    assert ended.finished >= ended.started


async def test_the_end_is_in_the_index_before_the_request_is_acknowledged(stage: Stage) -> None:
    stage.supervisor("s1")
    await stage.ask("a")
    await stage.until(lambda entry: entry.status == "running")
    requests = stage.server.stream(streams.REQUESTS)
    seen: list[tuple[str, int]] = []

    def note(_: object) -> None:
        seen.append((stage.entry.status, len(requests.read(subjects.REQUESTS))))

    async with stage.client.subscribe(subjects.INDEX, note):
        stage.finish("a")
        await stage.until(lambda entry: entry.status == "complete")
        await stage.clock.advance(1)
    assert ("complete", 1) in seen
    assert requests.read(subjects.REQUESTS) == []


async def test_progress_is_written_at_most_every_five_seconds(stage: Stage) -> None:
    names = [f"t{number}" for number in range(40)]
    stage.supervisor("s1")
    await stage.ask(*names)
    await stage.until(lambda entry: entry.status == "running")
    began, before = stage.clock.monotonic(), len(stage.written)
    for name in names[:-1]:
        stage.finish(name)
        await stage.clock.advance(0.5)
    passed = stage.clock.monotonic() - began
    assert 2 <= len(stage.written) - before <= passed / INTERVAL_S + 1
    await stage.clock.advance(INTERVAL_S * 2)
    assert stage.entry.done == len(names) - 1
    quiet = len(stage.written)
    await stage.clock.advance(60)
    assert len(stage.written) == quiet, "nothing has changed, so nothing is written"


async def test_a_plan_that_waits_for_a_person_is_written_at_once(stage: Stage) -> None:
    stage.supervisor("s1")
    await stage.ask("a", review=True)
    waiting = await stage.until(lambda entry: entry.waiting == 1, within_s=1)
    assert waiting.status == "review"
    await stage.client.publish(subjects.control(stage.run), codec.encode(Approve()))
    running = await stage.until(lambda entry: entry.waiting == 0, within_s=3)
    assert (running.status, running.tasks) == ("running", 1)


async def test_a_task_that_waits_for_a_person_is_written_at_once(stage: Stage) -> None:
    stage.supervisor("s1")
    card = codec.encode(Card(worker="counsel", instance="i1", person=True))

    async def keep() -> None:
        while True:
            await stage.client.put_card(subjects.card("default", "counsel", "i1"), card)
            await stage.clock.sleep(1)

    stage.tasks.append(asyncio.create_task(keep()))
    await stage.clock.advance(2)
    await stage.ask("a", worker="counsel")
    waiting = await stage.until(lambda entry: entry.waiting == 1, within_s=2)
    assert waiting.status == "running"


async def test_a_planner_s_run_is_listed_while_its_plan_is_made(stage: Stage) -> None:
    stage.supervisor("s1")
    await stage.ask()
    planning = await stage.until(lambda entry: True, within_s=1)
    assert (planning.status, planning.tasks) == ("planning", 0)
    planned = await stage.until(lambda entry: entry.tasks == 1, within_s=10)
    assert planned.status == "running"


async def test_a_supervisor_that_takes_over_writes_on(stage: Stage) -> None:
    first = stage.supervisor("s1")
    await stage.ask("a", "b")
    stage.finish("a")
    await stage.until(lambda entry: entry.status == "running")
    first.kill()
    stage.supervisor("s2")
    await stage.until(lambda entry: entry.done == 1)
    stage.finish("b")
    assert (await stage.until(lambda entry: entry.status == "complete")).done == 2


async def test_the_end_is_written_by_the_next_supervisor_if_the_first_dies_right_after_it(stage: Stage) -> None:
    first = stage.supervisor("s1")
    await stage.ask("a")
    await stage.until(lambda entry: entry.status == "running")
    stage.server.unknown_publishes = lambda subject: subject == subjects.index("default", stage.run)
    logs = stage.server.stream(streams.RUNS)
    stage.finish("a")
    ended = lambda: b'"finished"' in logs.read(subjects.log(stage.run))[-1].data  # noqa: E731
    assert await stage.clock.advance_until(ended, 10)
    first.kill()
    stage.server.unknown_publishes = lambda _: False
    restore(stage, status="running")
    stage.supervisor("s2")
    await stage.until(lambda entry: entry.status == "complete")
    await stage.clock.advance(5)
    assert stage.server.stream(streams.REQUESTS).read(subjects.REQUESTS) == []


async def test_an_entry_that_an_old_supervisor_wrote_late_is_overwritten(stage: Stage) -> None:
    stage.supervisor("s1")
    await stage.ask("a", "b")
    await stage.until(lambda entry: entry.status == "running")
    restore(stage, status="planning", tasks=0)
    stage.finish("a")
    assert (await stage.until(lambda entry: entry.done == 1)).status == "running"
    restore(stage, status="planning", tasks=0)
    stage.finish("b")
    assert (await stage.until(lambda entry: entry.finished is not None)).status == "complete"


class FullIndex(MemoryBus):
    """A bus whose index refuses entries while `is_full` is set."""

    is_full = True
    refused = 0

    async def send(
        self, subject: str, data: bytes, *, expect: int | None = None, headers: Headers = NO_HEADERS
    ) -> "asyncio.Future[int]":
        if self.is_full and subject.startswith("handoff.index."):
            self.refused += 1
            refusal: asyncio.Future[int] = asyncio.get_running_loop().create_future()
            refusal.set_exception(FullError(subject, streams.INDEX))
            return refusal
        return await super().send(subject, data, expect=expect, headers=headers)


@pytest.mark.parametrize("has_room_before_the_end", [True, False])
async def test_a_run_is_listed_once_a_full_index_has_room_again(stage: Stage, *, has_room_before_the_end: bool) -> None:
    bus = FullIndex(stage.server, "s1")
    stage.supervisor("s1", bus)
    await stage.ask("a")
    assert await stage.clock.advance_until(lambda: bus.refused > 0, 60)
    if has_room_before_the_end:
        bus.is_full = False
        await stage.until(lambda entry: entry.status == "running")
    await stage.clock.advance(INTERVAL_S / 2)
    bus.is_full = False
    stage.finish("a")
    await stage.until(lambda entry: entry.status == "complete")


async def test_runs_inside_another_run_are_not_listed(stage: Stage) -> None:
    for number in range(30):
        entry = RunEntry(run=new_run_id(), team="default", status="complete", started=float(number), parent="r.t.1")
        await stage.client.publish(subjects.index("default", entry.run), codec.encode(entry), expect=0)
        if number < 5:
            outer = msgspec.structs.replace(entry, run=new_run_id(), parent=None)
            await stage.client.publish(subjects.index("default", outer.run), codec.encode(outer), expect=0)
    assert [summary.began for summary in await newest(stage.client, 3)] == [4.0, 3.0, 2.0]


async def test_requests_that_wait_are_listed_with_the_runs_and_by_team(stage: Stage) -> None:
    await stage.ask("a")
    await stage.client.publish(subjects.request("other"), codec.encode(Request(text="later")))
    found = await newest(stage.client, 20)
    assert {(summary.team, summary.status) for summary in found} == {("default", "waiting"), ("other", "waiting")}
    stage.supervisor("s1")
    await stage.until(lambda entry: entry.status == "running")
    assert [(summary.run, summary.status) for summary in await newest(stage.client, 20, "default")] == [
        (stage.run, "running")
    ]


def restore(stage: Stage, status: str, tasks: int = 1) -> None:
    """Put an older entry into the place of the last one, as a supervisor that was replaced may do."""
    entry = RunEntry(run=stage.run, team="default", status=status, tasks=tasks)
    stage.server.publish(Publication(subject=subjects.index("default", stage.run), data=codec.encode(entry)))
