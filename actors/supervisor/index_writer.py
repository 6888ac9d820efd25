"""Keeps the entry of one run in the index of runs (HANDOFF_INDEX) up to date.

The entry is written when the run starts, with its plan, when a wait for a person begins or ends, at most every 5 s
while anything else changes, and at the end before the request is acknowledged. The lists of runs read only the index.

Two supervisors must not overwrite each other's entries with older news. Each write is a compare-and-set. After a
conflict the writer reads the sequence of the entry first and then checks that the log of the run is still its own:
a supervisor that takes over after this check writes after it too, and so makes this writer's compare-and-set fail.
"""

import asyncio
from collections.abc import Awaitable, Callable, Set

from actors.bus.port import Bus
from actors.clock import Clock
from actors.run.state import RunState
from observability.logger import get_logger
from observability.wording import about
from protocol import codec, streams, subjects
from protocol.errors import BusError, ConflictError
from protocol.messages import Answer, Request, RunEntry

INTERVAL_S = 5.0
RETRY_S = 0.1
TEXT_CHARS = 200
MAX_CONFLICTS = 10

log = get_logger()


def entry_of(state: RunState, request: Request, people: Set[str] = frozenset()) -> RunEntry:
    """The entry of a run; `people` are the workers that are persons."""
    answer, plan = state.answer, state.plan
    tasks = plan.tasks if plan else ()
    return RunEntry(
        run=request.id,
        team=request.team,
        status=answer.status if answer else _stage(state),
        text=about(request, plan)[:TEXT_CHARS],
        started=state.started_at,
        finished=state.started_at + answer.timing.wall_s if answer else None,
        tasks=len(tasks),
        done=sum(state.tasks[task.id].status == "completed" for task in tasks),
        usd=answer.usage.usd if answer else state.spent.usd,
        waiting=0 if answer else _waiting(state, people),
        parent=request.parent,
    )


def ended_entry(request: Request, answer: Answer, started: float, finished: float) -> RunEntry:
    """The last entry of a run whose messages cannot be folded."""
    return RunEntry(
        run=request.id,
        team=request.team,
        status=answer.status,
        text=about(request, None)[:TEXT_CHARS],
        started=started,
        finished=finished,
        parent=request.parent,
    )


def _stage(state: RunState) -> str:
    if state.under_review:
        return "review"
    return "running" if state.plan else "planning"


def _waiting(state: RunState, people: Set[str]) -> int:
    """How many decisions and tasks wait for a person."""
    handed = sum(task.worker in people for task in state.handed) if people else 0
    return handed + (state.under_review is not None)


class IndexWriter:
    """Writes the entry of one run. `check` raises FencedError if the run is in other hands."""

    def __init__(self, bus: Bus, clock: Clock, request: Request, check: Callable[[], Awaitable[object]]) -> None:
        self._bus = bus
        self._clock = clock
        self._request = request
        self._check = check
        self._subject = subjects.index(request.team, request.id)
        self._seq: int | None = None
        self._stored: asyncio.Future[int] | None = None
        self._entry: RunEntry | None = None
        self._stage: tuple[int, str, int] | None = None
        self._next_at = float("-inf")
        self._conflicts = 0
        self._failed = False

    async def update(self, state: RunState, people: Set[str]) -> float | None:
        """Write the entry if that is due; returns after how many seconds to call again, or None."""
        now = self._clock.monotonic()
        stage = (len(state.plans), _stage(state), _waiting(state, people))
        if stage == self._stage and now < self._next_at:
            return self._next_at - now
        if self._stored is not None and not self._stored.done():
            return RETRY_S
        self._stage, self._next_at = stage, now + INTERVAL_S
        entry = entry_of(state, self._request, people)
        await self._settle()
        if entry == self._entry:
            return None
        await self._write(entry, state.epoch)
        return INTERVAL_S

    async def finish(self, state: RunState) -> None:
        """Write the last entry and wait until it is stored."""
        await self.write_last(entry_of(state, self._request), state.epoch)

    async def write_last(self, entry: RunEntry, epoch: int = 0) -> None:
        """Write this as the last entry and wait until it is stored."""
        await self._settle()
        while self._conflicts < MAX_CONFLICTS:
            if self._entry == entry:
                return
            await self._write(entry, epoch)
            await self._settle()
            if self._failed:
                return
        log.warning("run_index.write_failed", run=self._request.id, error="too many conflicts")

    async def _write(self, entry: RunEntry, epoch: int) -> None:
        """Send an entry behind the last one; the first supervisor of a run expects that there is none."""
        if self._seq is None:
            self._seq = 0 if epoch == 1 and not self._conflicts else await self._taken_over()
        self._entry = entry
        self._stored = await self._bus.send(self._subject, codec.encode(entry), expect=self._seq)
        self._stored.add_done_callback(_retrieve)

    async def _settle(self) -> None:
        """Wait until the last write is stored. After a conflict the next write reads the entry first.

        A write that fails, for example because the index is full, is made again when the next one is due.
        """
        if self._stored is None:
            return
        stored, self._stored = self._stored, None
        failed_before, self._failed = self._failed, False
        try:
            self._seq = await stored
        except ConflictError:
            self._seq = self._entry = None
            self._conflicts += 1
        except BusError as error:  # the index serves lists: a run must not fail for it
            self._failed, self._entry = True, None
            if not failed_before:
                log.warning("run_index.write_failed", run=self._request.id, error=str(error))

    async def _taken_over(self) -> int:
        """The sequence of the entry that another supervisor wrote; read before it is sure that the run is ours."""
        found = await self._bus.last(streams.INDEX, [self._subject])
        await self._check()
        return found[0].seq if found else 0


def _retrieve(stored: "asyncio.Future[int]") -> None:
    """A run that was taken over never asks for the outcome of its last write: that is no error."""
    if not stored.cancelled():
        stored.exception()
