"""Following a run on a bus in memory: each message once, whatever happens to the bus."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator

import pytest
from waiting import LIMIT_S

from actors.bus.memory.bus import MemoryBus
from actors.bus.memory.server import MemoryServer
from actors.bus.port import Stored
from actors.cli import follow as following
from actors.cli.follow import follow
from actors.cli.interrupt import Interrupt, InterruptedByUser, interruptible
from actors.client import Client
from actors.clock import SystemClock
from actors.record import Recorded
from actors.remote_run import Run
from actors.settings import Settings
from protocol import codec, streams, subjects
from protocol.controls import Cancel
from protocol.events import Event, Finished, Started
from protocol.ids import RunId, new_run_id
from protocol.messages import Answer, Request

SETTINGS = Settings()


class Notebook:
    """A view that keeps what it is shown."""

    def __init__(self) -> None:
        self.entries: list[Recorded] = []
        self.notes: list[str] = []
        self.heard = ""
        self.news = asyncio.Event()
        self.is_open = False

    def open(self) -> None:
        self.is_open = True

    def close(self) -> None:
        self.is_open = False

    def take(self, entry: Recorded) -> None:
        self.entries.append(entry)
        self.news.set()

    def hear(self, text: str) -> None:
        self.heard += text
        self.news.set()

    def pause(self) -> None:
        self.note("paused")

    def resume(self) -> None:
        self.note("resumed")

    def note(self, text: str) -> None:
        self.notes.append(text)
        self.news.set()

    def away(self, is_away: bool) -> None:
        self.note("away" if is_away else "back")

    def tick(self) -> None:
        pass

    async def until_noted(self, text: str) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not any(text in note for note in self.notes):
                self.news.clear()
                await self.news.wait()


class LateReader(MemoryBus):
    """A bus on which something is stored right before it is read: it is heard and read at the same time."""

    async def read(self, stream: str, subject: str, *, after: int = 0, limit: int = 0) -> list[Stored]:
        if not after and stream == streams.RUNS:
            await write(self, subjects.run_of(subject), Started(epoch=1, supervisor="s", request=Request()))
        return await super().read(stream, subject, after=after, limit=limit)


async def write(bus: MemoryBus, run: RunId, event: Event) -> None:
    await bus.publish(subjects.log(run), codec.encode(event))


async def finish(bus: MemoryBus, run: RunId, status: str = "complete") -> None:
    answer = Answer(run=run, status="cancelled" if status == "cancelled" else "complete")
    await write(bus, run, Finished(answer=answer))


@pytest.fixture
def server() -> MemoryServer:
    return MemoryServer(SETTINGS, SystemClock())


@pytest.fixture
async def bus(server: MemoryServer) -> AsyncGenerator[MemoryBus]:
    bus = LateReader(server)
    yield bus
    await bus.close()


@pytest.fixture
def run(bus: MemoryBus) -> Run:
    return Client(bus, settings=SETTINGS).run(new_run_id())


async def test_what_is_read_and_heard_is_shown_once(bus: MemoryBus, run: Run) -> None:
    view = Notebook()
    task = asyncio.create_task(follow(run, bus, view, Interrupt()))
    async with asyncio.timeout(LIMIT_S):
        while not view.entries:
            await view.news.wait()
        await finish(bus, run.id)
        answer = await task
    assert answer is not None
    assert answer.status == "complete"
    assert [type(entry.message) for entry in view.entries] == [Started, Finished]
    assert not view.is_open


async def test_the_answer_is_heard_while_it_is_written(bus: MemoryBus, run: Run) -> None:
    view = Notebook()
    task = asyncio.create_task(follow(run, bus, view, Interrupt()))
    async with asyncio.timeout(LIMIT_S):
        while not view.entries:
            await view.news.wait()
        for piece in ("It ", "grows", " ☂"):
            await bus.emit(subjects.answer_tokens(run.id), piece.encode())
        await bus.emit(subjects.tokens(run.id, "t1"), b"not the answer")
        while view.heard != "It grows ☂":
            view.news.clear()
            await view.news.wait()
        await finish(bus, run.id)
        await task
    assert view.heard == "It grows ☂"


async def test_a_bus_that_is_away_is_told_and_the_run_goes_on_when_it_is_back(
    server: MemoryServer, bus: MemoryBus, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "PROBE_S", 0.01)
    monkeypatch.setattr(following, "AWAY_S", 0.05)
    view = Notebook()
    task = asyncio.create_task(follow(run, bus, view, Interrupt()))
    server.down()
    await view.until_noted("away")
    server.restart()
    await view.until_noted("back")
    await finish(bus, run.id)
    async with asyncio.timeout(LIMIT_S):
        answer = await task
    assert answer is not None
    assert view.notes == ["away", "back"]


async def test_the_first_wish_cancels_the_run_and_waits_for_its_end(bus: MemoryBus, run: Run) -> None:
    view = Notebook()
    task = asyncio.create_task(follow(run, bus, view, Interrupt()))
    await asyncio.sleep(0)
    os.kill(os.getpid(), signal.SIGINT)
    await view.until_noted("cancelling the run")
    await finish(bus, run.id, "cancelled")
    async with asyncio.timeout(LIMIT_S):
        answer = await task
    assert answer is not None
    assert answer.status == "cancelled"
    controls = await bus.read(streams.RUNS, subjects.control(run.id))
    assert [type(codec.decode_control(stored.data)) for stored in controls] == [Cancel]


async def test_a_run_that_does_not_end_is_left_after_a_while(
    bus: MemoryBus, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "CANCEL_S", 0.05)
    task = asyncio.create_task(follow(run, bus, Notebook(), Interrupt()))
    await asyncio.sleep(0)
    os.kill(os.getpid(), signal.SIGTERM)
    async with asyncio.timeout(LIMIT_S):
        assert await task is None


def test_work_that_is_guarded_is_undone_when_the_wish_comes() -> None:
    undone: list[str] = []

    async def work() -> int:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(30)
        finally:
            undone.append("work")
        return 0

    async def main(interrupt: Interrupt) -> int:
        with pytest.raises(InterruptedByUser):
            await interrupt.guard(work())
        return 7 if interrupt.wished else 0

    assert interruptible(main) == 7
    assert undone == ["work"]


def test_the_second_wish_ends_everything() -> None:
    async def main(interrupt: Interrupt) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        await interrupt.comes()
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(30)
        return 0

    assert interruptible(main) == 130


def test_what_guarded_work_gives_or_raises_comes_through() -> None:
    async def five() -> int:
        return 5

    async def broken() -> int:
        raise ZeroDivisionError

    async def main(interrupt: Interrupt) -> int:
        with pytest.raises(ZeroDivisionError):
            await interrupt.guard(broken())
        return await interrupt.guard(five())

    assert interruptible(main) == 5
