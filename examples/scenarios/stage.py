"""The stage of a scenario: a bus, a scripted model and actors, each a process of its own."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from actors.bus.jetstream import connect
from actors.client import Client
from actors.launcher.embedded import EmbeddedBus
from actors.record import Entry
from actors.remote_run import Run
from actors.settings import Settings
from protocol import streams
from protocol.messages import Answer, Request

ROOT = Path(__file__).parents[2]
TEAM = "examples.scenarios.team"
PATIENCE_S = 40.0
LOOK_S = 0.05
FOREIGN = ("HANDOFF_", "ANTHROPIC_", "NATS_", "OTEL_")

Rule = dict[str, Any]
Process = asyncio.subprocess.Process


class Stage:
    """Starts what a scenario needs, and ends all of it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._requests = directory / "requests.jsonl"
        self._stack = contextlib.AsyncExitStack()
        self._processes: list[Process] = []
        self._settings = Settings(home=str(directory / "home"), ack_wait_s=1.5)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        self._environment = kept | {
            "PYTHONPATH": str(ROOT),
            "HANDOFF_HOME": self._settings.home,
            "HANDOFF_ACK_WAIT_S": "1.5",
            "HANDOFF_POLL_S": "0.5",
        }
        self.client: Client

    async def __aenter__(self) -> Self:
        try:
            address = (await self._stack.enter_async_context(EmbeddedBus(self._settings))).address
            settings = msgspec.structs.replace(self._settings, nats_url=address.url)
            self.bus = await connect(settings, name="scenario", timeout_s=PATIENCE_S)
            self._stack.push_async_callback(self.bus.close)
            self.client = await self._stack.enter_async_context(Client(self.bus, settings=settings))
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            await kill(process)
        await self._stack.aclose()

    async def model(self, rules: Sequence[Rule]) -> None:
        """Start the scripted model; actors that are started later ask it."""
        script = self._directory / "script.json"
        await asyncio.to_thread(script.write_text, json.dumps({"rules": rules}))
        process = await self._start("model", "--script", str(script), "--requests", str(self._requests))
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            self._environment["ANTHROPIC_BASE_URL"] = (await process.stdout.readline()).decode().strip()

    async def supervisor(self) -> Process:
        """Start a supervisor; it need not be waited for: a request is stored until it is there."""
        return await self._start("supervisor")

    async def worker(self, *names: str) -> Process:
        """Start workers in one process, and wait until they are listed."""
        process = await self._start("worker", *(f"{TEAM}:{name}" for name in names))

        async def listed() -> bool:
            keys = await self.bus.cards("default.")
            return all(any(f".{name}." in key and f"-{process.pid}-" in key for key in keys) for name in names)

        await until(listed)
        return process

    async def ask(self, request: Request) -> Run:
        """Put a request onto the bus; the supervisor of the scenario may not have announced itself yet."""
        return await self.client.submit(request, check_served=False)

    async def stored(self, run: Run, kind: type[Any], count: int = 1) -> None:
        """Wait until so many messages of a kind are stored of a run."""

        async def there() -> bool:
            return sum(isinstance(message, kind) for message in await messages(run)) >= count

        await until(there)

    async def at_work(self, worker: str, within_s: float) -> int:
        """How many tasks a worker still has after that time; it may let go of them before."""
        ends = asyncio.get_running_loop().time() + within_s
        while True:
            count = (await self.bus.queues(streams.RUNS))[f"default-{worker}"].unsettled
            if not count or asyncio.get_running_loop().time() >= ends:
                return count
            await asyncio.sleep(LOOK_S)

    def log(self) -> list[dict[str, Any]]:
        """What the model was asked, and how each request ended."""
        return [json.loads(line) for line in self._requests.read_text().splitlines()]

    async def _start(self, *arguments: str) -> Process:
        log = self._directory / f"{len(self._processes)}-{arguments[0]}.log"
        with log.open("wb") as said:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "actors",
                *arguments,
                env=self._environment,
                cwd=self._directory,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE if arguments[0] == "model" else said,
                stderr=said,
            )
        self._processes.append(process)
        return process


async def kill(process: Process) -> None:
    """End a process with no chance to say anything more."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def messages(run: Run) -> list[Entry]:
    """Everything that is stored of a run."""
    return [entry.message for entry in await run.past()]


async def answer_of(run: Run) -> Answer:
    """The answer of a run, within a bounded time."""
    async with asyncio.timeout(PATIENCE_S):
        return await run.answer()


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Look again and again until it is so; TimeoutError after a bounded time."""
    async with asyncio.timeout(PATIENCE_S):
        while not await condition():
            await asyncio.sleep(LOOK_S)


Facts = Mapping[str, object]
"""What is expected of a scenario, or what was seen of it, by name."""
