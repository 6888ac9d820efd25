"""A store that fills up: finished runs give way, new requests wait, and runs under way come to their end."""

import asyncio
from collections.abc import AsyncGenerator

import msgspec
import pytest

from actors.bus.memory import MemoryBus, MemoryServer
from actors.bus.memory.stream import Publication
from actors.settings import Settings
from actors.storage import FULL_SHARE, PURGE_SHARE
from actors.supervisor.run_purge import QUIET_S
from protocol import codec, streams, subjects
from protocol.errors import DeniedError
from protocol.events import Finished, Started
from protocol.ids import RunId, new_run_id
from protocol.messages import Answer, Artifact, Handoff, Message, Plan, Request, RunEntry, Task
from protocol.subjects import TaskAddress
from tests.supervisor.world import SETTINGS, World

KIB = 1024
SMALL = msgspec.structs.replace(SETTINGS, runs_bytes=1024 * KIB, artifacts_bytes=1024 * KIB)
PLAN = Plan(tasks=(Task(id="a", worker="echo", intent="count apples", success="counted"),))
PART = b"x" * 10 * KIB
MINUTE_S = 60.0


class FullWorld(World):
    def __init__(self, settings: Settings = SMALL) -> None:
        super().__init__()
        self.settings = settings
        self.server = MemoryServer(settings, self.clock)
        self.client = MemoryBus(self.server, "client")
        self.done = 0
        self.supervisors = 0

    async def echo(self, handoff: Handoff) -> str:
        self.done += 1
        return handoff.intent

    def start(self, bus: MemoryBus | None = None) -> MemoryBus:
        self.supervisors += 1
        name = f"s{self.supervisors}"
        bus = bus or MemoryBus(self.server, name)
        self.supervise(bus, name, self.settings)
        return bus

    def store(self, subject: str, message: Message | bytes) -> int:
        data = message if isinstance(message, bytes) else codec.encode(message)
        return self.server.publish(Publication(subject=subject, data=data))

    def open_run(self, request: Request | None = None) -> RunId:
        """A run that has begun, with a request that is not acknowledged; its team has no supervisor."""
        run = RunId(request.id) if request else new_run_id()
        request = request or Request(id=run, plan=PLAN, synthesis=False)
        self.store(subjects.request("other"), request)
        self.begin(run, request)
        return run

    def begin(self, run: RunId, request: Request) -> None:
        self.store(subjects.log(run), Started(epoch=1, supervisor="s", request=request))
        self.store(TaskAddress(run, "other", "w", "a", 1).handoff, PART)
        self.server.artifacts[f"{run}.a.1.output"] = PART

    def end(self, run: RunId) -> None:
        self.store(subjects.log(run), Finished(answer=Answer(run=run, status="complete", text="apples")))
        self.store(subjects.control(run), b"{}")
        self.store(subjects.index("other", run), RunEntry(run=run, team="other", status="complete", finished=1.0))

    def ended_run(self) -> RunId:
        run = new_run_id()
        self.begin(run, Request(id=run, plan=PLAN))
        self.end(run)
        return run

    def fill(self, share: float, run: RunId | None = None) -> list[RunId]:
        """Fill the stream of runs with finished runs, or with messages of one run."""
        found: list[RunId] = []
        while self.share() < share:
            if run is None:
                found.append(self.ended_run())
            else:
                self.store(TaskAddress(run, "other", "w", "a", 1).steps, PART)
        return found

    def share(self) -> float:
        return self.server.store_state(streams.RUNS).share

    def tree(self, run: str) -> list[str]:
        return [m.subject for m in self.server.stream(streams.RUNS).read(subjects.run_tree(run))]

    def artifacts(self, run: str) -> list[str]:
        return [name for name in self.server.artifacts if name.startswith(run)]

    def content(self, run: str) -> tuple[list[str], list[str]]:
        return self.tree(run), self.artifacts(run)

    async def request(self, run: str = "") -> RunId:
        run = RunId(run or new_run_id())
        request = Request(id=run, plan=PLAN, synthesis=False)
        await self.client.publish(subjects.request("default"), codec.encode(request))
        return run

    def answered(self, run: str) -> bool:
        (last,) = self.server.stream(streams.RUNS).last([subjects.log(run)]) or (None,)
        return last is not None and isinstance(codec.decode_event(last.data), Finished)


