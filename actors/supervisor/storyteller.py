"""The storyteller: reads back the runs that ended here, for whoever listens. Never in the way of a run."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping

import msgspec

from actors.bus.port import Bus
from actors.clock import Clock
from actors.record import Recorded, complete_run
from observability import live
from observability.logger import get_logger

FINISH_S = 2.0
LONGEST_S = 5.0
PATIENCE_S = 0.5
GLANCE_S = 0.02
LOOKS = 2

log = get_logger()


class Story(msgspec.Struct, frozen=True):
    """A run whose answer is stored; `told` comes to pass once nobody need wait for it to be told."""

    run: str
    results: Mapping[str, Recorded]
    ended_at: float
    told: "asyncio.Future[None]"

    def close(self) -> None:
        """It is told, or never will be."""
        if not self.told.done():
            self.told.set_result(None)


class Storyteller:
    """Takes one run after the other, so that many that end at once don't hold up those that go on.

    It waits for a moment when no run is under way here (`busy` says so), but not longer than `PATIENCE_S`.
    """

    def __init__(self, bus: Bus, clock: Clock, busy: Callable[[], bool]) -> None:
        self._bus = bus
        self._clock = clock
        self._busy = busy
        self._ended: asyncio.Queue[Story] = asyncio.Queue()

    def ended(self, run: str, results: Mapping[str, Recorded]) -> Story | None:
        """The answer of a run is stored: tell it; these results were heard. None if nobody listens."""
        if not live.listening():
            return None
        live.run_answered(run)
        story = Story(run, results, self._clock.monotonic(), asyncio.get_running_loop().create_future())
        self._ended.put_nowait(story)
        return story

    async def until_told(self, story: Story, stopping: asyncio.Event) -> None:
        """Wait for it, but not for long, nor while the process is stopping: that tells what is left by itself."""
        stopped = asyncio.create_task(stopping.wait())
        try:
            await asyncio.wait({story.told, stopped}, timeout=LONGEST_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()

    async def run(self) -> None:
        """Tell stories for ever."""
        while True:
            story = await self._ended.get()
            try:
                await self._quiet(story.ended_at + PATIENCE_S)
                live.run_ended(story.run, await complete_run(self._bus, story.run, story.results), _closing(story))
            except Exception as error:  # noqa: BLE001  a story that cannot be told harms no run
                log.warning("story.untold", run=story.run, reason=str(error))
                story.close()
            finally:
                self._ended.task_done()

    async def _quiet(self, until: float) -> None:
        """The next request often follows at once: look twice, so as not to begin right before it."""
        idle = 0
        while idle < LOOKS and self._clock.monotonic() < until:
            await self._clock.sleep(GLANCE_S)
            idle = 0 if self._busy() else idle + 1

    async def finish(self, within_s: float = FINISH_S) -> None:
        """Tell what is left, for that long at most."""
        try:
            await asyncio.wait_for(self._ended.join(), within_s)
        except TimeoutError:
            log.warning("story.untold", runs=self._ended.qsize(), reason="the process is stopping")


def _closing(story: Story) -> Callable[[], None]:
    loop = asyncio.get_running_loop()

    def close() -> None:
        with contextlib.suppress(RuntimeError):  # the process is gone so far that nobody waits any more
            loop.call_soon_threadsafe(story.close)

    return close
