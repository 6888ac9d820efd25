"""Jobs: small tasks started from callbacks, each held by an owner that ends them."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from observability.logger import get_logger
from observability.logs import trace_of

log = get_logger()


class Jobs:
    """The tasks of one owner."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Let something run on its own."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("bus.job_failed", trace=trace_of(error))

    async def end(self) -> None:
        """Cancel what is left and wait for it."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
