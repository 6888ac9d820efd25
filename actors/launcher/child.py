"""The first steps of an actor's process, before the actor itself."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

USAGE = 2
"""The exit code that says: as it was started, it can never work."""

ORPHAN_S = 2.0
LOG_BYTES = 5 * 1000**2


def run(entry: str, args: tuple[object, ...], title: str, log: Path | None) -> None:
    """Be the actor: call `module:function` with the arguments; what it returns is the exit code."""
    os.setsid()  # Ctrl-C on the terminal is for the launcher, which tells us to stop
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    _set_title(title)
    if log is not None:
        _write_to(log)
    threading.Thread(target=_end_with_launcher, name="launcher watch", daemon=True).start()
    sys.exit(_found(entry)(*args))


def _set_title(title: str) -> None:
    """Show the actor's name in process lists, where the library for it is installed."""
    if sys.platform == "darwin":  # a forked process that sets its title may die without a word
        return
    with suppress(ImportError):
        from setproctitle import setproctitle

        setproctitle(title)


def _write_to(log: Path) -> None:
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.replace(log.with_name(log.name + ".1"))
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(fd, stream)
    os.close(fd)


def _end_with_launcher() -> None:
    launcher = multiprocessing.parent_process()
    if launcher is None:
        return
    launcher.join()
    os.kill(os.getpid(), signal.SIGTERM)
    # Nobody is left to kill an actor that hangs, for instance because the bus went with the launcher.
    time.sleep(ORPHAN_S)
    os.kill(os.getpid(), signal.SIGKILL)


def _found(entry: str) -> Callable[..., int | None]:
    module, _, function = entry.partition(":")
    try:
        return getattr(import_module(module), function)
    except (ImportError, AttributeError, SyntaxError, ValueError) as error:
        sys.stderr.write(f"{entry} cannot be loaded: {error}\n")
        sys.exit(USAGE)
