"""The fleet: actors as processes of their own, started by forking one that has imported everything already.

What always holds:
- An actor that ends without being asked is started again, after a wait that grows; unless it ends with the exit code
  for wrong usage, which no restart can cure.
- No actor outlives the fleet: left in any way, `async with` kills what is still there; and when the launcher is killed,
  each actor sees its end of a pipe close and stops by itself.
"""

import asyncio
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Self, TypeVar

from actors.launcher import child
from actors.launcher.backoff import Backoff
from actors.launcher.event import Kind, OnEvent, ending, nobody
from protocol.errors import HandoffError, InvalidError

PRELOAD = "actors.launcher.preload"
UNKNOWN_END = 255
"""The exit code of an actor whose fork server died: then nobody can tell, and the actor may live on."""

LAST_S = 2.0
"""How long those who stop last may take once nobody leans on them."""

FORK_ERRORS = (OSError, EOFError)

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ActorSpec:
    """An actor to start: `entry` is `module:function`, called with `args`, which must be picklable.

    One that others lean on is stopped `last`, when they have come to their end.
    """

    name: str
    entry: str
    args: tuple[object, ...] = ()
    last: bool = False

    @property
    def title(self) -> str:
        """What `ps` shows."""
        return f"handoff {self.name}"


@dataclass
class _Actor:
    spec: ActorSpec
    process: ForkServerProcess | None = None
    pid: int = 0
    started: float = 0.0
    backoff: Backoff = field(default_factory=Backoff)


