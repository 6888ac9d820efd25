"""The record of a run, sorted for telling: what the supervisors decided, and what became of each attempt at a task."""

from collections.abc import Iterable
from typing import Protocol

import msgspec

from protocol import subjects
from protocol.controls import Control
from protocol.errors import UndecodableError
from protocol.events import Event, Finished, Started
from protocol.messages import Handoff, Request, Result
from protocol.steps import GivenBack, Step, Taken
from protocol.subjects import TaskAddress


class Entry(Protocol):
    """One stored message of a run: its place, its moment (Unix time), its subject and what it says."""

    @property
    def seq(self) -> int: ...  # noqa: D102
    @property
    def time(self) -> float: ...  # noqa: D102
    @property
    def subject(self) -> str: ...  # noqa: D102
    @property
    def message(self) -> Event | Handoff | Step | Result | Control: ...  # noqa: D102


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """An event, and which supervisor wrote it in which epoch."""

    event: Event
    seq: int
    time_ns: int
    epoch: int
    supervisor: str


class StepAt(msgspec.Struct, frozen=True, kw_only=True):
    """A step and its moment."""

    step: Step
    time_ns: int


class Attempt(msgspec.Struct, kw_only=True):
    """One attempt at a task: its handoff, the steps of whoever took it, and its result."""

    address: TaskAddress
    subject: str = ""
    supervisor: str = ""
    handoff: Handoff | None = None
    start_ns: int = 0
    steps: list[StepAt] = []
    result: Result | None = None
    result_seq: int = 0
    end_ns: int = 0

    @property
    def claims(self) -> list[str]:
        """Who took it after the first time, in order."""
        return [at.step.instance for at in self.steps if isinstance(at.step, Taken)]

    @property
    def counting(self) -> int:
        """Which execution its result is of; without one, the last. One that was replaced may still have been first."""
        if not self.steps:
            return 0
        takers = self.claims
        if self.result is None or not self.result.instance or not takers:
            return len(takers)
        own = [number for number, instance in enumerate(takers, 1) if instance == self.result.instance]
        return own[-1] if own else 0

    def executions(self) -> list[list[StepAt]]:
        """The steps of each worker that had it, one after the other; each but the first begins with its `taken`."""
        if not self.steps and self.result is None:
            return []
        parts: list[list[StepAt]] = [[]]
        for at in self.steps:
            if isinstance(at.step, Taken):
                parts.append([])
            parts[-1].append(at)
        return parts

    def returned(self, number: int) -> GivenBack | None:
        """How the worker of an execution gave the task back on purpose; None if it did not."""
        executions = self.executions()
        last = executions[number][-1:] if number < len(executions) else []
        return next((at.step for at in last if isinstance(at.step, GivenBack)), None)


class Record(msgspec.Struct, kw_only=True):
    """Everything of one run. `end_ns` is its last known moment."""

    run: str
    log: list[Decided] = []
    attempts: dict[tuple[str, int], Attempt] = {}
    start_ns: int = 0
    end_ns: int = 0

    @property
    def first(self) -> Started | None:
        """How the run began."""
        return next((at.event for at in self.log if isinstance(at.event, Started)), None)

    @property
    def request(self) -> Request:
        """What was asked."""
        return self.first.request if self.first else Request()

    @property
    def finished(self) -> Finished | None:
        """How the run ended; None for one that is going on or was cut off."""
        return next((at.event for at in reversed(self.log) if isinstance(at.event, Finished)), None)

    @property
    def supervisor(self) -> str:
        """Who had the run last."""
        return self.log[-1].supervisor if self.log else ""


def sorted_record(run: str, entries: Iterable[Entry]) -> Record:
    """The messages of a run, sorted; what stands on no known subject is left out."""
    record = Record(run=run)
    epoch, supervisor = 0, ""
    for entry in sorted(entries, key=lambda entry: entry.seq):
        message, time_ns = entry.message, round(entry.time * 1e9)
        record.start_ns = record.start_ns or time_ns
        record.end_ns = max(record.end_ns, time_ns)
        match message:
            case Handoff() | Result():
                _work(record, entry, time_ns, supervisor)
            case _ if isinstance(message, Step):
                _work(record, entry, time_ns, supervisor)
            case _ if subjects.kind_of(entry.subject) == "log":
                if isinstance(message, Started):
                    epoch, supervisor = message.epoch, message.supervisor
                at = Decided(event=message, seq=entry.seq, time_ns=time_ns, epoch=epoch, supervisor=supervisor)  # pyright: ignore[reportArgumentType]
                record.log.append(at)
            case _:
                pass  # controls: what came of them is an event
    return record


def _work(record: Record, entry: Entry, time_ns: int, supervisor: str) -> None:
    try:
        address = subjects.address_of(entry.subject)
    except UndecodableError:
        return
    key = address.task, address.attempt
    attempt = record.attempts.get(key)
    if attempt is None:
        attempt = record.attempts[key] = Attempt(address=address, start_ns=time_ns, end_ns=time_ns)
    attempt.end_ns = max(attempt.end_ns, time_ns)
    match entry.message:
        case Handoff() as handoff:
            attempt.handoff, attempt.subject = handoff, entry.subject
            attempt.start_ns, attempt.supervisor = time_ns, supervisor
        case Result() as result:
            attempt.result, attempt.result_seq, attempt.end_ns = result, entry.seq, time_ns
        case step:
            if isinstance(step, Step):
                attempt.steps.append(StepAt(step=step, time_ns=time_ns))
