"""Following a run to its end: whatever happens to the bus meanwhile, and whatever the person wants."""

import asyncio
import contextlib
import sys
from collections.abc import Sequence
from typing import Protocol

from actors.bus.port import Bus, Stored
from actors.cli.confirm import Confirming
from actors.cli.interrupt import Interrupt
from actors.cli.lines import Lines
from actors.cli.progress import Progress
from actors.cli.review import Review, ask_terminal, change_in_editor
from actors.cli.terminal import console, is_screen
from actors.cli.who import who
from actors.record import Recorded
from actors.remote_run import Run
from actors.run.limits import Limits
from actors.settings import Settings
from protocol import streams, subjects
from protocol.messages import Answer

TICK_S = 0.125
PROBE_S = 1.0
AWAY_S = 2.0
CANCEL_S = 5.0


class View(Protocol):
    """Something that shows a run."""

    def open(self) -> None:
        """Begin."""
        ...

    def close(self) -> None:
        """End, and leave what is to stay."""
        ...

    def take(self, entry: Recorded) -> None:
        """Show one message of the record."""
        ...

    def hear(self, text: str) -> None:
        """Show a piece of the answer while it is written."""
        ...

    def pause(self) -> None:
        """Leave the terminal to a person who is asked something."""
        ...

    def resume(self) -> None:
        """Take the terminal back."""
        ...

    def note(self, text: str) -> None:
        """Show something that is not in the record."""
        ...

    def away(self, is_away: bool) -> None:
        """Show that the bus is away, or back."""
        ...

    def tick(self) -> None:
        """Show that time passes."""
        ...


def view_of(settings: Settings, text: str, *, plain: bool) -> View:
    """A screen on a terminal, else lines."""
    progress = Progress(Limits(attempts=settings.attempts))
    if plain or not is_screen(sys.stderr):
        return Lines(progress)
    from actors.cli.screen import Screen

    return Screen(progress, text, console(sys.stderr))


class Asker(Protocol):
    """Something that asks the person at the terminal when the run waits for one."""

    async def take(self, entry: Recorded) -> None:
        """Take in one message of the record."""
        ...

    async def close(self) -> None:
        """Ask no more."""
        ...


def askers_of(run: Run, view: View) -> list[Asker]:
    """Those who ask the person at the terminal, about the plan and about tools; none if there is no person."""
    if sys.stdin.isatty() and sys.stderr.isatty():
        by = who(None)
        return [Review(run, view, ask_terminal, change_in_editor, by), Confirming(run, view, ask_terminal, by)]
    return []


async def follow(run: Run, bus: Bus, view: View, interrupt: Interrupt) -> Answer | None:
    """Show the run until it ends; on the first wish of the person, cancel it. None if it did not end in time then."""
    askers = askers_of(run, view)
    watch = asyncio.create_task(_watch(run, view, askers))
    others = [asyncio.create_task(work) for work in (_tick(view), _probe(bus, run, view), _hear(bus, run, view))]
    view.open()
    try:
        if not await interrupt.before(watch):
            return watch.result()
        view.note("interrupted: cancelling the run (Ctrl-C again to leave at once)")
        heard = False
        try:
            async with asyncio.timeout(CANCEL_S):
                await run.cancel("interrupted by the user", by=who(None))
                heard = True
                return await watch
        except TimeoutError:
            if not heard:
                view.note(f"the bus is away: the run goes on when it is back; then: handoff cancel {run.id[:8]}")
            return None
    finally:
        for task in (watch, *others):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        for asker in askers:
            await asker.close()
        view.close()


async def _watch(run: Run, view: View, askers: Sequence[Asker]) -> Answer:
    async for entry in run.record():
        view.take(entry)
        for asker in askers:
            await asker.take(entry)
    return await run.answer()


async def _hear(bus: Bus, run: Run, view: View) -> None:
    """Show the answer as it is written; nothing of it is kept, and nobody waits for it."""

    def heard(stored: Stored) -> None:
        view.hear(stored.data.decode(errors="replace"))

    async with bus.subscribe(subjects.answer_tokens(run.id), heard):
        await asyncio.Event().wait()


async def _tick(view: View) -> None:
    while True:
        await asyncio.sleep(TICK_S)
        view.tick()


async def _probe(bus: Bus, run: Run, view: View) -> None:
    """Say so when the bus is away and when it is back; the run goes on by itself."""
    away = False
    while True:
        await asyncio.sleep(PROBE_S)
        try:
            async with asyncio.timeout(AWAY_S):
                await bus.last(streams.RUNS, [subjects.log(run.id)])
        except TimeoutError:
            if not away:
                view.away(True)
            away = True
        else:
            if away:
                view.away(False)
            away = False
