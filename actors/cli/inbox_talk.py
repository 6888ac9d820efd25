"""The talk between an inbox and the person before it: what comes is shown, what is typed becomes a result."""

import asyncio
import sys
from collections.abc import Sequence

from actors.bus.port import Bus
from actors.cli.inbox_words import HELP, Typed, news, row, understand, whole
from actors.cli.paper import Paper
from actors.cli.review import Change
from actors.cli.terminal import table
from actors.cli.typed_lines import TypedLines
from actors.cli.wording import count
from actors.clock import Clock
from actors.people.inbox import ASKS, Inbox
from actors.people.waits import OpenHandoff
from actors.settings import Settings
from protocol import subjects
from protocol.errors import InvalidError
from protocol.messages import ResultStatus
from protocol.subjects import TaskAddress

HEADERS = ["", "ref", "since", "left", "intent"]
END = "."
PROMPT = "> "


class Talk:
    """Numbers stay with a handoff for as long as the talk goes on."""

    def __init__(self, inbox: Inbox, paper: Paper, clock: Clock, by: str) -> None:
        self._inbox = inbox
        self._paper = paper
        self._clock = clock
        self._by = by
        self._numbers: dict[TaskAddress, int] = {}
        self._open: dict[int, OpenHandoff] = {}
        self._given: set[TaskAddress] = set()
        self._refreshing = asyncio.Lock()

    async def begin(self) -> None:
        """Show what is open already."""
        self._note(await self._inbox.open())
        self._list()

    async def watch(self, bus: Bus, settings: Settings, worker: str) -> None:
        """Show what comes and goes. What is heard says when to look; the stream is looked at now and then anyhow."""
        news = asyncio.Event()
        heard = [subjects.stored(subjects.work_of(kind, settings.team, worker)) for kind in ("task", "result")]
        async with bus.subscribe(heard[0], lambda _: news.set()), bus.subscribe(heard[1], lambda _: news.set()):
            while True:
                await self.refresh()
                alarm = asyncio.create_task(self._clock.sleep(settings.poll_s))
                wake = asyncio.create_task(news.wait())
                try:
                    await asyncio.wait({alarm, wake}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    alarm.cancel()
                    wake.cancel()
                news.clear()

    async def refresh(self) -> None:
        """Look what is open now, and tell the difference."""
        async with self._refreshing:
            before = dict(self._open)
            self._note(await self._inbox.open())
            for number, item in self._open.items():
                if number not in before:
                    self._paper.say_briefly(news(number, item, self._inbox.now()))
            for number, item in before.items():
                if number not in self._open and item.address not in self._given:
                    self._paper.say(f"{number} is not open any more: {await self._inbox.fate(item.address)}")

    async def serve(self, lines: TypedLines, change: Change) -> None:
        """Do what is typed, until the person leaves or there is nothing more to read."""
        while True:
            typed = understand(await lines.line(PROMPT))
            if typed is None:
                self._paper.say("type a number, `a N TEXT`, `d N REASON`, `m N QUESTION`, or ? for help")
            elif typed.verb == "quit":
                return
            else:
                try:
                    await self._do(typed, lines, change)
                except InvalidError as error:
                    self._paper.say("\n".join(error.faults))

    async def _do(self, typed: Typed, lines: TypedLines, change: Change) -> None:
        match typed.verb:
            case "list":
                await self.refresh()
                self._list()
            case "help":
                self._paper.say(HELP)
            case "show":
                self._show(self._meant(typed.item))
            case "answer":
                item = self._meant(typed.item)
                await self._give(item, "completed", typed.text or await self._several(lines))
            case "edit":
                item = self._meant(typed.item)
                await self._give(item, "completed", await self._edited(change))
            case "decline":
                await self._give(self._meant(typed.item), "declined", typed.text)
            case "ask":
                await self._give(self._meant(typed.item), "declined", ASKS + typed.text)
            case "quit":
                pass

    async def _give(self, item: OpenHandoff, status: ResultStatus, text: str) -> None:
        if not text.strip():
            self._paper.say("nothing was said: it stays open")
            return
        number = self._numbers[item.address]
        self._given.add(item.address)  # what is being looked up at this moment may not know it yet
        self._open.pop(number, None)
        before = await self._inbox.give(item, status, text, self._by)
        if before is None:
            self._paper.say(f"{number} {item.ref}: {status}; {count(len(self._open), 'handoff')} open")
        else:
            self._paper.say(f"{number} {item.ref}: somebody was first, {await self._inbox.fate(item.address)}")

    async def _several(self, lines: TypedLines) -> str:
        said: list[str] = []
        self._paper.say(f"your answer, ended by a line of one dot ({END} alone: never mind)")
        while True:
            for line in (await lines.line()).split("\n"):
                if line == END:
                    return "\n".join(said)
                said.append(line)

    async def _edited(self, change: Change) -> str:
        self._paper.put_away()
        try:
            return (await change(b"")).decode(errors="replace").strip()
        finally:
            self._paper.bring_back()

    def _meant(self, name: str) -> OpenHandoff:
        found = [item for n, item in self._open.items() if name in (str(n), item.ref)]
        if len(found) != 1:
            raise InvalidError([f"there is no handoff {name} in the list: Enter shows what is open"])
        return found[0]

    def _note(self, items: Sequence[OpenHandoff]) -> None:
        for item in items:
            self._numbers.setdefault(item.address, len(self._numbers) + 1)
        self._open = {self._numbers[item.address]: item for item in items if item.address not in self._given}

    def _show(self, item: OpenHandoff) -> None:
        number = self._numbers[item.address]
        how = f"a {number} TEXT answers, d {number} REASON declines, m {number} QUESTION asks for more"
        self._paper.say(f"{whole(item, self._inbox.now())}\n({how})")

    def _list(self) -> None:
        if self._open:
            now = self._inbox.now()
            table(HEADERS, [row(number, item, now) for number, item in self._open.items()])
            sys.stdout.flush()
        else:
            self._paper.say("nothing is open")
