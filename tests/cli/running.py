"""Running `handoff`: in this process where that is enough, in one of its own where it matters."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from waiting import LIMIT_S

ROOT = Path(__file__).parents[2]
SECONDS = LIMIT_S
FOREIGN = ("NATS_", "ANTHROPIC_", "HANDOFF_", "OTEL_")


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Its output as JSON."""
        return json.loads(self.out)


Here = Callable[..., Ended]
"""Runs a command inside the test's own process: the fixture `here`."""


NOTHING: Mapping[str, str] = {}


def environment(home: Path) -> dict[str, str]:
    """An environment in which nothing of this machine's own settings is left."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return kept | {"HANDOFF_HOME": str(home), "PYTHONPATH": str(ROOT)}


class Process:
    """`handoff` in a process of its own; what it says on standard error is kept line by line."""

    def __init__(self, home: Path, *arguments: str, cwd: Path | None = None, more: Mapping[str, str] = NOTHING) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "actors", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(home) | dict(more),
            cwd=cwd or home.parent,
            text=True,
            start_new_session=True,
        )
        self.said: list[str] = []
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def until_said(self, words: str) -> str:
        """Wait for a line with these words; the line."""

        def found() -> str | None:
            return next((line for line in self.said if words in line), None)

        with self._more:
            assert self._more.wait_for(found, SECONDS), f"{words!r} was not said:\n{''.join(self.said)}"
            return found() or ""

    def line(self) -> str:
        """The next line of standard output."""
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def tell(self, word: signal.Signals = signal.SIGINT) -> None:
        """Send it a signal."""
        self._process.send_signal(word)

    def ended(self) -> Ended:
        """Wait for its end."""
        assert self._process.stdout is not None
        out = self._process.stdout.read()
        code = self._process.wait(SECONDS)
        self._reader.join(SECONDS)
        for pipe in (self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()
        return Ended(code, out, "".join(self.said))

    def close(self) -> None:
        """End it, whatever it is doing."""
        if self._process.poll() is None:
            self._process.kill()
            self.ended()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            with self._more:
                self.said.append(line)
                self._more.notify_all()
        with self._more:
            self._more.notify_all()


def handoff(home: Path, *arguments: str, stdin: bytes = b"", cwd: Path | None = None) -> Ended:
    """Run a command in a process of its own, to its end."""
    done = subprocess.run(
        [sys.executable, "-m", "actors", *arguments],
        input=stdin,
        capture_output=True,
        env=environment(home),
        cwd=cwd or home.parent,
        timeout=2 * SECONDS,
        check=False,
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def plan_json(*tasks: Mapping[str, object]) -> str:
    """A plan of these tasks."""
    return json.dumps({"goal": "Test", "tasks": tasks})


def task(name: str, worker: str, *needs: str, intent: str = "do it") -> dict[str, object]:
    """A task for a plan."""
    return {"id": name, "worker": worker, "intent": intent, "depends_on": needs}


def is_alive(pid: int) -> bool:
    """Whether there is such a process, and it is not just waiting to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def names(rows: Sequence[Mapping[str, Any]], key: str) -> set[str]:
    """The values of one column."""
    return {row[key] for row in rows}
