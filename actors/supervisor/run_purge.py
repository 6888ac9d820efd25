"""Purges finished runs, the oldest first, so that the store has room for new ones.

Of a purged run only its last log message stays, `finished` with the answer: a request that is sent again is answered
from it and not paid again. A run is purged if it ended over an hour ago by the server's time and its request is
acknowledged. A run that a stored request names stays too: the request may use artifacts of it.

The index gives the order, the log decides. Several supervisors may purge the same run at once: what the first one has
deleted is not there for the others.
"""

import asyncio
import re
from collections.abc import Collection, Iterable

from actors.bus.port import Bus, Stored
from actors.clock import Clock
from protocol import codec, streams, subjects
from protocol.errors import UndecodableError
from protocol.events import Finished
from protocol.ids import derived_run_id

QUIET_S = 3600.0
"""How long ago a run must have ended."""

PAGE = 1000
"""Most entries of the index that are read in one round."""

BATCH = 20
"""Most runs that are purged in one round, all at the same time."""

SWEEP_S = 60.0
"""Least time between the beginnings of two sweeps."""

RESTART_S = 600.0
"""How often a sweep begins at the oldest entry again, for runs that had to stay the first time."""

_RUN_ID = re.compile(rb"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")


class Sweep:
    """One way through the index.

    `unpurged` are the runs with more than one log message, `artifacts` the names of artifacts by run, `named` the runs
    of the stored requests and those that a request names. `pending` are the entries of runs that are to be purged next.
    """

    def __init__(self, unpurged: Collection[str], artifacts: Iterable[str]) -> None:
        self.unpurged = unpurged
        self.artifacts: dict[str, list[str]] = {}
        for name in artifacts:
            self.artifacts.setdefault(name.partition(".")[0], []).append(name)
        self.pending: list[Stored] = []
        self.is_last_page = False
        self.named: set[str] = set()
        self.read_to = 0

    def note_requests(self, requests: Iterable[Stored]) -> None:
        """Note the runs of these requests, and all that they name."""
        for stored in requests:
            self.read_to = stored.seq
            self.named.add(derived_run_id(streams.REQUESTS, stored.seq, stored.time_ns))
            self.named.update(found.decode() for found in _RUN_ID.findall(stored.data))


class RunPurge:
    """Purges finished runs in rounds of bounded work."""

    def __init__(self, bus: Bus, clock: Clock) -> None:
        self._bus = bus
        self._clock = clock
        self._sweep: Sweep | None = None
        self._after = 0
        self._next_sweep_at = self._next_restart_at = float("-inf")

    def forget(self) -> None:
        """There is room: drop what was read for the sweep under way."""
        if self._sweep and self._sweep.pending:
            self._after = self._sweep.pending[0].seq - 1
        self._sweep = None

    async def purge_some(self) -> bool:
        """Purge the next few finished runs; False if there is nothing to do for a while."""
        if self._sweep is None:
            if self._clock.monotonic() < self._next_sweep_at:
                return False
            self._sweep = await self._begin()
        sweep, ended_by = self._sweep, self._bus.now() - QUIET_S
        if not sweep.pending:
            await self._read_page(sweep, ended_by)
        batch = [subjects.indexed_run(stored.subject) for stored in sweep.pending[:BATCH]]
        await self._purge_all(sweep, batch, ended_by)
        del sweep.pending[:BATCH]
        if sweep.is_last_page and not sweep.pending:
            self._sweep = None
        return self._sweep is not None

    async def _read_page(self, sweep: Sweep, ended_by: float) -> None:
        """Read the next entries of runs that changed last before that time; they are ordered by it."""
        page = await self._bus.read(streams.INDEX, subjects.INDEX, after=self._after, limit=PAGE)
        old = [stored for stored in page if stored.time <= ended_by]
        sweep.pending = [stored for stored in old if subjects.indexed_run(stored.subject) in sweep.unpurged]
        sweep.is_last_page = len(old) < PAGE
        if old:
            self._after = old[-1].seq

    async def _begin(self) -> Sweep:
        now = self._clock.monotonic()
        self._next_sweep_at = now + SWEEP_S
        if now >= self._next_restart_at:
            self._after, self._next_restart_at = 0, now + RESTART_S
        logs = await self._bus.counts(streams.RUNS, subjects.ALL_RUN_LOGS)
        unpurged = {subjects.run_of(subject) for subject, number in logs.items() if number > 1}
        return Sweep(unpurged, await self._bus.artifact_names() if unpurged else ())

    async def _purge_all(self, sweep: Sweep, runs: Iterable[str], ended_by: float) -> None:
        sweep.note_requests(await self._bus.read(streams.REQUESTS, subjects.REQUESTS, after=sweep.read_to))
        logs = [subjects.log(run) for run in runs if run not in sweep.named]
        ends = await self._bus.last(streams.RUNS, logs)
        async with asyncio.TaskGroup() as group:
            for run in [subjects.run_of(end.subject) for end in ends if end.time <= ended_by and _is_end(end)]:
                group.create_task(self._purge(run, sweep.artifacts.get(run, ())))

    async def _purge(self, run: str, artifacts: Iterable[str]) -> None:
        """Purge one run. The log comes last: until then the run counts as unpurged."""
        for name in artifacts:
            await self._bus.drop_artifact(name)
        await self._bus.purge(streams.RUNS, subjects.all_run_work(run))
        await self._bus.purge(streams.RUNS, subjects.control(run))
        await self._bus.purge(streams.RUNS, subjects.log(run), keep=1)


def _is_end(stored: Stored) -> bool:
    try:
        return isinstance(codec.decode_event(stored.data), Finished)
    except UndecodableError:
        return False
