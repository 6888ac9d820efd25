"""A thread of its own for one call of a plain function."""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any


async def run_in_thread(function: Callable[..., Any], arguments: dict[str, Any]) -> object:
    """Call the function in a thread and return what it returned, or raise what it raised.

    The thread is a daemon outside any pool: one that hangs holds up neither other calls nor the end of the
    process.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_Outcome] = loop.create_future()
    context = contextvars.copy_context()

    def settle(outcome: "_Outcome") -> None:
        if not done.done():
            done.set_result(outcome)

    def work() -> None:
        outcome = context.run(_attempt, function, arguments)
        # The loop may be gone when a call that was given up comes to its end; then nobody wants to know.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, outcome)

    threading.Thread(target=work, name=f"tool-{function.__name__}", daemon=True).start()
    value, error = await done
    if error is None:
        return value
    if isinstance(error, Exception):
        raise error
    # What would end the process or cancel the caller means only this thread here.
    raise RuntimeError(repr(error)) from error


_Outcome = tuple[object, BaseException | None]


def _attempt(function: Callable[..., Any], arguments: dict[str, Any]) -> _Outcome:
    # As a value and not through the future: a future takes no StopIteration.
    try:
        return function(**arguments), None
    except BaseException as error:  # noqa: BLE001 - raised again where the call is awaited
        return None, error
