"""Commands that only look: on the bus that is running, for as long as it takes or somebody waits."""

from collections.abc import Callable, Coroutine
from typing import Any

from actors.bus.jetstream import JetStreamBus
from actors.cli.interrupt import Interrupt, interruptible
from actors.cli.options import Place
from actors.launcher.session import open_bus


def look(place: Place, work: Callable[[JetStreamBus], Coroutine[Any, Any, int]]) -> int:
    """Do something with the bus that is running; UnreachableError if there is none."""
    settings = place.reading_settings()

    async def looked() -> int:
        async with open_bus(settings, timeout_s=place.patience_s) as bus:
            return await work(bus)

    async def guarded(interrupt: Interrupt) -> int:
        return await interrupt.guard(looked())

    return interruptible(guarded)
