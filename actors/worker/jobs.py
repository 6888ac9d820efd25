"""The tasks under way in one process of a worker. A task is stopped by a cancel, or at its deadline."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager

from actors.clock import Clock
from actors.worker.stopping import AT_DEADLINE_S, DROPPED, LATE, Unwanted
from protocol.messages import Fault
from protocol.subjects import TaskAddress

STEP_S = 0.25
"""How long the deadlines are not looked at: a task whose deadline comes sooner is stopped that much late."""


class Job:
    """One handoff under way.

    `fault` is what its Result must say after it was stopped; None: no Result is wanted. `taken`: this instance may have
    worked on it.
    """

    __slots__ = ("_task", "began", "deadline", "fault", "name", "stopped", "taken")

    def __init__(self, name: str, deadline: float | None, began: float) -> None:
        self.name = name
        self.deadline = deadline
        self.began = began
        self.taken = False
        self.stopped = False
        self.fault: Fault | None = None
        self._task = asyncio.current_task()

    def stop(self, fault: Fault | None) -> None:
        """Cancel the work; only the first reason counts."""
        if not self.stopped and self._task is not None:
            self.stopped = True
            self.fault = fault
            self._task.cancel()

    def resume(self) -> bool:
        """After a CancelledError: True if `stop` caused it, and the task may go on to settle its delivery.

        False if the process is being stopped: then the CancelledError must be raised again.
        """
        return self.stopped and self._task is not None and self._task.uncancel() == 0


class Jobs:
    """All jobs of a process. `now` is the server's time, which deadlines are compared with."""

    def __init__(self, clock: Clock, now: Callable[[], float]) -> None:
        self._clock = clock
        self._now = now
        self._runs: dict[str, set[Job]] = {}
        self._some = asyncio.Event()

    @contextmanager
    def under_way(self, address: TaskAddress, deadline: float | None) -> Generator[Job]:
        """Let the current asyncio task be stopped while it works on this handoff."""
        job = Job(address.task, deadline, self._clock.monotonic())
        self._runs.setdefault(address.run, set()).add(job)
        self._some.set()
        try:
            yield job
        finally:
            jobs = self._runs[address.run]
            jobs.discard(job)
            if not jobs:
                del self._runs[address.run]

    def stop(self, told: Unwanted) -> None:
        """Stop what is no longer wanted. A run that ends at its deadline ends so for its tasks, too."""
        for job in list(self._runs.get(told.run, ())):
            if told.has(job.name):
                late = LATE if self._is_due(job, self._now() + AT_DEADLINE_S) else None
                job.stop(DROPPED if told.tasks else late)

    async def watch_deadlines(self) -> None:
        """Stop each job at its deadline, for ever."""
        while True:
            await self._some.wait()
            now = self._now()
            jobs = [job for jobs in self._runs.values() for job in jobs]
            for job in jobs:
                if self._is_due(job, now):
                    job.stop(LATE)
            if not jobs:
                self._some.clear()
            nearest = min((job.deadline for job in jobs if job.deadline is not None), default=now + STEP_S)
            await self._clock.sleep(min(STEP_S, max(nearest - now, STEP_S / 10)))

    @staticmethod
    def _is_due(job: Job, now: float) -> bool:
        return job.deadline is not None and now >= job.deadline
