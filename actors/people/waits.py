"""What waits for a person in one run: a fold over its record, without waiting itself.

What always holds: what was answered, what nobody wants any more and what is past its deadline does not wait.
"""

import contextlib

import msgspec

from actors.record import Recorded
from actors.run.limits import Limits
from actors.run.state import RunState
from actors.worker.confirmation import Question, Said, answered
from protocol import subjects
from protocol.controls import Approve, Reject
from protocol.errors import UndecodableError
from protocol.messages import Handoff, Result
from protocol.steps import ConfirmAsked, Confirmed, ToolCalled
from protocol.subjects import TaskAddress

SHORT = 8


class OpenHandoff(msgspec.Struct, frozen=True, kw_only=True):
    """A handoff without a result. `since` is when it was stored, as a Unix time."""

    address: TaskAddress
    handoff: Handoff
    since: float

    @property
    def ref(self) -> str:
        """How a person names it."""
        return f"{self.address.run[:SHORT]}/{self.address.task}"


class OpenCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a tool that nobody has allowed or denied yet."""

    address: TaskAddress
    question: Question

    @property
    def ref(self) -> str:
        """How a person names it."""
        return f"{self.address.run[:SHORT]}/{self.address.task}"


class Waits:
    """Takes in the record of a run, entry by entry."""

    def __init__(self) -> None:
        self.state = RunState(Limits())
        self._handoffs: dict[TaskAddress, OpenHandoff] = {}
        self._calls: dict[tuple[TaskAddress, str], OpenCall] = {}
        self._said: list[Said] = []

    def take(self, entry: Recorded) -> None:
        """Take in one message."""
        self.state.fold(entry.message, entry.time, entry.seq)
        if isinstance(entry.message, Approve | Reject):
            self._said.append(Said(seq=entry.seq, time=entry.time, control=entry.message))
        elif isinstance(entry.message, Handoff | Result | ConfirmAsked | Confirmed | ToolCalled):
            # What stands where no task can be is nobody's.
            with contextlib.suppress(UndecodableError):
                self._work(entry, subjects.address_of(entry.subject))

    def _work(self, entry: Recorded, address: TaskAddress) -> None:
        message = entry.message
        match message:
            case Handoff():
                self._handoffs[address] = OpenHandoff(address=address, handoff=message, since=entry.time)
            case Result():
                self._handoffs.pop(address, None)
                self._calls = {key: call for key, call in self._calls.items() if key[0] != address}
            case ConfirmAsked():
                question = Question(task=address.task, seq=entry.seq, asked=message)
                self._calls[address, message.call] = OpenCall(address=address, question=question)
            case Confirmed() | ToolCalled():
                self._calls.pop((address, message.call), None)
            case _:
                pass

    @property
    def over(self) -> bool:
        """Whether nothing of the run is wanted any more."""
        return self.state.is_over

    def handoffs(self, now: float) -> list[OpenHandoff]:
        """The handoffs that somebody still waits for, whoever they are for; the oldest first."""
        return [item for item in self._handoffs.values() if self._wanted(item.address) and _in_time(item, now)]

    def calls(self, now: float) -> list[OpenCall]:
        """The calls that wait for a word; the oldest first."""
        return [
            call
            for call in self._calls.values()
            if self._wanted(call.address)
            and call.question.asked.deadline > now
            and answered(call.question, self._said) is None
        ]

    def _wanted(self, address: TaskAddress) -> bool:
        task = self.state.find(address.task)
        handed = task is not None and task.status == "handed" and task.attempt == address.attempt
        return handed and not self.over


def _in_time(item: OpenHandoff, now: float) -> bool:
    return item.handoff.deadline is None or item.handoff.deadline > now
