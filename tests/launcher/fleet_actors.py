"""Actors for the tests of the fleet. Each writes its pid to `<marks>/<name>` when it is ready for whatever comes."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path


def idle(marks: Path, name: str) -> None:
    asyncio.run(_until_told(marks, name))


async def _until_told(marks: Path, name: str) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    mark(marks, name)
    await stop.wait()


def deaf(marks: Path, name: str) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    mark(marks, name)
    while True:
        time.sleep(60)


def end(code: int) -> int:
    return code


def talk(marks: Path, name: str) -> None:
    sys.stdout.write("said on stdout\n")
    sys.stdout.flush()
    os.write(2, b"said on stderr\n")
    idle(marks, name)


def mark(marks: Path, name: str) -> None:
    draft = marks / f".{name}"
    draft.write_text(f"{os.getpid()} {os.getppid()}")
    draft.replace(marks / name)
