"""A person as a worker, with the real supervisor on the in-memory bus and a virtual clock."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from model_replies import decided, wrote

from actors.bus.memory import MemoryBus, MemoryServer, ProcessClock, VirtualClock
from actors.dead_letter import dead_letters
from actors.model.port import Call, Reply
from actors.people.inbox import ASKS, Inbox
from actors.people.person import PersonProcess
from actors.people.waits import OpenHandoff
from actors.settings import Settings
from actors.supervisor.roles.plan_schema import worker_line
from actors.supervisor.roster import read_cards
from actors.supervisor.supervisor import Supervisor
from actors.worker.definition import Worker
from protocol import codec, streams, subjects
from protocol.controls import Cancel
from protocol.errors import HandoffError, InvalidError
from protocol.events import Event, Finished, Replanned
from protocol.ids import RunId, new_run_id
from protocol.messages import DEADLINE, Answer, Plan, Request, Result, Stop, Task
from protocol.subjects import TaskAddress

SETTINGS = Settings(ack_wait_s=2.0, poll_s=1.0, heartbeat_s=1.0, card_ttl_s=3.0, deliveries=3)
COUNSEL = Worker("counsel", summary="Knows the law.", person=True)
ASK = Plan(tasks=(Task(id="t", worker="counsel", intent="Is clause 4 fair?"),))


class Planner:
    """Plans one task for the person, in other words each time."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        self.asked.append(str(call.turns[-1].content))
        if not call.format:
            return wrote("all")
        number = len(self.asked)
        intent = f"read clause {number} of the contract"
        task = {"id": f"t{number}", "worker": "counsel", "intent": intent, "success": "read"}
        return decided({"goal": "g", "tasks": [task]})

    async def close(self) -> None:
        pass


class World:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(SETTINGS, self.clock)
        self.client = MemoryBus(self.server, "client")
        self.planner = Planner()
        self.inbox = Inbox(self.client, "default", "counsel")
        self.tasks: list[asyncio.Task[None]] = []
        self._start(Supervisor(MemoryBus(self.server, "s"), self.clock, self.planner, SETTINGS, instance="s"))

    def _start(self, process: Supervisor | PersonProcess) -> asyncio.Event:
        stop = asyncio.Event()
        self.tasks.append(asyncio.create_task(process.run(stop)))
        return stop

    def hold(self, name: str = "p1", wrong_by_s: float = 0.0) -> asyncio.Event:
        """Somebody begins to hold what is handed to the person; the event lets them stop."""
        clock = ProcessClock(self.clock, wrong_by_s)
        bus = MemoryBus(self.server, name, clock)
        return self._start(PersonProcess(COUNSEL, bus, clock, SETTINGS, instance=name))

    async def ask(self, plan: Plan | None = ASK, **more: Any) -> str:
        request = Request(id=new_run_id(), text="Is it fair?", plan=plan, synthesis=plan is None, **more)
        await self.client.publish(subjects.request("default"), codec.encode(request))
        return request.id

    async def opens(self, count: int = 1, within_s: float = 10.0) -> list[OpenHandoff]:
        found: list[OpenHandoff] = []
        for _ in range(int(within_s * 10)):
            await self.clock.advance(0.1)
            found = await self.inbox.open()
            if len(found) == count:
                return found
        raise AssertionError(f"{len(found)} open, not {count}")

    def log(self, run: str) -> list[Event]:
        stored = self.server.stream(streams.RUNS).read(subjects.log(run), 0)
        return [codec.decode_event(message.data) for message in stored]

    async def answer(self, run: str, within_s: float = 60.0) -> Answer:
        def ended() -> bool:
            return any(isinstance(event, Finished) for event in self.log(run))

        assert await self.clock.advance_until(ended, within_s), self.log(run)
        (end,) = [event for event in self.log(run) if isinstance(event, Finished)]
        return end.answer

    def queue(self) -> tuple[int, int]:
        state = self.server.queues(streams.RUNS)[subjects.durable("default", "counsel")].state()
        return state.pending, state.unsettled

    async def settles(self, within_s: float = 3.0) -> bool:
        return await self.clock.advance_until(lambda: self.queue() == (0, 0), within_s)


@pytest.fixture
async def world() -> AsyncGenerator[World]:
    world = World()
    yield world
    for task in world.tasks:
        task.cancel()
    await asyncio.gather(*world.tasks, return_exceptions=True)


