"""Actors as real processes for tests: started, killed, stopped and woken by pid."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from servers import NatsServer
from waiting import LIMIT_S

from actors.bus.jetstream import JetStreamBus, connect
from actors.client import Client
from actors.record import Recorded
from actors.remote_run import Run
from actors.settings import Settings
from protocol import streams
from protocol.messages import Plan, Task

ROOT = Path(__file__).parent.parent
WORKERS = "system.workers_for_tests"
BOOT = "import sys; from actors.cli import main; sys.exit(main())"


class Actor:
    """One process of ours."""

    def __init__(self, name: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self.name = name
        self.process = process
        self.log = log

    @property
    def pid(self) -> int:
        return self.process.pid

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def signal(self, word: signal.Signals) -> None:
        self.process.send_signal(word)

    async def ended(self, within_s: float = LIMIT_S) -> int:
        return await asyncio.to_thread(self.process.wait, within_s)


class Stage:
    """A bus, a scripted model and any number of actors; everything that was started is ended with it."""

    def __init__(self, directory: Path, *, ack_wait_s: float = 1.5) -> None:
        self.directory = directory
        self.server = NatsServer(directory)
        self.actors: list[Actor] = []
        self.requests = directory / "requests.jsonl"
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("HANDOFF_", "ANTHROPIC_", "NATS_", "OTEL_"))
        } | {
            "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}",
            "HANDOFF_HOME": str(directory / "home"),
            "HANDOFF_ACK_WAIT_S": str(ack_wait_s),
            "HANDOFF_POLL_S": "0.5",
            "HANDOFF_GRACE_S": "5",
        }
        self.settings = Settings(ack_wait_s=ack_wait_s, nats_url=self.server.url)
        self.bus: JetStreamBus
        self.last: Run

    async def __aenter__(self) -> Self:
        await self.server.start()
        self.environment["NATS_URL"] = self.server.url
        self.bus = await connect(self.settings, name="test", timeout_s=LIMIT_S)
        self.client = await Client(self.bus, settings=self.settings).__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.bus.close()
        for actor in self.actors:
            if actor.process.poll() is None:
                actor.process.send_signal(signal.SIGCONT)
                actor.kill()
            if error is not None:
                sys.stderr.write(f"--- {actor.name}\n{actor.log.read_text()[-3000:]}\n")
        await self.server.stop()

    def start(self, *arguments: str) -> Actor:
        """Start `handoff` with these arguments."""
        name = "-".join(arguments[:2]).replace(":", "-").replace("/", "-")
        log = self.directory / f"{len(self.actors)}-{name}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-c", BOOT, *arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=self.directory,
            )
        actor = Actor(" ".join(arguments), process, log)
        self.actors.append(actor)
        return actor

    async def model(self, script: dict[str, Any]) -> Actor:
        """Start the scripted model; actors started later use it."""
        path = self.directory / "script.json"
        path.write_text(json.dumps({"rules": []} | script))
        actor = self.start("model", "--script", str(path), "--requests", str(self.requests))
        await until(lambda: bool(_addresses(actor.log)))
        self.environment["ANTHROPIC_BASE_URL"] = _addresses(actor.log)[0]
        return actor

    async def supervisor(self) -> Actor:
        """Start a supervisor, and wait until it is there and requests are asked for.

        By its own word: how many pulls are open tells nothing, since that of a killed one goes away at any moment.
        """
        actor = self.start("supervisor")

        async def ready() -> bool:
            return b"supervisor.ready" in actor.log.read_bytes() and await self._waiting() > 0

        await until(ready)
        return actor

    async def worker(self, *names: str) -> Actor:
        """Start workers of the test module in one process, and wait until they are listed."""
        actor = self.start("worker", *(f"{WORKERS}:{name}" for name in names))

        async def listed() -> bool:
            keys = await self.bus.cards("default.")
            return all(any(f".{name}." in key and f"-{actor.pid}-" in key for key in keys) for name in names)

        await until(listed)
        return actor

    async def ask(self, *tasks: Task, text: str = "", **more: Any) -> Run:
        plan = Plan(tasks=tasks) if tasks else None
        more.setdefault("check_served", False)  # some tests ask before a supervisor is there
        return await self.client.ask(text, plan=plan, **({"synthesis": False} if tasks else {}), **more)

    async def stored(self, run: Run, kind: type[Any], **having: Any) -> Recorded:
        """Wait until a message of that kind, with these fields, is stored."""
        found: list[Recorded] = []

        async def there() -> bool:
            found[:] = [
                entry
                for entry in await run.past()
                if isinstance(entry.message, kind)
                and all(getattr(entry.message, name) == value for name, value in having.items())
            ]
            return bool(found)

        await until(there)
        return found[0]

    def asked(self) -> list[dict[str, Any]]:
        """Every request the model was asked, by its log."""
        if not self.requests.exists():
            return []
        lines = [json.loads(line) for line in self.requests.read_text().splitlines()]
        return [line for line in lines if line["event"] == "asked"]

    async def _waiting(self) -> int:
        queue = (await self.bus.queues(streams.REQUESTS)).get("default")
        return queue.waiting if queue else 0


async def until(condition: Callable[[], bool | Awaitable[bool]], within_s: float = LIMIT_S) -> None:
    """Look again and again until it is so; fails after a bounded time."""
    end = time.monotonic() + within_s
    while True:
        found = condition()
        if found if isinstance(found, bool) else await found:
            return
        assert time.monotonic() < end, "it never came to pass"
        await asyncio.sleep(0.02)


def task(name: str, worker: str, *needs: str, intent: str = "do") -> Task:
    return Task(id=name, worker=worker, intent=intent, depends_on=needs)


def _addresses(log: Path) -> list[str]:
    """The lines of a log that are a whole address; log messages that contain one, or half a line, do not count."""
    lines = log.read_text().splitlines(keepends=True)
    return [line.strip() for line in lines if line.startswith("http://") and line.endswith("\n")]
