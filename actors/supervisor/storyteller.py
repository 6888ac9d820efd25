"""The storyteller: reads back the runs that ended here, for whoever listens. Never in the way of a run."""

import asyncio

import structlog

from actors.bus.port import Bus
from actors.record import read_run
from observability import live

FINISH_S = 2.0

log = structlog.get_logger()


class Storyteller:
    """Takes one run after the other, so that many that end at once don't hold up those that go on."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._ended: asyncio.Queue[str] = asyncio.Queue()

    def ended(self, run: str) -> None:
        """The answer of a run is stored."""
        if live.listening():
            live.run_answered(run)
            self._ended.put_nowait(run)

    async def run(self) -> None:
        """Tell stories for ever."""
        while True:
            run = await self._ended.get()
            try:
                live.run_ended(run, await read_run(self._bus, run))
            except Exception as error:  # noqa: BLE001  a story that cannot be told harms no run
                log.warning("story.untold", run=run, reason=str(error))
            finally:
                self._ended.task_done()

    async def finish(self, within_s: float = FINISH_S) -> None:
        """Tell what is left, for that long at most."""
        try:
            await asyncio.wait_for(self._ended.join(), within_s)
        except TimeoutError:
            log.warning("story.untold", runs=self._ended.qsize(), reason="the process is stopping")