@pytest.fixture
async def world() -> AsyncGenerator[FullWorld]:
    world = FullWorld()
    world.employ("echo", world.echo)
    yield world
    await ended(world)


def answer_of(world: FullWorld, run: str) -> Answer:
    (last,) = world.server.stream(streams.RUNS).last([subjects.log(run)])
    event = codec.decode_event(last.data)
    assert isinstance(event, Finished)
    return event.answer


async def ended(world: FullWorld) -> None:
    for task in world.tasks:
        task.cancel()
    await asyncio.gather(*world.tasks, return_exceptions=True)


async def test_a_store_full_of_finished_runs_takes_requests_again_within_a_minute(world: FullWorld) -> None:
    world.fill(0.99)
    await world.clock.advance(QUIET_S + 1)
    world.start()
    run = await world.request()
    await world.until(lambda: world.answered(run), MINUTE_S)
    assert world.share() <= FULL_SHARE


async def test_only_the_end_of_a_purged_run_stays_and_the_oldest_go_first(world: FullWorld) -> None:
    runs = world.fill(0.85)
    before = world.content(runs[-1])
    await world.clock.advance(QUIET_S + 1)
    world.start()
    await world.until(lambda: world.share() <= PURGE_SHARE, MINUTE_S)
    purged = [run for run in runs if world.content(run) == ([subjects.log(run)], [])]
    assert 0 < len(purged) < len(runs)
    assert purged == runs[: len(purged)]
    assert all(world.answered(run) for run in runs)
    assert world.content(runs[-1]) == before


async def test_runs_that_are_open_young_unacknowledged_or_named_by_a_request_are_never_touched(
    world: FullWorld,
) -> None:
    old = world.fill(0.1)
    unacknowledged = world.open_run()
    world.end(unacknowledged)
    named = world.ended_run()
    artifact = Artifact(name=f"{named}.a.1.output", digest="", size=1)
    held = [unacknowledged, named, world.open_run(Request(id=new_run_id(), text="go on", artifacts=(artifact,)))]
    await world.clock.advance(QUIET_S - 10)
    held += world.fill(0.2)
    world.fill(0.9, held[2])
    await world.clock.advance(20)
    before = {run: world.content(run) for run in held}
    world.start()
    await world.until(lambda: all(len(world.tree(run)) == 1 for run in old), MINUTE_S)
    await world.clock.advance(MINUTE_S)
    assert {run: world.content(run) for run in held} == before
    assert world.server.artifacts.keys() >= {artifact.name}


async def test_nothing_is_purged_while_there_is_room(world: FullWorld) -> None:
    runs = world.fill(PURGE_SHARE - 0.02)
    before = [world.content(run) for run in runs]
    await world.clock.advance(QUIET_S + 1)
    world.start()
    await world.clock.advance(2 * MINUTE_S)
    assert [world.content(run) for run in runs] == before


async def test_runs_give_way_when_their_artifacts_fill_the_other_store(world: FullWorld) -> None:
    runs = world.fill(0.3)
    world.server.artifacts |= {f"{run}.a.1.context": b"x" * 30 * KIB for run in runs}
    world.server.artifacts["mine"] = PART
    assert world.server.store_state(streams.OBJECTS).share > FULL_SHARE
    await world.clock.advance(QUIET_S + 1)
    world.start()
    await world.until(lambda: world.server.store_state(streams.OBJECTS).share <= PURGE_SHARE, MINUTE_S)
    assert "mine" in world.server.artifacts


async def test_a_request_for_a_purged_run_is_answered_and_not_done_again(world: FullWorld) -> None:
    runs = world.fill(0.9)
    await world.clock.advance(QUIET_S + 1)
    world.start()
    await world.until(lambda: len(world.tree(runs[0])) == 1, MINUTE_S)
    entry = world.server.stream(streams.INDEX).read(subjects.index("other", runs[0]))
    await world.request(runs[0])
    await world.until(lambda: not world.server.stream(streams.REQUESTS).read(subjects.REQUESTS), MINUTE_S)
    assert world.tree(runs[0]) == [subjects.log(runs[0])]
    assert world.done == 0
    assert world.server.stream(streams.INDEX).read(subjects.INDEX)[0] == entry[0]


