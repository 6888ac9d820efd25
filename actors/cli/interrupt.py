"""Ctrl-C and SIGTERM: the first is a wish, the second an order, the third leaves everything as it is."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from actors.cli.exit_code import INTERRUPTED
from actors.launcher.stop_signals import StopSignals

T = TypeVar("T")

ORDER_S = 1.0
"""How long the second one may take; after that the process simply ends, and its actors with it."""

SHOW_CURSOR = "\x1b[?25h"


class InterruptedByUser(Exception):  # noqa: N818  nothing went wrong
    """A person wants the command to end."""


class Interrupt:
    """Whether somebody wants the command to end."""

    def __init__(self) -> None:
        self._wish = asyncio.Event()
        self._signals = StopSignals()
        self._loop = asyncio.get_running_loop()
        self._main = asyncio.current_task()
        for number in (signal.SIGINT, signal.SIGTERM):
            self._loop.add_signal_handler(number, self._signalled, number)

    @property
    def wished(self) -> bool:
        """Whether it was wished at least once."""
        return self._wish.is_set()

    async def comes(self) -> None:
        """Wait for the wish."""
        await self._wish.wait()

    async def before(self, task: "asyncio.Task[Any]") -> bool:
        """Wait until the task is done or the wish comes; whether the wish came first."""
        wish = asyncio.create_task(self._wish.wait())
        try:
            await asyncio.wait({task, wish}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            wish.cancel()
        return not task.done()

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """Do this, unless the wish comes before it is done: then it is undone, and InterruptedByUser raised."""
        task = asyncio.create_task(work)
        try:
            wished = await self.before(task)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        if wished:
            raise InterruptedByUser
        return task.result()

    def _signalled(self, number: int) -> None:
        count = self._signals.count(number)
        if count == 1:
            self._wish.set()
        elif count == 2 and self._main:
            self._main.cancel()
            self._loop.call_later(ORDER_S, _leave)
        else:
            _leave()


def interruptible(work: Callable[[Interrupt], Coroutine[Any, Any, int]]) -> int:
    """Run a command's work; the value is its exit code, also when somebody ended it."""

    async def main() -> int:
        return await work(Interrupt())

    try:
        return asyncio.run(main())
    except (InterruptedByUser, asyncio.CancelledError):
        return INTERRUPTED


def _leave() -> None:
    if sys.stderr.isatty():
        sys.stderr.write(SHOW_CURSOR)
        sys.stderr.flush()
    os._exit(INTERRUPTED)
