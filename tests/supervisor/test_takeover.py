"""How a run goes from one supervisor to the next: given back, lost, or written by a newer version."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

import msgspec
import pytest
from model_replies import decided

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.bus.port import Stored
from actors.dead_letter import dead_letters
from actors.model.port import Call, Reply
from actors.run.state import RunState
from actors.settings import Settings
from actors.supervisor import executor, journal
from actors.supervisor.supervisor import Supervisor
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.controls import Approve
from protocol.errors import BusError, InvalidError, UndecodableError, UnreachableError
from protocol.events import Event, Finished, Planned, RunGivenBack, Started, Waiting
from protocol.ids import new_run_id
from protocol.messages import Answer, Handoff, Plan, Request, RunEntry, SupervisorCard, Task

SETTINGS = Settings(
    ack_wait_s=2.0, poll_s=1.0, heartbeat_s=1.0, card_ttl_s=3.0, grace_s=0.2, deliveries=10, review_s=3600.0
)
PLAN = Plan(tasks=(Task(id="a", worker="w", intent="count apples", success="counted"),))
DREAMT = b'{"type": "dreamt", "of": "sheep"}'


class Planner:
    """A model that plans one task, after as many seconds as it is told to take."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.takes_s = 0.1
        self.calls = 0

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        self.calls += 1
        await self._clock.sleep(self.takes_s)
        return decided(json.loads(codec.encode(PLAN)))

    async def close(self) -> None:
        pass


class NoRegistry(MemoryBus):
    """A bus that cannot read the registry as often as it is told to fail."""

    failures = 0

    async def cards(self, prefix: str = "", *, bucket: str = streams.WORKERS) -> dict[str, Stored]:
        if self.failures:
            self.failures -= 1
            raise UnreachableError("the registry is away")
        return await super().cards(prefix, bucket=bucket)


class World:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.client = MemoryBus(self.server, "client")
        self.model = Planner(self.clock)
        self.run = new_run_id()
        self.tasks: list[asyncio.Task[None]] = []
        self.count = 0

    def supervise(self, bus: MemoryBus | None = None, settings: Settings = SETTINGS) -> asyncio.Event:
        """Start a supervisor; setting the event stops it."""
        self.count += 1
        stop, name = asyncio.Event(), f"s{self.count}"
        supervisor = Supervisor(bus or MemoryBus(self.server, name), self.clock, self.model, settings, instance=name)
        self.tasks.append(asyncio.create_task(supervisor.run(stop)))
        return stop

    def employ(self, output: str = "") -> None:
        async def work(handoff: Handoff) -> str:
            return output or handoff.intent

        process = WorkerProcess(
            Worker("w", summary="Works.", run=work), MemoryBus(self.server, "w"), self.clock, SETTINGS, instance="w1"
        )
        self.tasks.append(asyncio.create_task(process.run(asyncio.Event())))

    async def ask(self, **fields: Any) -> Request:
        request = msgspec.structs.replace(Request(id=self.run, plan=PLAN, synthesis=False), **fields)
        await self.client.publish(subjects.request("default"), codec.encode(request))
        return request

    async def write(self, *events: Event | bytes) -> None:
        for event in events:
            data = event if isinstance(event, bytes) else codec.encode(event)
            await self.client.publish(subjects.log(self.run), data)

    def log(self) -> list[Event | None]:
        stored = self.server.stream(streams.RUNS).read(subjects.log(self.run))
        return [_event(message.data) for message in stored]

    def kinds(self) -> list[type[Event] | None]:
        return [type(event) if event else None for event in self.log()]

    def answers(self) -> list[Answer]:
        return [event.answer for event in self.log() if isinstance(event, Finished)]

    async def until(self, holds: Callable[[], object], within_s: float = 60.0) -> None:
        assert await self.clock.advance_until(lambda: bool(holds()), within_s), self.log()

    async def answer(self, within_s: float = 60.0) -> Answer:
        await self.until(self.answers, within_s)
        (answer,) = self.answers()
        return answer

    async def requests(self) -> int:
        await self.clock.advance(1)
        return len(self.server.stream(streams.REQUESTS).read(subjects.REQUESTS))


def _event(data: bytes) -> Event | None:
    try:
        return codec.decode_event(data)
    except UndecodableError:
        return None


def nothing_unknown(_: object) -> tuple[str, ...]:
    return ()