async def test_two_supervisors_purge_the_same_runs_at_once(world: FullWorld) -> None:
    runs = world.fill(0.95)
    await world.clock.advance(QUIET_S + 1)
    world.start()
    world.start()
    await world.until(lambda: world.share() <= PURGE_SHARE, MINUTE_S)
    assert all(world.answered(run) for run in runs)
    assert {len(world.tree(run)) for run in runs} <= {1, len(world.tree(runs[-1]))}


async def test_a_full_store_leaves_new_requests_waiting_until_there_is_room(world: FullWorld) -> None:
    held = world.open_run()
    world.fill(FULL_SHARE, held)
    world.start()
    run = await world.request()
    await world.clock.advance(5 * MINUTE_S)
    assert world.tree(run) == []
    assert len(world.server.stream(streams.REQUESTS).read(subjects.request("default"))) == 1
    await world.client.purge(streams.RUNS, subjects.run_work(held, "step"))
    await world.until(lambda: world.answered(run), MINUTE_S)


async def test_a_run_that_was_begun_is_taken_over_however_full_the_store_is(world: FullWorld) -> None:
    held = world.open_run()
    world.fill(0.9, held)
    run = await world.request()
    world.store(
        subjects.log(run), Started(epoch=1, supervisor="dead", request=Request(id=run, plan=PLAN, synthesis=False))
    )
    world.start()
    await world.until(lambda: world.answered(run), MINUTE_S)


async def test_a_purge_that_is_denied_harms_no_run(world: FullWorld) -> None:
    class NoPurge(MemoryBus):
        async def purge(self, stream: str, subject: str, *, keep: int = 0) -> int:
            raise DeniedError(f"purging {subject} of {stream}")

    runs = world.fill(0.75)
    before = [world.tree(run) for run in runs]
    await world.clock.advance(QUIET_S + 1)
    world.start(NoPurge(world.server, "s"))
    run = await world.request()
    await world.until(lambda: world.answered(run), MINUTE_S)
    assert [world.tree(run) for run in runs] == before


async def test_a_store_that_cannot_be_understood_ends_no_run_and_no_supervisor(world: FullWorld) -> None:
    class Garbage(MemoryBus):
        async def artifact_names(self) -> list[str]:
            raise msgspec.DecodeError("anyone may write into the object store")

    world.fill(0.75)
    await world.clock.advance(QUIET_S + 1)
    world.start(Garbage(world.server, "s"))
    run = await world.request()
    await world.until(lambda: world.answered(run), MINUTE_S)
    assert not any(task.done() for task in world.tasks)


async def test_ten_runs_of_the_largest_plan_that_start_at_79_percent_finish() -> None:
    """With the limits of the defaults; what fills the store is one run that is open, so nothing can be purged."""
    world = FullWorld(msgspec.structs.replace(SETTINGS, message_bytes=Settings().message_bytes, deadline_s=3600.0))
    output = "y" * 100 * KIB

    async def write(handoff: Handoff) -> str:
        world.done += 1
        return output

    for number in range(4):
        world.employ(f"w{number}", write)
    held = world.open_run()
    filler = b"x" * (world.settings.runs_bytes // 100)
    while world.share() < 0.785:
        world.store(TaskAddress(held, "other", "w", "a", 1).steps, filler)
    world.start()
    tasks = tuple(
        Task(
            id=f"t{n}", worker=f"w{n % 4}", intent="write", success="long", depends_on=(f"t{n - 4}",) if n >= 4 else ()
        )
        for n in range(world.settings.planner_tasks)
    )
    runs = [new_run_id() for _ in range(10)]
    for run in runs:
        request = Request(id=run, plan=Plan(tasks=tasks), synthesis=False)
        await world.client.publish(subjects.request("default"), codec.encode(request))
    await world.until(lambda: all(world.answered(run) for run in runs), 3000)
    assert world.done == 10 * len(tasks)
    assert {answer_of(world, run).status for run in runs} == {"complete"}
    assert world.share() < 1
    await ended(world)
