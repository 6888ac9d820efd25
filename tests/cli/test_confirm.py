"""A call of a tool that waits: how it is shown, what a person says, and who asks them."""

import asyncio
from collections.abc import AsyncGenerator

import msgspec
import pytest
from waiting import LIMIT_S

from actors.bus.memory import MemoryBus, MemoryServer
from actors.cli.confirm import Confirming, control_for, decision, described, exact, shown, told
from actors.cli.settling import Word, meant
from actors.client import Client
from actors.clock import SystemClock
from actors.people.waits import OpenCall
from actors.record import Entry, Recorded
from actors.remote_run import Run
from actors.settings import Settings
from actors.worker.confirmation import Question
from protocol import subjects
from protocol.controls import Approve, Control, Reject
from protocol.errors import InvalidError
from protocol.events import Planned, Started
from protocol.ids import RunId, new_run_id
from protocol.messages import Handoff, Plan, Request, Task
from protocol.steps import ConfirmAsked, Confirmed
from protocol.subjects import TaskAddress

RUN = RunId("ab" * 16)


def asked(call: str = "c1", arguments: bytes = b'{"to":"ada"}') -> ConfirmAsked:
    return ConfirmAsked(call=call, tool="send", arguments=msgspec.Raw(arguments), deadline=4e9)


def waiting(call: str = "c1", task: str = "t") -> OpenCall:
    address = TaskAddress(RUN, "default", "clerk", task, 1)
    return OpenCall(address=address, question=Question(task=task, seq=7, asked=asked(call)))


class Person:
    """Says these lines, one for each question; silent, or gone, when there are no more."""

    def __init__(self, *lines: str, stays: bool = False) -> None:
        self._lines = list(lines)
        self._stays = stays
        self.asked = 0

    async def ask(self, question: str) -> str:
        self.asked += 1
        if self._lines:
            return self._lines.pop(0)
        if self._stays:
            await asyncio.Event().wait()
        raise EOFError

    def pause(self) -> None:
        pass

    def resume(self) -> None:
        pass


async def test_what_a_person_types_becomes_a_word_about_exactly_that_call() -> None:
    call = waiting()
    assert await decision(call, Person("what?", "", "Yes").ask, "ada") == Approve(
        task="t", call="c1", asked=7, by="ada"
    )
    no = Reject(task="t", call="c1", asked=7, by="ada", comment="too early")
    for typed in (["n", " too early \n"], ["n too early"], ["No, too early"]):
        assert await decision(call, Person(*typed).ask, "ada") == no


async def test_a_call_is_allowed_by_a_yes_alone() -> None:
    for doubt in ("yikes", "yet again?", "you must be joking", "yes but not to them", "y?", "never mind"):
        said = await decision(waiting(), Person(doubt, "no", "not now").ask, "ada")
        assert said == Reject(task="t", call="c1", asked=7, by="ada", comment="not now")


def test_a_call_is_shown_with_the_arguments_it_would_run_with() -> None:
    said = described(waiting(), 4e9 - 90)
    assert said == 't (clerk) wants to run send; without a word it is denied in 1m30s:\n{\n  "to": "ada"\n}'


def test_nothing_hides_in_the_arguments() -> None:
    hidden = '{"to":"ada\u202e\u200b","x":"\\u001b[2J"}'.encode()
    text = shown(msgspec.Raw(hidden))
    assert "ada\\u202e\\u200b" in text
    assert "\\u001b[2J" in text
    assert "\x1b" not in text
    assert exact("a\x07b\nc") == "a\\u0007b\nc"


def test_arguments_too_long_to_read_are_cut_with_a_word_where_to_find_them() -> None:
    text = shown(msgspec.Raw(b'"' + b"x" * 9000 + b'"'))
    assert len(text) < 4200
    assert text.endswith("more characters: handoff inbox --json shows all]")


def test_the_call_that_is_meant_must_be_clear() -> None:
    several = [waiting("c1"), waiting("c2"), waiting("c1", "u")]
    assert meant(several, Word(task="t", call="c2", denied=None, by="ada"), RUN) is several[1]
    assert meant(several, Word(task="u", call=None, denied=None, by="ada"), RUN) is several[2]
    with pytest.raises(InvalidError, match="several calls wait"):
        meant(several, Word(task="t", call=None, denied=None, by="ada"), RUN)
    with pytest.raises(InvalidError, match="no such call of task t waits"):
        meant([], Word(task="t", call=None, denied=None, by="ada"), RUN)


