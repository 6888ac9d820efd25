"""One call of a function whose end, whatever it is, touches nobody but the caller.

What always holds: what would end the process or cancel somebody (SystemExit, KeyboardInterrupt, a CancelledError of
the function's own) comes out as an Exception; the caller's own cancellation stays one.
"""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any

from protocol.errors import ToolError

PATIENCE_S = 1.0
"""How long a cancelled function has to come to its end before it is left behind."""

MOST_THREADS = 1_000
"""More calls than any worker makes at a time: beyond it, most of them hang and were given up long ago."""

Outcome = tuple[object, BaseException | None]

_places = threading.BoundedSemaphore(MOST_THREADS)
_left_behind: set[asyncio.Task[Outcome]] = set()


async def run_in_thread(function: Callable[..., Any], arguments: dict[str, Any]) -> object:
    """Call a plain function in a thread and return what it returned, or raise what it raised.

    The thread is a daemon outside any pool: one that hangs holds up neither other calls nor the end of the
    process. ToolError if too many do.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Outcome] = loop.create_future()
    context = contextvars.copy_context()

    def settle(outcome: Outcome) -> None:
        if not done.done():
            done.set_result(outcome)

    def work() -> None:
        outcome = context.run(_attempt, function, arguments)
        _places.release()
        # The loop may be gone when a call that was given up comes to its end; then nobody wants to know.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, outcome)

    if not _places.acquire(blocking=False):
        raise ToolError(f"not run: {MOST_THREADS:,} calls of tools have not come to their end in this worker")
    threading.Thread(target=work, name=f"tool-{function.__name__}", daemon=True).start()
    return _opened(await done)


async def run_in_task(function: Callable[..., Any], arguments: dict[str, Any]) -> object:
    """Await an async function in a task of its own and return what it returned, or raise what it raised.

    If the caller is cancelled, so is the function; one that will not end is left behind after a moment.
    """
    task = asyncio.create_task(_attempt_async(function, arguments))
    _left_behind.add(task)
    task.add_done_callback(_left_behind.discard)
    try:
        outcome = await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=PATIENCE_S)
        raise
    return _opened(outcome)


def _opened(outcome: Outcome) -> object:
    value, error = outcome
    if error is None:
        return value
    if isinstance(error, Exception):
        raise error
    raise RuntimeError(repr(error)) from error


def _attempt(function: Callable[..., Any], arguments: dict[str, Any]) -> Outcome:
    # As a value and not through the future: a future takes no StopIteration.
    try:
        return function(**arguments), None
    except BaseException as error:  # noqa: BLE001 - raised again where the call is awaited
        return None, error


async def _attempt_async(function: Callable[..., Any], arguments: dict[str, Any]) -> Outcome:
    # As a value and not through the task: a task that ends by SystemExit ends the loop.
    try:
        return await function(**arguments), None
    except GeneratorExit:
        raise  # the coroutine is being thrown away: nobody is there to be told
    except BaseException as error:  # noqa: BLE001 - raised again where the call is awaited
        return None, error
