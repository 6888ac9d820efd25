"""Decisions: what is due for a run, as data. Each goes away when the message that it leads to is folded."""

import msgspec

from protocol.events import Event
from protocol.messages import Answer, Budget, Context, Result, Task


class Append(msgspec.Struct, frozen=True):
    """Write an Event that follows from the state alone."""

    event: Event


class Dispatch(msgspec.Struct, frozen=True):
    """Hand a task to its worker, in these words, with what it needs to know and may spend."""

    task: Task
    attempt: int
    worker: str
    intent: str
    context: tuple[Context, ...]
    budget: Budget


class ModelCall(msgspec.Struct, frozen=True):
    """Ask a model, in the role that carries out this kind of decision (actors/supervisor/roles)."""


class CallPlanner(ModelCall, frozen=True):
    """Ask the planner, with what was wrong so far."""

    faults: tuple[str, ...]


class CallReplanner(ModelCall, frozen=True):
    """Ask the planner for a new revision, for these reasons."""

    reasons: tuple[str, ...]


class CallRefiner(ModelCall, frozen=True):
    """Ask for other words for a task that failed; it rests until `not_before`."""

    task: str
    not_before: float


class CallCondenser(ModelCall, frozen=True):
    """Ask for a shorter text of some results."""

    key: str
    results: tuple[Result, ...]


class CallSynthesizer(ModelCall, frozen=True):
    """Ask the synthesizer for one text made of the results."""


class CallReport(ModelCall, frozen=True):
    """Ask for a report on the text of the answer."""


class CallJudge(ModelCall, frozen=True):
    """Ask the judge which of the results that disagree is right."""


class Finish(msgspec.Struct, frozen=True):
    """End the run."""

    answer: Answer


class WakeAt(msgspec.Struct, frozen=True):
    """Nothing more to do before that moment, unless a message comes."""

    time: float


Decision = Append | Dispatch | ModelCall | Finish | WakeAt