def test_a_word_about_a_question_that_waits_no_more_is_not_sent() -> None:
    now = waiting("c1")
    seen = Word(task="t", call="c1", asked=now.question.seq, denied=None, by="ada")
    assert meant([now], seen, RUN) is now
    with pytest.raises(InvalidError, match=f"--asked {now.question.seq}"):
        meant([now], Word(task="t", call="c1", asked=now.question.seq - 1, denied=None, by="ada"), RUN)


@pytest.fixture
async def run() -> AsyncGenerator[Run]:
    bus = MemoryBus(MemoryServer(Settings(), SystemClock()))
    yield Client(bus, settings=Settings()).run(new_run_id())
    await bus.close()


class Followed:
    """A run that a person follows, told message by message."""

    def __init__(self, run: Run, person: Person) -> None:
        self.confirming = Confirming(run, person, person.ask, "ada")
        self._run = run
        self._seq = 0
        self._address = TaskAddress(run.id, "default", "clerk", "t", 1)

    async def take(self, *messages: Entry) -> None:
        for message in messages:
            self._seq += 1
            entry = Recorded(seq=self._seq, time=1.0, subject=self._subject(message), message=message)
            await self.confirming.take(entry)

    async def begin(self) -> None:
        plan = Plan(tasks=(Task(id="t", worker="clerk", intent="send"),))
        request = Request(id=self._run.id, text="x", team="default")
        handoff = Handoff(run=self._run.id, task="t", attempt=1, from_agent="s", to_agent="clerk", intent="send")
        await self.take(Started(epoch=1, supervisor="s", request=request), Planned(plan=plan), handoff)

    async def said(self, count: int) -> list[Control]:
        async with asyncio.timeout(LIMIT_S):
            while len(found := [entry.message for entry in await self._run.past()]) < count:
                await asyncio.sleep(0)
        return [one for one in found if isinstance(one, Approve | Reject)]

    def _subject(self, message: Entry) -> str:
        match message:
            case Handoff():
                return self._address.handoff
            case ConfirmAsked() | Confirmed():
                return self._address.steps
            case Approve() | Reject():
                return subjects.control(self._run.id)
            case _:
                return subjects.log(self._run.id)


async def test_a_person_is_asked_about_each_call_one_after_the_other(run: Run) -> None:
    followed = Followed(run, Person("y", "n", "never"))
    await followed.begin()
    await followed.take(asked("c1"), asked("c2"))
    (first,) = await followed.said(1)
    assert first == Approve(task="t", call="c1", asked=4, by="ada")
    await followed.take(first)
    assert await followed.said(2) == [first, Reject(task="t", call="c2", asked=5, by="ada", comment="never")]
    await followed.confirming.close()


async def test_a_call_that_somebody_else_settles_is_asked_about_no_more(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    person = Person(stays=True)
    followed = Followed(run, person)
    await followed.begin()
    for settled, words in (
        (Reject(task="t", call="c1", by="bob", comment="too early"), "bob has said no: too early"),
        (Confirmed(call="c1", tool="send", granted=False, comment="nobody answered in time"), "denied by default"),
    ):
        before = person.asked
        await followed.take(asked("c1"))
        async with asyncio.timeout(LIMIT_S):
            while person.asked == before:
                await asyncio.sleep(0)
        await followed.take(settled)
        assert words in capsys.readouterr().err
        await followed.take(Confirmed(call="c1", tool="send", granted=False))
    assert await followed.said(0) == []


async def test_a_person_who_goes_away_is_told_how_to_come_back(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    followed = Followed(run, Person())
    await followed.begin()
    await followed.take(asked("c1"))
    said = ""
    async with asyncio.timeout(LIMIT_S):
        while "it waits" not in said:
            await asyncio.sleep(0)
            said += capsys.readouterr().err
    await followed.confirming.close()
    assert f"handoff approve {run.id[:8]} --task t --call c1" in said


def test_each_step_about_a_call_is_told_on_a_line() -> None:
    steps = TaskAddress(RUN, "default", "clerk", "t", 1).steps

    def line(message: Entry) -> str | None:
        return told(Recorded(seq=1, time=1.0, subject=steps, message=message))

    how = "handoff approve abababab --task t --call c1 --asked 1 (or --deny COMMENT)"
    assert line(asked()) == f"t waits to run send: {how}"
    assert line(Confirmed(call="c1", tool="send", granted=True, by="ada")) == "t: send allowed by ada"
    no = Confirmed(call="c1", tool="send", granted=False, comment="nobody answered in time")
    assert line(no) == "t: send denied by default: nobody answered in time"
    assert line(Approve()) is None


def test_a_control_names_the_question_that_was_seen() -> None:
    assert control_for(waiting(), "ada", "") == Reject(task="t", call="c1", asked=7, by="ada", comment="")