class Fleet:
    """Actors that are started together, restarted one by one, and stopped together; used as `async with`.

    With `logs` each actor writes to `<logs>/<name>.log`, without it to where the launcher writes.
    """

    def __init__(self, *, logs: Path | None = None, on_event: OnEvent = nobody) -> None:
        self._logs = logs
        self._on_event = on_event
        self._actors: dict[str, _Actor] = {}
        self._lives: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._last_word: signal.Signals | None = None
        # One thread for all calls of multiprocessing, which are neither quick nor safe to make from several.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="fleet")

    async def __aenter__(self) -> Self:
        # Not waited for: the imports take about a second, in which the bus can start.
        await self._in_thread(_start_fork_server)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self.stop(now=True)
        finally:
            await asyncio.to_thread(self._thread.shutdown)

    async def start(self, spec: ActorSpec) -> int:
        """Start an actor and look after it from then on; returns its pid."""
        if self._stopping.is_set():
            raise HandoffError(f"{spec.name} cannot be started: the fleet is stopping")
        if spec.name in self._actors:
            raise InvalidError([f"there is an actor named {spec.name!r} already"])
        actor = self._actors[spec.name] = _Actor(spec)
        launch = asyncio.create_task(self._launch(actor, "started"))
        self._lives.add(asyncio.create_task(self._live(actor, launch), name=_life(spec.name)))
        try:
            return await asyncio.shield(launch)
        except FORK_ERRORS as error:
            raise HandoffError(f"{spec.name} cannot be started: {_why(error)}") from error

    def pids(self) -> dict[str, int]:
        """The actors that are running, by name."""
        return {name: actor.pid for name, actor in self._actors.items() if actor.pid}

    async def stop(self, grace_s: float = 0.0, *, now: bool = False) -> None:
        """Ask all actors to stop, and kill those that have not after `grace_s`; a second call kills at once."""
        again = self._stopping.is_set()
        self._stopping.set()
        if not (now or again):
            await self._ask_to_stop(grace_s)
        self._tell_all(signal.SIGKILL)
        if self._lives:
            await asyncio.wait(self._lives)
        for life in self._lives:
            life.result()

    async def _ask_to_stop(self, grace_s: float) -> None:
        kept = {name for name, actor in self._actors.items() if actor.spec.last}
        leaning = {life for life in self._lives if life.get_name() not in {_life(name) for name in kept}}
        if kept and leaning:
            self._last_word = signal.SIGTERM
            for name, pid in self.pids().items():
                if name not in kept:
                    _send(pid, signal.SIGTERM)
            await asyncio.wait(leaning, timeout=grace_s)
        self._tell_all(signal.SIGTERM)
        if self._lives:
            await asyncio.wait(self._lives, timeout=LAST_S if kept and leaning else grace_s)

    async def _live(self, actor: _Actor, launch: asyncio.Task[int]) -> None:
        await asyncio.wait({launch})
        if launch.exception() is not None:  # raised where the start was asked for
            del self._actors[actor.spec.name]
            return
        while await self._ended(actor):
            while not await self._relaunched(actor):
                if self._stopping.is_set():
                    return

    async def _launch(self, actor: _Actor, kind: Kind) -> int:
        process = _context.Process(target=child.run, args=self._child_arguments(actor.spec))
        await self._in_thread(partial(_start, process))
        actor.process, actor.pid, actor.started = process, process.pid or 0, time.monotonic()
        if self._last_word is not None:
            _send(actor.pid, self._last_word)
        self._on_event(kind, actor.spec.name, actor.pid, "")
        return actor.pid

    async def _ended(self, actor: _Actor) -> bool:
        """Wait for the end of an actor; whether it is to be started again."""
        assert actor.process is not None
        name, pid = actor.spec.name, actor.pid
        code = await self._exit_code(actor.process)
        actor.process, actor.pid = None, 0
        if code == UNKNOWN_END:
            _send(pid, signal.SIGKILL)
        if self._stopping.is_set():
            self._on_event("stopped", name, pid, ending(code))
            return False
        if code == child.USAGE:
            self._on_event("gave_up", name, pid, f"{ending(code)}: it cannot work as it was started")
            return False
        self._on_event("died", name, pid, ending(code))
        return await self._waited(actor.backoff.after(time.monotonic() - actor.started))

    async def _relaunched(self, actor: _Actor) -> bool:
        try:
            await self._launch(actor, "restarted")
        except FORK_ERRORS as error:
            self._on_event("failed", actor.spec.name, 0, _why(error))
            await self._waited(actor.backoff.after(0))
            return False
        return True

    async def _waited(self, seconds: float) -> bool:
        """Wait; False if the fleet is told to stop meanwhile."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        return not self._stopping.is_set()

    async def _exit_code(self, process: ForkServerProcess) -> int:
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(process.sentinel, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(process.sentinel)
        return await self._in_thread(partial(_reap, process))

    async def _in_thread(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def _tell_all(self, word: signal.Signals) -> None:
        self._last_word = word  # those that are being forked at this moment are told right after
        for pid in self.pids().values():
            _send(pid, word)

    def _child_arguments(self, spec: ActorSpec) -> tuple[object, ...]:
        file = re.sub(r"[^A-Za-z0-9_-]+", "-", spec.name) + ".log"
        return spec.entry, spec.args, spec.title, self._logs / file if self._logs else None


_context = multiprocessing.get_context("forkserver")
_hiding = threading.Lock()


def _life(name: str) -> str:
    return f"life of {name}"


def _start_fork_server() -> None:
    _context.set_forkserver_preload([PRELOAD])
    resource_tracker.ensure_running()
    # It inherits the mask: a signal that is meant for all of the terminal or the group must not end it before the
    # actors. It ends by itself when the launcher and all actors are gone.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    forkserver.ensure_running()


def _start(process: ForkServerProcess) -> None:
    with _no_main_module():
        process.start()


@contextmanager
def _no_main_module() -> Generator[None]:
    """Hide `__main__`, which multiprocessing would run again in each actor: here it is a whole command line."""
    with _hiding:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


def _reap(process: ForkServerProcess) -> int:
    process.join()
    code = process.exitcode
    process.close()
    return UNKNOWN_END if code is None else code


def _why(error: OSError | EOFError) -> str:
    return "its fork server ended" if isinstance(error, EOFError) else str(error)


def _send(pid: int, word: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, word)
