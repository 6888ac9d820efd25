"""The review of a plan: by the person who asked, and from another terminal."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
from waiting import LIMIT_S

from actors.bus.memory.bus import MemoryBus
from actors.bus.memory.server import MemoryServer
from actors.cli.approve import outcome
from actors.cli.plan_edit import PlanEditor
from actors.cli.review import Review, change_in_editor, decision, estimated
from actors.client import Client
from actors.clock import SystemClock
from actors.record import Recorded
from actors.remote_run import Run
from actors.run.plan_review import PlanControl
from actors.settings import Settings
from protocol import codec, subjects
from protocol.controls import Approve, Cancel, Control, Edit, Reject
from protocol.errors import InvalidError
from protocol.events import Approved, Event, Planned, PlanRejected, Started, Waiting
from protocol.ids import new_run_id
from protocol.messages import Estimate, Plan, Request, Task
from tests.cli.running import Process, handoff, plan_json, task

PATIENT = ("--timeout", str(LIMIT_S))

PLAN = Plan(tasks=(Task(id="a", worker="w", intent="count the bikes"),))


class Person:
    """Says these lines, one for each question, and then nothing more; changes a text as told."""

    def __init__(self, *lines: str, old: str = "", new: str = "") -> None:
        self._lines = list(lines)
        self._old, self._new = old, new
        self.asked = 0
        self.stage: list[str] = []

    async def ask(self, question: str) -> str:
        self.asked += 1
        if not self._lines:
            raise EOFError
        return self._lines.pop(0)

    async def change(self, data: bytes) -> bytes:
        return data.decode().replace(self._old, self._new).encode()

    def pause(self) -> None:
        self.stage.append("paused")

    def resume(self) -> None:
        self.stage.append("resumed")


async def decided(person: Person) -> Control:
    return await decision(PLAN, person.ask, PlanEditor(person.change))


async def test_what_a_person_types_becomes_a_control() -> None:
    assert await decided(Person("a\n")) == Approve(revision=1)
    assert await decided(Person("what?", "", "Approve")) == Approve(revision=1)
    assert await decided(Person("r", " fewer tasks \n")) == Reject(comment="fewer tasks")
    assert await decided(Person("Reject: fewer tasks")) == Reject(comment="fewer tasks")
    assert await decided(Person("q")) == Cancel(reason="the plan was not approved")


async def test_a_rejection_without_a_word_is_asked_about_again() -> None:
    assert await decided(Person("r", "  ", "r", "fewer tasks")) == Reject(comment="fewer tasks")
    assert await decided(Person("r", "", "a")) == Approve(revision=1)


async def test_a_plan_is_approved_by_the_word_alone() -> None:
    for doubt in ("actually no", "all wrong", "approve not", "a but later", "quite good", "ok"):
        assert await decided(Person(doubt, "r", "start again")) == Reject(comment="start again")


async def test_an_edited_plan_is_taken_once_it_can_run(capsys: pytest.CaptureFixture[str]) -> None:
    control = await decided(Person("e", old="bikes", new="cars"))
    assert isinstance(control, Edit)
    assert control.plan.tasks[0].intent == "count the cars"
    for old, new, said in (("x", "x", "nothing was changed"), ("{", "", "is not a plan"), ('"w"', '""', "worker")):
        person = Person("e", "a", old=old, new=new)
        assert isinstance(await decided(person), Approve)
        assert person.asked == 2
        assert said in capsys.readouterr().err


class Writer(Person):
    """Changes a text in the editor by these steps, one each time it is opened; keeps what the editor showed."""

    def __init__(self, *lines: str, steps: list[tuple[str, str]]) -> None:
        super().__init__(*lines)
        self._steps = steps
        self.shown: list[str] = []

    async def change(self, data: bytes) -> bytes:
        self.shown.append(data.decode())
        old, new = self._steps.pop(0)
        return data.decode().replace(old, new).encode()


async def test_an_edit_with_a_typing_mistake_is_gone_on_with(capsys: pytest.CaptureFixture[str]) -> None:
    steps = [('"count the bikes",', '"count the cars"'), ('"count the cars"', '"count the cars",')]
    person = Writer("e", "e", steps=steps)
    control = await decided(person)
    assert isinstance(control, Edit)
    assert control.plan.tasks[0].intent == "count the cars"
    assert "count the cars" in person.shown[1], "the editor shows the text as it was left"
    assert re.search(r"line \d+, column \d+", capsys.readouterr().err)


async def test_an_edit_that_cannot_run_is_gone_on_with_and_told_all_its_faults(
    capsys: pytest.CaptureFixture[str],
) -> None:
    faulty = '"depends_on": ["x", "y"]'
    person = Writer("e", "e", steps=[('"depends_on": []', faulty), ("", "")])
    with pytest.raises(EOFError):
        await decided(person)
    assert faulty in person.shown[1]
    said = capsys.readouterr().err
    assert ("'x'" in said, "'y'" in said) == (True, True)


async def test_an_emptied_text_begins_with_the_plan_again() -> None:
    class Emptying(Writer):
        async def change(self, data: bytes) -> bytes:
            changed = await super().change(data)
            return b"\n" if len(self.shown) == 2 else changed

    person = Emptying("e", "e", "e", steps=[("{", ""), ("", ""), ("bikes", "cars")])
    assert isinstance(await decided(person), Edit)
    assert person.shown[2] == person.shown[0]


async def test_an_editor_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "sed -i s/bikes/cars/")
    assert await change_in_editor(b"bikes\n") == b"cars\n"
    monkeypatch.setenv("EDITOR", "false")
    with pytest.raises(InvalidError, match="ended with 1"):
        await change_in_editor(b"")
    monkeypatch.setenv("EDITOR", "no-such-editor")
    with pytest.raises(InvalidError, match="set EDITOR"):
        await change_in_editor(b"")


def test_an_estimate_tells_what_a_plan_comes_to() -> None:
    estimate = Estimate(tasks=5, critical_path=3, widest=2, model_calls=7)
    said = "5 tasks · longest chain 3 · widest level 2 · at least 7 model calls"
    assert estimated(Planned(plan=PLAN, estimate=estimate)) == said
    assert estimated(Planned(plan=PLAN)) == "1 task"


@pytest.fixture
async def bus() -> AsyncGenerator[MemoryBus]:
    bus = MemoryBus(MemoryServer(Settings(), SystemClock()))
    yield bus
    await bus.close()


@pytest.fixture
def run(bus: MemoryBus) -> Run:
    return Client(bus, settings=Settings()).run(new_run_id())


class Reviewed:
    """A run that is reviewed by a person, told event by event."""

    def __init__(self, run: Run, person: Person) -> None:
        self.review = Review(run, person, person.ask, person.change, "ada")
        self._run = run
        self._seq = 0

    async def take(self, *messages: Event | Control) -> None:
        for message in messages:
            self._seq += 1
            entry = Recorded(seq=self._seq, time=1.0, subject=subjects.log(self._run.id), message=message)
            await self.review.take(entry)

    async def begin(self) -> None:
        request = Request(id=self._run.id, text="Why?", team="default", review=True)
        await self.take(Started(epoch=1, supervisor="s", request=request), Planned(plan=PLAN))

    async def said(self, count: int) -> list[Control]:
        """What was said so far, once it is so much."""
        async with asyncio.timeout(LIMIT_S):
            while len(found := [entry.message for entry in await self._run.past()]) < count:
                await asyncio.sleep(0)
        return [one for one in found if isinstance(one, Approve | Reject | Edit | Cancel)]


async def test_a_person_is_asked_for_each_plan(run: Run) -> None:
    person = Person("r", "fewer", "a")
    reviewed = Reviewed(run, person)
    await reviewed.begin()
    (no,) = await reviewed.said(1)
    await reviewed.take(no, PlanRejected(faults=("fewer",), reviewed=True), Planned(plan=PLAN))
    said = [Reject(comment="fewer", asked=2, by="ada"), Approve(revision=1, asked=5, by="ada")]
    assert await reviewed.said(2) == said, "each is about the plan that was shown"
    await reviewed.review.close()
    assert person.stage == ["paused", "resumed"] * 2


async def test_a_plan_that_somebody_else_approves_is_asked_about_no_more(run: Run) -> None:
    class Silent(Person):
        async def ask(self, question: str) -> str:
            self.asked += 1
            await asyncio.Event().wait()
            return "a"

    person = Silent()
    reviewed = Reviewed(run, person)
    await reviewed.begin()
    async with asyncio.timeout(LIMIT_S):
        while not person.asked:
            await asyncio.sleep(0)
    await reviewed.take(Approve())
    assert person.stage == ["paused", "resumed"]
    assert await reviewed.said(0) == []


@pytest.mark.parametrize(
    "others",
    [
        (Approve(asked=1, by="eve"), Waiting(reason="stale", control=1)),
        (Edit(plan=PLAN, by="eve"), Waiting(reason="the edited plan cannot run: a circle", control=1)),
    ],
)
async def test_what_others_say_in_vain_takes_the_editor_from_no_one(run: Run, others: tuple[Control, Waiting]) -> None:
    opened, written = asyncio.Event(), asyncio.Event()

    class Slow(Person):
        async def change(self, data: bytes) -> bytes:
            opened.set()
            await written.wait()
            return await super().change(data)

    reviewed = Reviewed(run, Slow("e", old="bikes", new="cars"))
    await reviewed.begin()
    await asyncio.wait_for(opened.wait(), LIMIT_S)
    await reviewed.take(*others)
    written.set()
    (edit,) = await reviewed.said(1)
    assert isinstance(edit, Edit)
    assert (edit.plan.tasks[0].intent, edit.asked, edit.by) == ("count the cars", 2, "ada")
    await reviewed.review.close()


async def test_an_edit_that_the_supervisor_refuses_is_gone_on_with(run: Run) -> None:
    person = Writer("e", "e", steps=[('"w"', '"ghost"'), ('"ghost"', '"v"')])
    reviewed = Reviewed(run, person)
    await reviewed.begin()
    (first,) = await reviewed.said(1)
    await reviewed.take(first, Waiting(reason="the edited plan cannot run: there is no ghost", control=1))
    _, second = await reviewed.said(2)
    assert isinstance(second, Edit)
    assert second.plan.tasks[0].worker == "v"
    assert '"ghost"' in person.shown[1]
    await reviewed.review.close()


async def test_a_person_who_goes_away_is_told_how_to_come_back(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    person = Person()
    reviewed = Reviewed(run, person)
    await reviewed.begin()
    async with asyncio.timeout(LIMIT_S):
        while person.stage != ["paused", "resumed"]:
            await asyncio.sleep(0)
    await reviewed.review.close()
    assert f"handoff approve {run.id[:8]}" in capsys.readouterr().err
    assert await reviewed.said(0) == []


async def test_a_person_is_told_why_the_plan_they_edited_cannot_run(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    reviewed = Reviewed(run, Person("e", "a", old='"w"', new='"ghost"'))
    await reviewed.begin()
    (edit,) = await reviewed.said(1)
    await reviewed.take(edit, Waiting(reason="the edited plan cannot run: there is no ghost", control=1))
    assert await reviewed.said(2) == [edit, Approve(revision=1, asked=2, by="ada")]
    await reviewed.review.close()
    assert capsys.readouterr().err.count("the edited plan cannot run: there is no ghost\n") == 1


async def store(bus: MemoryBus, run: Run, *messages: Event | Control) -> int:
    """Store messages of the run; the sequence of the last."""
    seq = 0
    for message in messages:
        is_said = isinstance(message, Edit | Reject | Approve)
        seq = await bus.publish((subjects.control if is_said else subjects.log)(run.id), codec.encode(message))
    return seq


async def test_what_was_said_about_an_earlier_plan_is_no_answer_to_an_edit(run: Run, bus: MemoryBus) -> None:
    request = Request(id=run.id, text="Why?", team="default", review=True)
    edit, circle = Edit(plan=PLAN), "the edited plan cannot run: a circle"
    await store(bus, run, Started(epoch=1, supervisor="s", request=request), Planned(plan=PLAN))
    await store(bus, run, edit, Waiting(reason=circle, control=1), Reject(comment="no"))
    await store(bus, run, PlanRejected(faults=("no",), reviewed=True), Planned(plan=PLAN))
    sent = await store(bus, run, edit)
    await store(bus, run, Approved(plan=PLAN, control=1))
    said = await asyncio.wait_for(outcome(run, edit, sent), LIMIT_S)
    assert said == ("goes on: another plan is approved (1 task)", 0)


@pytest.mark.parametrize("control", [Approve(), Reject(comment="no"), Edit(plan=PLAN)])
async def test_a_decision_that_came_second_is_told_as_such(run: Run, bus: MemoryBus, control: PlanControl) -> None:
    request = Request(id=run.id, text="Why?", team="default", review=True)
    await store(bus, run, Started(epoch=1, supervisor="s", request=request), Planned(plan=PLAN), Approve())
    sent = await store(bus, run, control)
    await store(bus, run, Approved(control=1))
    _, code = await asyncio.wait_for(outcome(run, control, sent), LIMIT_S)
    assert code == 1


async def test_a_control_that_turned_stale_on_its_way_is_told_as_such(run: Run, bus: MemoryBus) -> None:
    request = Request(id=run.id, text="Why?", team="default", review=True)
    asked = await store(bus, run, Started(epoch=1, supervisor="s", request=request), Planned(plan=PLAN))
    no = Reject(comment="no", asked=asked)
    await store(bus, run, no, PlanRejected(faults=("no",), reviewed=True), Planned(plan=PLAN))
    sent = await store(bus, run, yes := Approve(asked=asked))
    await store(bus, run, Waiting(reason="stale", control=1))
    said, code = await asyncio.wait_for(outcome(run, yes, sent), LIMIT_S)
    assert ("stale" in said, code) == (True, 2)


async def test_a_client_says_who_it_is_and_which_plan_it_saw(run: Run) -> None:
    await run.approve(asked=7, by="ada")
    await run.reject("no", asked=7, by="ada")
    await run.edit(PLAN, asked=7, by="ada")
    await run.cancel("enough", by="ada")
    assert [entry.message for entry in await run.past()] == [
        Approve(asked=7, by="ada"),
        Reject(comment="no", asked=7, by="ada"),
        Edit(plan=PLAN, asked=7, by="ada"),
        Cancel(reason="enough", by="ada"),
    ]
    with pytest.raises(InvalidError):
        await run.reject(" ")


def scripted(worker: str) -> dict[str, object]:
    intent = "list the three cities with the most charging incidents in August 2025"
    one = {"id": f"by-{worker}", "worker": worker, "intent": intent, "success": "three cities are named"}
    return {"goal": "Cities", "tasks": [one], "strategy": "merge"}


@pytest.fixture
def model(home: Path, tmp_path: Path) -> Generator[str]:
    """The address of a model that plans with the writer only when it is told to."""
    rules = [
        {"role": "planner", "contains": "ask the writer", "plan": scripted("writer")},
        {"role": "planner", "plan": scripted("researcher")},
        {"role": "worker", "text": "Oslo, Bergen, Voss."},
        {"role": "synthesizer", "text": "Oslo leads."},
    ]
    (tmp_path / "script.json").write_text(json.dumps(rules))
    process = Process(home, "model", "--script", "script.json", cwd=tmp_path)
    try:
        yield process.line().strip().rpartition(" ")[2].rpartition("=")[2]
    finally:
        process.close()


@pytest.mark.process
def test_a_plan_is_refused_edited_and_approved_from_another_terminal(home: Path, tmp_path: Path, model: str) -> None:
    more = {"ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": "none"}
    asking = Process(home, "ask", "--review", "Which cities lead?", cwd=tmp_path, more=more)
    try:
        line = asking.until_said("waits for approval: handoff approve ")
        run = line.partition("handoff approve ")[2].split()[0]
        refused = handoff(home, "approve", run, "--reject", "ask the writer", *PATIENT)
        assert (refused.code, refused.err) == (0, f"run {run} has planned anew (1 task), and waits for approval\n")
        assert handoff(home, "runs", "--json").data[0]["status"] == "review"
        first = line.partition("--asked ")[2].split()[0]
        stale = handoff(home, "approve", run, "--asked", first)
        shown = handoff(home, "show", run, "--json").data
        assert (stale.code, f"--asked {shown['asked']}" in stale.err) == (2, True)
        assert [each["kind"] for each in shown["controls"]] == ["reject"], "the stale approval was not even sent"
        assert (shown["controls"][0]["effect"], shown["controls"][0]["asked"]) == ("applied", int(first))
        circle = plan_json(task("a", "writer", "b"), task("b", "writer", "a")).encode()
        wrong = handoff(home, "approve", run, "--plan", "-", "--json", *PATIENT, stdin=circle)
        assert (wrong.code, "still waits: the edited plan cannot run" in wrong.err) == (2, True)
        assert (wrong.data["error"]["kind"], wrong.data["error"]["messages"][0] in wrong.err) == ("invalid", True)
        approved = handoff(home, "approve", run, "--asked", str(shown["asked"]), "--by", "ada  b", "--json", *PATIENT)
        assert (approved.code, approved.err) == (0, f"run {run} goes on: its plan is approved (1 task)\n")
        assert {name: approved.data[name] for name in ("run", "sent", "asked", "by")} == {
            "run": shown["run"],
            "sent": "approve",
            "asked": shown["asked"],
            "by": "ada b",
        }
        assert approved.data["sequence"] > shown["asked"]
        assert approved.data["outcome"]
        ended = asking.ended()
    finally:
        asking.close()
    assert (ended.code, "Oslo leads." in ended.out) == (0, True)
    assert "plan refused: the reviewer refused the plan: ask the writer" in ended.err
    assert "by-writer done by writer" in ended.err
    assert "by-researcher" not in ended.err
    assert "plan approved (by ada b)" in ended.err