async def test_a_person_answers_and_the_run_is_complete(world: World) -> None:
    world.hold()
    run = await world.ask()
    (item,) = await world.opens()
    assert item.handoff.intent == "Is clause 4 fair?"
    await world.clock.advance(90)
    assert await world.inbox.give(item, "completed", "Yes, it is.", "ada") is None
    answer = await world.answer(run, 5)
    assert (answer.status, answer.text) == ("complete", "Yes, it is.")
    assert await world.settles(), "whoever held it has acknowledged it"
    assert await world.inbox.open() == []
    assert answer.timing.sequential_s == pytest.approx(90, abs=2)


async def test_the_planner_is_told_that_it_is_a_person(world: World) -> None:
    world.hold()
    await world.clock.advance(0.5)
    ((_, card),) = await read_cards(world.client)
    assert card.person
    line = worker_line("counsel", [card])
    assert line == "counsel: Knows the law. (busy 0/100; a person: takes minutes where others take seconds)"


async def test_asking_for_more_leads_to_a_new_plan_that_knows_the_question(world: World) -> None:
    world.hold()
    run = await world.ask(plan=None)
    (item,) = await world.opens()
    await world.inbox.give(item, "declined", ASKS + "which contract?", "ada")
    (again,) = await world.opens()
    assert any("which contract?" in asked for asked in world.planner.asked)
    (replanned,) = [event for event in world.log(run) if isinstance(event, Replanned)]
    assert "asks for more: which contract?" in replanned.reasons[0]
    await world.inbox.give(again, "completed", "Fair.", "ada")
    assert (await world.answer(run)).status == "complete"


async def test_the_first_answer_counts_and_the_second_is_told_so(world: World) -> None:
    world.hold("p1")
    world.hold("p2")
    run = await world.ask()
    (item,) = await world.opens()
    assert await world.inbox.give(item, "completed", "Yes.", "ada") is None
    other = Inbox(MemoryBus(world.server, "other"), "default", "counsel")
    before = await other.give(item, "completed", "No.", "bob")
    assert before is not None
    assert (before.instance, before.output) == ("ada", "Yes.")
    assert (await world.answer(run)).text == "Yes."


async def test_what_is_held_is_given_back_and_is_there_again_however_often(world: World) -> None:
    run = await world.ask()
    world.hold("p").set()
    await world.clock.advance(1)
    for number in range(8):
        stop = world.hold(f"p{number}")
        await world.opens()
        await world.clock.advance(1.2)
        ((_, card),) = await read_cards(world.client)
        assert card.inflight == 1, "it was given back at once: nobody waited for the ack wait"
        stop.set()
        await world.clock.advance(0.1)
        assert await read_cards(world.client) == []
    (item,) = await world.opens()
    await world.inbox.give(item, "completed", "Yes.", "ada")
    assert (await world.answer(run)).status == "complete"
    world.hold("last")
    assert await world.settles()
    assert await dead_letters(world.client) == []


async def test_an_answer_needs_nobody_who_holds_the_handoff(world: World) -> None:
    stop = world.hold()
    run = await world.ask()
    (item,) = await world.opens()
    stop.set()
    await world.clock.advance(2)
    await world.inbox.give(item, "completed", "Yes.", "ada")
    assert (await world.answer(run)).status == "complete"


async def test_a_run_whose_person_is_silent_ends_at_its_deadline(world: World) -> None:
    world.hold()
    run = await world.ask(deadline_s=30.0)
    (item,) = await world.opens()
    answer = await world.answer(run)
    assert (answer.status, len(answer.gaps)) == ("failed", 1)
    assert await world.settles()
    assert await world.inbox.open() == []
    with pytest.raises(HandoffError, match="not open any more: failed by p1: the deadline passed"):
        await world.inbox.find(item.ref)


@pytest.mark.parametrize("wrong_by_s", [-3600.0, 0.0, 3600.0])
async def test_a_handoff_is_held_until_its_deadline_whatever_the_wall_clock_shows(
    world: World, wrong_by_s: float
) -> None:
    world.hold(wrong_by_s=wrong_by_s)
    run = await world.ask(deadline_s=30.0)
    inbox = Inbox(MemoryBus(world.server, "i", ProcessClock(world.clock, wrong_by_s)), "default", "counsel")
    (item,) = await world.opens()
    await world.clock.advance(25)
    assert world.queue() == (0, 1), "it is held"
    assert await inbox.open() == [item]
    await world.answer(run)
    assert await world.settles(1)
    assert await inbox.open() == []
    result = await inbox.result(item.address)
    assert result is not None
    assert result.error is not None
    assert (result.status, result.error.kind) == ("failed", DEADLINE)


