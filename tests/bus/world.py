"""What the contract needs of a server under test: clients, the passing of time, and an outage."""

import inspect
import itertools
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any, TypeVar

import msgspec
from waiting import LIMIT_S

from actors.bus.port import Bus, Delivery
from actors.clock import Clock
from actors.settings import Settings
from protocol import streams, subjects
from protocol.ids import new_run_id
from protocol.streams import Queue
from protocol.subjects import TaskAddress

T = TypeVar("T")

AGES_S = 10 * LIMIT_S
"""An ack wait that no test lasts for: what comes again with it was given back."""

SETTINGS = Settings(message_bytes=64 * 1024, card_ttl_s=1.2, ack_wait_s=1.0)
"""Short times, so that a real server can be waited for."""

PATIENCE_S = LIMIT_S

_numbers = itertools.count(1)


class World(ABC):
    """A server with any number of clients. Names are new in each world, so that worlds may share a server."""

    settings = SETTINGS

    def __init__(self) -> None:
        self.run = new_run_id()
        self.team = f"team{next(_numbers)}-{self.run[:8]}"

    @abstractmethod
    async def client(self, name: str = "client", clock: Clock | None = None) -> Bus:
        """One more process on the server, with a clock of its own if one is given."""

    @property
    @abstractmethod
    def clock(self) -> Clock:
        """The clock of the server."""

    @abstractmethod
    def now(self) -> float:
        """Seconds that never go backwards."""

    @abstractmethod
    async def passes(self, seconds: float) -> None:
        """Let time pass."""

    @abstractmethod
    async def until(self, holds: Callable[[], bool | Awaitable[bool]], within_s: float = PATIENCE_S) -> None:
        """Let time pass until something holds, or fail."""

    @abstractmethod
    async def finished(self, work: Coroutine[Any, Any, T], within_s: float = PATIENCE_S) -> T:
        """What work that takes time comes to."""

    @abstractmethod
    def outage(self) -> AbstractAsyncContextManager[None]:
        """The server dies, is away inside the block, and returns at its end."""

    @abstractmethod
    async def delete_stream(self, name: str) -> None:
        """An operator deletes a stream; the connections stay."""

    @property
    def ack_wait_s(self) -> float:
        """How long a delivery may go without a sign of life."""
        return self.settings.ack_wait_s

    def queue(self, worker: str = "worker", *, max_ack_pending: int = 1000, ack_wait_s: float = 0.0) -> Queue:
        """The queue of one kind of worker; with the ack wait of the settings unless another is given."""
        queue = streams.task_queue(self.team, worker, timedelta(seconds=ack_wait_s or self.ack_wait_s))
        return msgspec.structs.replace(queue, max_ack_pending=max_ack_pending)

    def task(self, number: int = 1, worker: str = "worker") -> str:
        """The subject of a handoff for that kind of worker."""
        return TaskAddress(self.run, self.team, worker, f"t{number}", 1).handoff

    @property
    def log(self) -> str:
        """A subject with many messages."""
        return subjects.log(self.run)


class Hands:
    """Takes deliveries, and remembers when each of them came."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.held: list[Delivery] = []
        self.times: list[float] = []

    def take(self, delivery: Delivery) -> None:
        """One more."""
        self.held.append(delivery)
        self.times.append(self._world.now())

    def subjects(self) -> list[str]:
        """What came, in order."""
        return [delivery.message.subject for delivery in self.held]

    async def has(self, count: int, within_s: float = PATIENCE_S) -> list[Delivery]:
        """Wait until that many have come."""
        await self._world.until(lambda: len(self.held) >= count, within_s)
        return self.held


async def truth(answer: bool | Awaitable[bool]) -> bool:
    """The answer of a condition that may need to be waited for."""
    return await answer if inspect.isawaitable(answer) else answer
