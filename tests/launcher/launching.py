"""Watching launchers and the processes they start."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nats
from waiting import LIMIT_S

import actors.launcher
from actors.launcher.event import Kind

NATS: Any = nats  # its types are not complete
ROOT = Path(actors.launcher.__file__).parents[2]


class Events:
    """What the launcher told, in order."""

    def __init__(self) -> None:
        self.seen: list[tuple[Kind, str, int, str]] = []
        self._more = asyncio.Event()

    def __call__(self, kind: Kind, name: str, pid: int, detail: str) -> None:
        self.seen.append((kind, name, pid, detail))
        self._more.set()

    def kinds(self, name: str) -> list[Kind]:
        return [kind for kind, who, _, _ in self.seen if who == name]

    async def until(self, kind: Kind, name: str, count: int = 1) -> tuple[int, str]:
        async with asyncio.timeout(LIMIT_S):
            while self.kinds(name).count(kind) < count:
                self._more.clear()
                await self._more.wait()
        return [(pid, detail) for what, who, pid, detail in self.seen if (what, who) == (kind, name)][-1]


class Launcher:
    """A launcher in another process; see launch.py."""

    def __init__(self, home: Path, marks: Path, *names: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.launcher.launch", str(home), str(marks), *names],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            text=True,
            start_new_session=True,
        )

    def look(self) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("look\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> int:
        with self.process:
            assert self.process.stdin is not None
            self.process.stdin.close()
            return self.process.wait(LIMIT_S)


def wait_until(condition: Callable[[], bool], within_s: float = LIMIT_S) -> bool:
    """Wait for something that another process does; whether it did."""
    give_up_at = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > give_up_at:
            return False
        time.sleep(0.01)
    return True


def gone(pid: int) -> bool:
    """Whether a process has ended, even if nobody has asked for its exit code yet."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text() if sys.platform == "linux" else ""
        os.kill(pid, 0)
    except (ProcessLookupError, FileNotFoundError):
        return True
    return stat.rpartition(")")[2].split()[:1] == ["Z"]


def stopped(pid: int) -> bool:
    """Whether every thread of a process stands still after SIGSTOP, which a process obeys a moment later."""
    tasks = Path(f"/proc/{pid}/task").glob("*/stat")
    return all(stat.read_text().rpartition(")")[2].split()[0] == "T" for stat in tasks)


async def store(url: str, text: str) -> None:
    """Keep a text on a bus."""
    async with await NATS.connect(url) as client:
        js = client.jetstream()
        await js.add_stream(name="KEPT", subjects=["kept"])
        await js.publish("kept", text.encode())


async def stored(url: str) -> str:
    """The text that was kept last."""
    async with await NATS.connect(url) as client:
        return ((await client.jetstream().get_last_msg("KEPT", "kept")).data or b"").decode()