@pytest.fixture
async def world() -> AsyncGenerator[World]:
    world = World()
    yield world
    for task in world.tasks:
        task.cancel()
    await asyncio.gather(*world.tasks, return_exceptions=True)


async def test_more_deployments_than_losses_allowed_leave_a_run_under_review_alone(world: World) -> None:
    world.employ()
    stop = world.supervise()
    await world.ask(plan=None, text="count", review=True)
    await world.until(lambda: Waiting in world.kinds())
    for _ in range(SETTINGS.deliveries + 2):
        stop.set()
        await world.until(lambda: world.kinds()[-1] is RunGivenBack)
        stop = world.supervise()
        await world.until(lambda: world.kinds()[-1] is Started)
    await world.client.publish(subjects.control(world.run), codec.encode(Approve()))
    assert (await world.answer()).status == "complete"
    assert world.model.calls == 1
    assert await world.requests() == 0


async def test_a_run_whose_call_outlasts_the_grace_period_is_given_back(world: World) -> None:
    world.model.takes_s = 30.0
    world.employ()
    stop = world.supervise()
    await world.clock.advance(2)
    await world.ask(plan=None, text="count")
    await world.until(lambda: world.model.calls == 1)
    stop.set()
    async with asyncio.timeout(30):
        await world.tasks[-1]
    assert world.kinds() == [Started, RunGivenBack]


