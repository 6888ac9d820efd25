"""The watchdog: ends a worker whose event loop is held up, so that its work goes on in the next one.

An `async` tool that blocks can be neither given up nor cancelled from inside the loop, and nothing else of the worker
runs meanwhile. What always holds: time counts only while this process runs, so one that was stopped and wakes up is
not taken for one that is stuck.
"""

import asyncio
import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Callable, Generator

TICK_S = 1.0

Ended = Callable[[str], None]


def _end(reason: str) -> None:
    sys.stderr.write(f"handoff: {reason}\n")
    sys.stderr.flush()
    os._exit(1)


@contextlib.contextmanager
def watched(stuck_s: float, end: Ended = _end) -> Generator[None]:
    """While the block lasts, end the process once the running loop has not come round for so many seconds."""
    loop, owner, over = asyncio.get_running_loop(), threading.get_ident(), threading.Event()

    def watch() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: there is nothing left to watch
            if _is_stuck(loop, stuck_s, over):
                end(_reason(owner, stuck_s))

    threading.Thread(target=watch, name="watchdog", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _is_stuck(loop: asyncio.AbstractEventLoop, stuck_s: float, over: threading.Event) -> bool:
    """Wait until the loop is stuck, or the watch is over."""
    tick_s, silent_s, came_round = min(TICK_S, stuck_s / 4), 0.0, threading.Event()
    came_round.set()
    while not over.wait(tick_s):
        if came_round.is_set():
            silent_s = 0.0
            came_round.clear()
            loop.call_soon_threadsafe(came_round.set)
        else:
            silent_s += tick_s
        if silent_s >= stuck_s:
            return True
    return False


def _reason(owner: int, stuck_s: float) -> str:
    frame = sys._current_frames().get(owner)  # pyright: ignore[reportPrivateUsage]
    place = traceback.extract_stack(frame)[-1] if frame else None
    where = f" in {place.name} ({place.filename}, line {place.lineno})" if place else ""
    return (
        f"the event loop was held up for {stuck_s:g} s{where}, so this process ends and the next one goes on. "
        "An async function must not block: write it as a plain def, which runs in a thread"
    )
