"""The processes of a simulation: each can be killed at any await, stopped and woken, and its clock may be wrong."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from actors.bus.memory import MemoryBus, MemoryServer, ProcessClock, VirtualClock
from actors.bus.port import NO_HEADERS, Headers
from actors.model.port import Call, Model, Reply
from protocol import streams

T = TypeVar("T")


class Process:
    """One process. Its bus, its clock and its model wait while it is stopped, and are dead once it was killed.

    `visit` is asked at every await on the bus whether the process dies here.
    """

    def __init__(self, visit: "Callable[[Process], bool]") -> None:
        self._visit = visit
        self._awake = asyncio.Event()
        self._awake.set()
        self._missed: list[Callable[[], None]] = []
        self._stopped_at = 0.0
        self.killed = False
        self.bus: SimulatedBus
        self.clock: SimulatedClock
        self.task: asyncio.Task[None]

    def join(self, server: MemoryServer, clock: VirtualClock, name: str, wrong_by_s: float) -> None:
        """Connect it to a server."""
        self.clock = SimulatedClock(self, clock, wrong_by_s)
        self.bus = SimulatedBus(self, server, name)

    def run(self, work: Awaitable[None]) -> None:
        """Let it do its work."""
        self.task = asyncio.ensure_future(work)

    def kill(self) -> None:
        """It ends here and now, and not one word of it gets out any more."""
        self.killed = True
        self.bus.kill()
        self.task.cancel()

    def stop(self) -> None:
        """SIGSTOP: the process stands still, and what is sent to it waits."""
        if self._awake.is_set():
            self._stopped_at = self.clock.monotonic()
        self._awake.clear()

    @property
    def stopped_s(self) -> float:
        """How long it has stood still."""
        return 0.0 if self._awake.is_set() or self.killed else self.clock.monotonic() - self._stopped_at

    def wake(self) -> None:
        """SIGCONT: it goes on with what it believed before, and then reads what came meanwhile."""
        self._awake.set()
        missed, self._missed = self._missed, []
        for arrive in missed:
            asyncio.get_running_loop().call_soon(arrive)

    def receive(self, arrive: Callable[[], None]) -> None:
        """Something comes in by its connection."""
        if self._awake.is_set():
            arrive()
        else:
            self._missed.append(arrive)

    async def reached(self) -> None:
        """An await on the bus: the process may die here, and goes on only while it is not stopped."""
        if not self.killed and self._visit(self):
            self.kill()
            await asyncio.sleep(0)  # the cancellation arrives here
        await self.awake()

    async def awake(self) -> None:
        """Wait until it runs."""
        while not self._awake.is_set():
            await self._awake.wait()


class SimulatedClock(ProcessClock):
    """What a process sleeps for is over only when it runs again."""

    def __init__(self, process: Process, shared: VirtualClock, wrong_by_s: float) -> None:
        super().__init__(shared, wrong_by_s)
        self._process = process

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds)
        await self._process.awake()


class SimulatedBus(MemoryBus):
    """The bus of one process: it may be killed before and after whatever it asks or sends."""

    def __init__(self, process: Process, server: MemoryServer, name: str) -> None:
        super().__init__(server, name, process.clock)
        self._process = process

    async def send(
        self, subject: str, data: bytes, *, expect: int | None = None, headers: Headers = NO_HEADERS
    ) -> "asyncio.Future[int]":
        await self._process.reached()
        sent = await super().send(subject, data, expect=expect, headers=headers)
        await self._process.reached()
        return sent

    async def emit(self, subject: str, data: bytes) -> None:
        await self._process.reached()
        await super().emit(subject, data)

    async def put_card(self, key: str, data: bytes, *, bucket: str = streams.WORKERS) -> None:
        await self._process.reached()
        await super().put_card(key, data, bucket=bucket)

    def soon(self, call: Callable[[], None]) -> None:
        super().soon(lambda: self._process.receive(call))

    async def until_noted(self, subject: str) -> None:
        await self._process.reached()
        await super().until_noted(subject)
        await self._process.awake()

    async def _ask(self, question: Callable[[], T]) -> T:
        await self._process.reached()
        answer = await super()._ask(question)
        await self._process.reached()
        return answer


class SimulatedModel:
    """The model as one process reaches it: an answer is read only when the process runs."""

    def __init__(self, process: Process, model: Model) -> None:
        self._process = process
        self._model = model

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        reply = await self._model.call(call, said=said)
        await self._process.awake()
        return reply

    async def close(self) -> None:
        pass