@pytest.mark.parametrize("failing", ["fold", "decide"])
async def test_a_run_that_breaks_the_supervisor_ends_as_failed_with_the_reason(
    world: World, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("the apples are zero")

    monkeypatch.setattr(*((RunState, "fold") if failing == "fold" else (executor, "decide")), broken)
    world.supervise()
    request = await world.ask()
    answer = await world.answer(within_s=600)
    assert (answer.run, answer.status) == (request.id, "failed")
    assert "the apples are zero" in answer.text
    assert world.kinds().count(Started) == SETTINGS.deliveries
    assert await world.requests() == 0
    (letter,) = await dead_letters(world.client)
    assert "the apples are zero" in letter.reason
    assert codec.decode(letter.data, Request) == request
    (entry,) = world.server.stream(streams.INDEX).read(subjects.index("default", world.run))
    assert codec.decode(entry.data, RunEntry).status == "failed"


async def test_a_request_that_breaks_the_supervisor_before_it_takes_the_run_becomes_a_dead_letter(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a fault in reading the past")

    monkeypatch.setattr("actors.supervisor.live_run.check_past", broken)
    world.supervise()
    await world.ask(plan=None, text="count")
    await world.until(lambda: world.server.stream(streams.DEAD).read(">", 0), within_s=3_600.0)
    assert world.kinds() == []
    assert await world.requests() == 0


async def test_an_error_that_trying_again_cannot_change_ends_the_run_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise InvalidError(["the plan is a poem"])

    monkeypatch.setattr(executor, "decide", broken)
    world.supervise()
    await world.ask()
    answer = await world.answer()
    assert answer.status == "failed"
    assert "the plan is a poem" in answer.text
    assert world.kinds() == [Started, Finished]
    assert len(await dead_letters(world.client)) == 1


async def test_a_run_that_kills_each_supervisor_ends_as_failed_before_the_next_one_takes_it(world: World) -> None:
    request = await world.ask()
    await world.write(
        *(Started(epoch=n, supervisor=f"dead-{n}", request=request) for n in range(1, SETTINGS.deliveries + 1))
    )
    world.supervise()
    answer = await world.answer()
    assert answer.status == "failed"
    assert "dead-10" in answer.text
    assert world.kinds().count(Started) == SETTINGS.deliveries
    assert await world.requests() == 0
    assert len(await dead_letters(world.client)) == 1


async def test_a_run_that_lost_many_supervisors_but_made_progress_goes_on(world: World) -> None:
    world.employ()
    request = await world.ask()
    lost = [Started(epoch=n, supervisor=f"dead-{n}", request=request) for n in range(1, 16)]
    await world.write(*lost[:8], Planned(plan=PLAN), *lost[8:])
    world.supervise()
    assert (await world.answer()).status == "complete"


async def test_a_bus_that_fails_is_no_fault_of_the_run(world: World) -> None:
    world.employ()
    bus = NoRegistry(world.server, "s")
    world.supervise(bus)
    await world.clock.advance(2)
    bus.failures = 20
    await world.ask(plan=None, text="count", deadline_s=1e5)
    assert (await world.answer(within_s=3600)).status == "complete"
    kinds = world.kinds()
    assert kinds.count(Started) == kinds.count(RunGivenBack) + 1 > SETTINGS.deliveries


async def test_a_run_for_which_the_bus_always_fails_ends_as_failed_after_its_deadline(world: World) -> None:
    class NoObjects(MemoryBus):
        async def get_artifact(self, name: str) -> bytes | None:
            raise BusError("the object is damaged")

    world.employ(output="x" * 300_000)
    world.supervise(NoObjects(world.server, "s"))
    await world.ask(deadline_s=60.0)
    answer = await world.answer(within_s=3600)
    assert answer.status == "failed"
    assert "the object is damaged" in answer.text
    assert world.kinds().count(Started) < 4 * SETTINGS.deliveries
    assert await world.requests() == 0


async def test_an_unknown_event_makes_a_supervisor_leave_the_run_untouched(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.employ()
    request = await world.ask(plan=None, text="count", deadline_s=600.0)
    await world.write(Started(epoch=1, supervisor="newer", request=request), DREAMT)
    world.supervise()
    await world.clock.advance(400)
    assert world.kinds() == [Started, None]
    assert world.model.calls == 0
    assert await dead_letters(world.client) == []
    (card,) = (await world.client.cards(bucket=streams.SUPERVISORS)).values()
    assert "dreamt" in codec.decode(card.data, SupervisorCard).trouble
    monkeypatch.setattr(journal, "unknown_types", nothing_unknown)  # a supervisor of the newer version comes
    assert (await world.answer(within_s=600)).status == "complete"


async def test_a_run_with_an_unknown_event_ends_as_failed_after_its_deadline(world: World) -> None:
    request = await world.ask(plan=None, text="count", deadline_s=60.0)
    await world.write(Started(epoch=1, supervisor="newer", request=request), DREAMT)
    world.supervise()
    await world.clock.advance(59)
    assert world.answers() == []
    answer = await world.answer(within_s=120)
    assert answer.status == "failed"
    assert "dreamt" in answer.text
    assert world.kinds() == [Started, None, Finished]
    assert await world.requests() == 0
    assert len(await dead_letters(world.client)) == 1


@pytest.mark.parametrize("review", [False, True])
async def test_a_run_that_a_newer_version_began_by_an_unknown_event_is_left_untouched_until_its_deadline(
    world: World, *, review: bool
) -> None:
    await world.ask(plan=None, text="count", deadline_s=60.0, review=review)
    await world.write(DREAMT)
    world.supervise()
    await world.clock.advance(59 + (SETTINGS.review_s if review else 0.0))
    assert world.kinds() == [None]
    assert await world.requests() == 1
    assert (await world.answer(within_s=600)).status == "failed"


async def test_a_run_with_an_unknown_event_and_a_plan_is_not_ended_while_a_person_may_review_it(world: World) -> None:
    request = await world.ask(plan=None, text="count", review=True, deadline_s=60.0)
    await world.write(Started(epoch=1, supervisor="newer", request=request), Planned(plan=PLAN), DREAMT)
    world.supervise()
    await world.clock.advance(SETTINGS.review_s + 59)
    assert world.kinds() == [Started, Planned, None]
    assert (await world.answer(within_s=600)).status == "failed"


async def test_bytes_in_the_log_that_are_no_message_are_passed_over(world: World) -> None:
    world.employ()
    request = await world.ask()
    await world.write(Started(epoch=1, supervisor="s", request=request), b"garbage", b'{"type": "skipped"}')
    world.supervise()
    assert (await world.answer()).status == "complete"


async def test_a_run_that_an_older_version_left_is_finished_without_planning_again(world: World) -> None:
    """The log as version 87625ca writes it: no given_back, and two takings."""
    world.employ()
    request = await world.ask(plan=None, text="count")
    fields: dict[str, Any] = json.loads(codec.encode(request))
    started = {"type": "started", "supervisor": "older", "request": fields, "request_seq": 1}
    planned = {"type": "planned", "plan": json.loads(codec.encode(PLAN)), "usage": {"model_calls": 1}, "model": "m"}
    older = (started | {"epoch": 1}, planned, started | {"epoch": 2})
    await world.write(*(msgspec.json.encode(event) for event in older))
    world.supervise()
    answer = await world.answer()
    assert (answer.status, answer.usage.model_calls) == ("complete", 1)
    assert world.model.calls == 0