async def test_a_cancelled_run_leaves_the_inbox_within_a_second(world: World) -> None:
    world.hold()
    run = await world.ask()
    await world.opens()
    await world.client.publish(subjects.control(run), codec.encode(Cancel()))
    assert await world.settles(1)
    assert await world.inbox.open() == []


async def test_a_task_that_the_plan_dropped_leaves_the_inbox_within_a_second_and_the_others_stay(world: World) -> None:
    world.hold()
    tasks = tuple(Task(id=name, worker="counsel", intent=f"read {name}") for name in ("old", "new"))
    run = await world.ask(Plan(tasks=tasks))
    await world.opens(2)
    await world.client.emit(subjects.cancel(run), codec.encode(Stop(tasks=("old",))))
    await world.clock.advance(1.0)
    assert [item.handoff.task for item in await world.inbox.open()] == ["new"]
    stored = world.server.stream(streams.RUNS).read(subjects.run_work(run, "result"), 0)
    (result,) = [codec.decode(message.data, Result) for message in stored]
    assert result.error is not None
    assert (result.task, result.status, result.error.kind) == ("old", "failed", "cancelled")
    with pytest.raises(HandoffError, match=r"not open any more: failed by .*: the plan no longer has this task"):
        await world.inbox.find(f"{run[:8]}/old")


async def test_many_handoffs_wait_beside_each_other_and_beyond_the_slots(world: World) -> None:
    world.hold()
    plan = Plan(tasks=tuple(Task(id=f"t{n}", worker="counsel", intent=f"clause {n}") for n in range(130)))
    run = await world.ask(plan)
    items = await world.opens(130)
    await world.clock.advance(5)
    assert world.queue() == (30, 100)
    for item in items:
        await world.inbox.give(item, "completed", item.handoff.intent, "ada")
    assert (await world.answer(run)).status == "complete"
    assert await world.settles()


async def test_a_handoff_is_found_by_run_and_task_and_what_became_of_it_is_told(world: World) -> None:
    world.hold()
    run = await world.ask()
    (item,) = await world.opens()
    assert await world.inbox.find(f"{run[:6].upper()}/t") == item
    for ref in ("", "t", f"{run[:8]}/u", "ffffffffffff/t", "/t"):
        with pytest.raises(InvalidError, match=f"counsel has no handoff .* \\(open: {run[:8]}/t\\)"):
            await world.inbox.find(ref)
    await world.inbox.give(item, "declined", "not mine", "ada")
    with pytest.raises(HandoffError, match="not open any more: declined by ada: not mine"):
        await world.inbox.find(item.ref)


async def test_an_answer_too_long_for_a_message_goes_along_as_an_artifact(world: World) -> None:
    world.hold()
    run = await world.ask()
    (item,) = await world.opens()
    assert await world.inbox.give(item, "completed", "x" * 600_000, "ada") is None
    assert (await world.answer(run)).status == "complete"
    assert world.server.artifacts[f"{run}.t.1.output"] == b"x" * 600_000


async def test_a_handoff_that_nobody_can_read_fails_and_is_kept(world: World) -> None:
    world.hold()
    address = TaskAddress(RunId(new_run_id()), "default", "counsel", "t", 1)
    await world.client.publish(address.handoff, b"{", expect=0)
    assert await world.settles()
    result = await world.inbox.result(address)
    assert result is not None
    assert result.status == "failed"
    assert len(await dead_letters(world.client)) == 1


async def test_what_stands_where_no_task_can_be_disturbs_nobody(world: World) -> None:
    world.hold()
    run = await world.ask()
    await world.opens()
    for subject in (f"handoff.run.{run}.task.default.counsel.x", f"handoff.run.{run}.result.default.counsel.x.y"):
        await world.client.publish(
            subject, codec.encode(Result(run=run, task="x", attempt=1, worker="w", status="failed"))
        )
    (item,) = await world.opens()
    await world.inbox.give(item, "completed", "Yes.", "ada")
    assert (await world.answer(run)).text == "Yes."


def test_a_person_takes_neither_function_nor_tools() -> None:
    with pytest.raises(InvalidError, match="is a person: it takes neither prompt nor tools"):
        Worker("counsel", summary="Knows the law.", person=True, prompt="You are a lawyer.")
