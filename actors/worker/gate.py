"""The gate in front of a tool that a person must allow: asks, waits, and stores what came of it.

Republish for speed, stream for truth: what is heard only says that it is time to look. The deadline is the one that was
stored with the question, so whoever takes over waits no longer than the first would have.
"""

import asyncio
from typing import Any

import msgspec

from actors.bus.port import Bus, Stored
from actors.clock import Clock
from actors.settings import Settings
from actors.worker.confirmation import Question, Said, answered, denial, standing, unanswered
from actors.worker.ending import Over
from actors.worker.logbook import Logbook
from actors.worker.moves import arguments_of
from observability.logger import get_logger
from protocol import codec, streams, subjects
from protocol.controls import Cancel
from protocol.errors import UndecodableError
from protocol.messages import Handoff
from protocol.steps import ConfirmAsked, Confirmed

log = get_logger()

LOOK_S = 1.0
"""How long the stream is not looked at while nothing is heard: a cancel, too, is noticed within that time."""


class Gate:
    """Lets the calls of one task pass that a person has allowed."""

    def __init__(self, bus: Bus, clock: Clock, settings: Settings) -> None:
        self._bus = bus
        self._clock = clock
        self._wait_s = settings.confirm_s

    async def denied(
        self, use: dict[str, Any], handoff: Handoff, logbook: Logbook, stopping: asyncio.Event
    ) -> str | None:
        """Why the call must not run; empty if it may, None if the process is to stop before anybody has said."""
        found = standing(logbook.steps, use["id"])
        if found is None:
            found = ConfirmAsked(
                call=use["id"],
                tool=use["name"],
                arguments=msgspec.Raw(msgspec.json.encode(arguments_of(use))),
                deadline=self._deadline(handoff),
            )
            await logbook.write(found)
            log.info("confirm.asked", run=handoff.run, task=handoff.task, tool=found.tool)
        if isinstance(found, ConfirmAsked):
            question = Question(task=handoff.task, seq=logbook.place_of(found), asked=found)
            found = await self._answer(handoff.run, question, logbook, stopping)
            if found is None:
                return None
            await logbook.write(found)
            log.info("confirm.settled", run=handoff.run, task=handoff.task, tool=found.tool, granted=found.granted)
        return denial(found)

    def _deadline(self, handoff: Handoff) -> float:
        ends = self._bus.now() + self._wait_s
        return ends if handoff.deadline is None else min(ends, handoff.deadline)

    async def _answer(
        self, run: str, question: Question, logbook: Logbook, stopping: asyncio.Event
    ) -> Confirmed | None:
        news = asyncio.Event()
        subject = subjects.stored(subjects.control(run))
        async with self._bus.subscribe(subject, lambda _: news.set()):
            while not stopping.is_set():
                news.clear()
                now = self._bus.now()  # before the look: what came in time is seen by it
                said = await self._said(run, question)
                if not await logbook.still_ours() or any(isinstance(one.control, Cancel) for one in said):
                    raise Over
                if found := answered(question, said):
                    return found
                if now >= question.asked.deadline:
                    return unanswered(question.asked)
                await self._pause(min(LOOK_S, question.asked.deadline - now), news, stopping)
        return None

    async def _said(self, run: str, question: Question) -> list[Said]:
        stored = await self._bus.read(streams.RUNS, subjects.control(run), after=question.seq)
        return [said for message in stored if (said := _readable(message))]

    async def _pause(self, seconds: float, *events: asyncio.Event) -> None:
        """Wait for that long, or until something happens."""
        waits = [asyncio.create_task(event.wait()) for event in events]
        alarm = asyncio.create_task(self._clock.sleep(seconds))
        try:
            await asyncio.wait([*waits, alarm], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in (*waits, alarm):
                wait.cancel()


def _readable(stored: Stored) -> Said | None:
    try:
        return Said(seq=stored.seq, time=stored.time, control=codec.decode_control(stored.data))
    except UndecodableError:
        return None
