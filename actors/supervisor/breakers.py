"""Circuit breakers: one for each kind of worker, shared by all supervisors of the fleet over the bus.

Open after so many failed tasks in a row; after a while one task is let through as a probe, and closed again on success.
What is written is compare-and-set, so that of many supervisors only one sends the probe.
"""

import asyncio

from actors.bus.port import Bus, Stored
from actors.clock import Clock
from observability.logger import get_logger
from protocol import codec, streams, subjects
from protocol.errors import ConflictError, UndecodableError
from protocol.messages import Breaker

FRESH_S = 1.0
NEW = (Breaker(), 0)
"""The breaker of a worker that never failed, and its sequence."""

UNREAD = float("-inf")
LEVELS = {"closed": 0.0, "half_open": 1.0, "open": 2.0}

log = get_logger()


class Breakers:
    """The breakers of one team, as far as is known here."""

    def __init__(self, bus: Bus, clock: Clock, team: str, *, after: int, cool_s: float) -> None:
        self._bus = bus
        self._clock = clock
        self._team = team
        self._after = after
        self._cool_s = cool_s
        self._known: dict[str, tuple[Breaker, int]] = {}
        self._read_at = UNREAD
        self._access = asyncio.Lock()

    def heard(self, _: Stored) -> None:
        """Another supervisor changed a breaker; the next look reads it."""
        self._read_at = UNREAD

    async def shunned(self) -> frozenset[str]:
        """The workers that get nothing at the moment."""
        return frozenset(await self.probe_times())

    async def probe_times(self) -> dict[str, float]:
        """When each worker that gets nothing at the moment gets its next task, as a probe."""
        await self._look()
        known = {name: breaker for name, (breaker, _) in self._known.items()}
        return {name: breaker.since + self._cool_s for name, breaker in known.items() if self._is_shut(breaker)}

    async def admit(self, worker: str) -> bool:
        """Whether a task may go to a worker now; for one that was open long enough, whether it is the one probe."""
        if not self.is_known(worker):
            return True
        await self._look()
        breaker, seq = self._known.get(worker, NEW)
        if breaker.state == "closed":
            return True
        if self._is_shut(breaker):
            return False
        probing = Breaker(state="half_open", failures=breaker.failures, since=self._bus.now())
        return await self._write(worker, probing, seq)

    @property
    def levels(self) -> dict[str, float]:
        """How far each breaker was open at the last look: 0 closed, 1 half open, 2 open."""
        return {name: LEVELS[breaker.state] for name, (breaker, _) in self._known.items()}

    def is_known(self, worker: str) -> bool:
        """Whether a worker may have failed lately; nothing needs to be asked about one that did not."""
        return worker in self._known or self._read_at == UNREAD

    async def succeeded(self, worker: str) -> None:
        """A task was completed: whatever was counted against its worker is forgotten."""
        breaker, seq = self._known.get(worker, NEW)
        if breaker != Breaker():
            await self._write(worker, Breaker(), seq)

    async def failed(self, worker: str) -> None:
        """A task came to nothing at a worker: too many in a row open its breaker, and so does a failed probe."""
        await self._look()
        before, seq = self._known.get(worker, NEW)
        failures = before.failures + 1
        shut = failures >= self._after or before.state == "half_open"
        state = "open" if shut else "closed"
        written = await self._write(worker, Breaker(state=state, failures=failures, since=self._bus.now()), seq)
        if written and shut and before.state != "open":
            log.warning("breaker.opened", worker=worker, failures=failures)

    def _is_shut(self, breaker: Breaker) -> bool:
        return breaker.state != "closed" and self._bus.now() < breaker.since + self._cool_s

    async def _look(self) -> None:
        """Read the breakers if the last read is too old. The old ones stay in place until the new ones are there."""
        async with self._access:  # a read must not put an older state over our own write
            if self._clock.monotonic() - self._read_at < FRESH_S:
                return
            self._read_at = self._clock.monotonic()
            found = await self._bus.last(streams.BREAKERS, [subjects.breakers(self._team)])
            self._known = {subjects.breaker_worker(stored.subject): (_read(stored), stored.seq) for stored in found}

    async def _write(self, worker: str, breaker: Breaker, seq: int) -> bool:
        """Change the breaker that was seen at `seq`. If another task or supervisor changed it first, theirs counts."""
        async with self._access:
            subject = subjects.breaker(self._team, worker)
            try:
                seq = await self._bus.publish(subject, codec.encode(breaker), expect=seq)
            except ConflictError:
                self._read_at = UNREAD
                return False
            self._known[worker] = breaker, seq
            return True


async def read_breakers(bus: Bus, team: str) -> dict[str, Breaker]:
    """The breakers of a team, by worker."""
    found = await bus.last(streams.BREAKERS, [subjects.breakers(team)])
    return {subjects.breaker_worker(stored.subject): _read(stored) for stored in found}


def _read(stored: Stored) -> Breaker:
    """What stands there; what was deleted or cannot be read is closed."""
    try:
        return codec.decode(stored.data, Breaker)
    except UndecodableError:
        return Breaker()
