"""The talk between an inbox and a person, on the in-memory bus, with lines from a pipe."""

import asyncio
import os
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
from waiting import LIMIT_S

from actors.bus.memory import MemoryBus, MemoryServer
from actors.cli.inbox_talk import Talk
from actors.cli.line_reader import LineReader
from actors.cli.paper import Paper
from actors.clock import SystemClock
from actors.people.inbox import Inbox
from actors.settings import Settings
from protocol import codec, subjects
from protocol.events import Planned, Started
from protocol.ids import RunId, new_run_id
from protocol.messages import Handoff, Plan, Request, Task
from protocol.subjects import TaskAddress

SETTINGS = Settings(poll_s=0.02)


class Room:
    """An inbox with handoffs in it, and a person who has typed everything in advance."""

    def __init__(self, bus: MemoryBus, *, is_terminal: bool = False) -> None:
        self.bus = bus
        self.run = RunId(new_run_id())
        self.inbox = Inbox(bus, "default", "counsel")
        self.talk = Talk(self.inbox, Paper(is_terminal=is_terminal), SystemClock(), "ada")
        self.edited = b""

    async def hand_out(self, *names: str) -> None:
        tasks = tuple(Task(id=name, worker="counsel", intent=f"check {name}") for name in names)
        request = Request(id=self.run, text="x", team="default")
        log = subjects.log(self.run)
        await self.bus.publish(log, codec.encode(Started(epoch=1, supervisor="s", request=request)))
        await self.bus.publish(log, codec.encode(Planned(plan=Plan(tasks=tasks))))
        for name in names:
            handoff = Handoff(
                run=self.run, task=name, attempt=1, from_agent="s", to_agent="counsel", intent=f"check {name}"
            )
            await self.bus.publish(self.address(name).handoff, codec.encode(handoff), expect=0)

    def address(self, name: str) -> TaskAddress:
        return TaskAddress(self.run, "default", "counsel", name, 1)

    async def type(self, *lines: str) -> None:
        reading, writing = os.pipe()
        try:
            os.write(writing, "".join(f"{line}\n" for line in lines).encode())
            os.close(writing)
            await self.talk.serve(LineReader(reading), self.change)
        except EOFError:
            pass
        finally:
            os.close(reading)

    async def change(self, data: bytes) -> bytes:
        return self.edited

    async def outcome(self, name: str) -> tuple[str, str, str] | None:
        result = await self.inbox.result(self.address(name))
        return (result.status, result.output, result.instance) if result else None


@pytest.fixture
async def room() -> AsyncGenerator[Room]:
    bus = MemoryBus(MemoryServer(Settings(), SystemClock()))
    yield Room(bus)
    await bus.close()


async def test_what_is_typed_becomes_a_result(room: Room) -> None:
    await room.hand_out("one", "two", "three", "four", "five")
    await room.talk.begin()
    room.edited = b"written in\nan editor\n"
    await room.type("a 1 fine", "d 2 not mine", "m 3 which one?", "a 4", "two", "lines", ".", "e 5")
    assert await room.outcome("one") == ("completed", "fine", "ada")
    assert await room.outcome("two") == ("declined", "not mine", "ada")
    assert await room.outcome("three") == ("declined", "asks for more: which one?", "ada")
    assert await room.outcome("four") == ("completed", "two\nlines", "ada")
    assert await room.outcome("five") == ("completed", "written in\nan editor", "ada")


async def test_what_makes_no_sense_changes_nothing(room: Room, capsys: pytest.CaptureFixture[str]) -> None:
    await room.hand_out("one")
    await room.talk.begin()
    await room.type("hello", "a 9 x", "a 1", ".", "e 1", "?", "1", "q", "a 1 too late")
    said = capsys.readouterr().out
    for words in ("? for help", "no handoff 9", "it stays open", "leave; what is open stays open", "check one"):
        assert words in said
    assert await room.outcome("one") is None


async def test_whoever_is_second_is_told_what_the_first_has_said(
    room: Room, capsys: pytest.CaptureFixture[str]
) -> None:
    await room.hand_out("one")
    await room.talk.begin()
    (item,) = await room.inbox.open()
    await room.inbox.give(item, "completed", "fine", "bob")
    await room.type("a 1 not fine")
    assert "somebody was first, completed by bob: fine" in capsys.readouterr().out
    assert await room.outcome("one") == ("completed", "fine", "bob")


async def test_what_comes_and_goes_is_told_under_numbers_that_stay(
    room: Room, capsys: pytest.CaptureFixture[str]
) -> None:
    await room.talk.begin()
    watch = asyncio.create_task(room.talk.watch(room.bus, SETTINGS, "counsel"))
    said = ""
    try:
        await room.hand_out("one", "two")
        async with asyncio.timeout(LIMIT_S):
            while "new: 2" not in said:
                await asyncio.sleep(0.01)
                said += capsys.readouterr().out
            (first, _) = await room.inbox.open()
            await room.inbox.give(first, "completed", "fine", "bob")
            while "1 is not open any more: completed by bob: fine" not in said:
                await asyncio.sleep(0.01)
                said += capsys.readouterr().out
    finally:
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)
    await room.type("a 2 fine too")
    assert await room.outcome("two") == ("completed", "fine too", "ada")
    assert f"new: 1 · {room.run[:8]}/one · check one" in said


@pytest.fixture
def pipe() -> Generator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)


async def test_lines_are_read_as_they_come_and_the_last_needs_no_end(pipe: tuple[int, int]) -> None:
    reader = LineReader(pipe[0])
    os.write(pipe[1], b"one\r\ntwo\nth")
    assert [await reader.line(), await reader.line()] == ["one", "two"]
    waiting = asyncio.create_task(reader.line())
    await asyncio.sleep(0)
    os.write(pipe[1], b"ree")
    os.close(pipe[1])
    assert await waiting == "three"
    with pytest.raises(EOFError):
        await reader.line()


async def test_a_file_and_nothing_at_all_can_be_read_too(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"one\n\xff\n")
    opened, nothing = os.open(file, os.O_RDONLY), os.open(os.devnull, os.O_RDONLY)
    try:
        reader = LineReader(opened)
        assert [await reader.line(), await reader.line()] == ["one", "\ufffd"]
        with pytest.raises(EOFError):
            await LineReader(nothing).line()
    finally:
        os.close(opened)
        os.close(nothing)


def test_lines_wait_while_an_editor_has_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    paper = Paper(is_terminal=True)
    paper.say("news")
    assert capsys.readouterr().out == "news\n"
    paper.put_away()
    paper.say("later")
    assert capsys.readouterr().out == ""
    paper.bring_back()
    assert capsys.readouterr().out == "later\n"


class Pasted:
    """A terminal where several lines are pasted at once."""

    def __init__(self, *texts: str) -> None:
        self._texts = list(texts)

    async def line(self, prompt: str = "") -> str:
        if not self._texts:
            raise EOFError
        return self._texts.pop(0)


async def test_a_pasted_text_is_one_answer_with_its_lines(room: Room) -> None:
    await room.hand_out("one", "two")
    await room.talk.begin()
    with pytest.raises(EOFError):
        await room.talk.serve(Pasted("a 1 first\nsecond", "a 2", "third\nfourth\n.\n"), room.change)
    assert await room.outcome("one") == ("completed", "first\nsecond", "ada")
    assert await room.outcome("two") == ("completed", "third\nfourth", "ada")
