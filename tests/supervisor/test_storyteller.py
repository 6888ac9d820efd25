"""Runs that ended are told in a quiet moment, and soon even if there is none."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.settings import Settings
from actors.supervisor.storyteller import PATIENCE_S, Storyteller
from observability import live
from observability.run_record import Entry
from observability.telemetry import Telemetry

RUN = "a" * 32


class Ear(Telemetry):
    """Hears which runs are told, and what of them."""

    def __init__(self) -> None:
        super().__init__(None, None)
        self.heard: dict[str, list[Entry]] = {}

    def run_ended(self, run: str, entries: Sequence[Entry], told: Callable[[], None]) -> None:
        self.heard[run] = list(entries)
        told()


class Scene:
    """A storyteller whose supervisor is busy or not, as we say."""

    def __init__(self) -> None:
        self.busy = False
        self.ear = Ear()
        self.clock = VirtualClock()
        self.bus = MemoryBus(MemoryServer(Settings(), self.clock), "s")
        self.storyteller = Storyteller(self.bus, self.clock, lambda: self.busy)


@pytest.fixture
def scene() -> Scene:
    return Scene()


@asynccontextmanager
async def telling(scene: Scene) -> AsyncGenerator[None]:
    live.listen(scene.ear)
    work = asyncio.create_task(scene.storyteller.run())
    try:
        yield
    finally:
        work.cancel()
        scene.ear.close()


async def test_a_run_is_told_once_no_other_is_under_way(scene: Scene) -> None:
    scene.busy = True
    async with telling(scene):
        scene.storyteller.ended(RUN, {})
        await scene.clock.advance(PATIENCE_S / 2)
        assert not scene.ear.heard
        scene.busy = False
        await scene.clock.advance(PATIENCE_S / 4)
        assert RUN in scene.ear.heard


async def test_a_supervisor_that_never_rests_tells_its_runs_all_the_same(scene: Scene) -> None:
    scene.busy = True
    async with telling(scene):
        story = scene.storyteller.ended(RUN, {})
        await scene.clock.advance(PATIENCE_S * 1.1)
        assert RUN in scene.ear.heard
        assert story
        assert story.told.done()


async def test_many_runs_that_ended_together_wait_together(scene: Scene) -> None:
    runs = [f"{number:032x}" for number in range(1, 101)]
    scene.busy = True
    async with telling(scene):
        for run in runs:
            scene.storyteller.ended(run, {})
        await scene.clock.advance(PATIENCE_S * 1.1)
        assert list(scene.ear.heard) == runs
