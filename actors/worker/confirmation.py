"""What a person has said about a call of a tool that waits: pure functions of what is stored.

What always holds: only what was stored behind the question and by its deadline counts, and the first of it; a call that
nobody has allowed does not run.
"""

from collections.abc import Sequence

import msgspec

from protocol.controls import Approve, Control, Reject
from protocol.steps import ConfirmAsked, Confirmed, ModelCalled, Step

LONGEST = 1000


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A call that waits, with its task and the sequence of the step that asked."""

    task: str
    seq: int
    asked: ConfirmAsked


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A control with its place and time in the stream."""

    seq: int
    time: float
    control: Control


def standing(steps: Sequence[Step], call: str) -> ConfirmAsked | Confirmed | None:
    """How far the question about a call of the last turn has come. An earlier turn may have used the same id."""
    for step in reversed(steps):
        if isinstance(step, ModelCalled):
            return None
        if isinstance(step, ConfirmAsked | Confirmed) and step.call == call:
            return step
    return None


def answered(question: Question, said: Sequence[Said]) -> Confirmed | None:
    """What the question came to, as far as anybody has answered it."""
    asked = question.asked
    for one in said:
        control = one.control
        if not isinstance(control, Approve | Reject) or not means(control, question):
            continue
        if one.seq > question.seq and one.time <= asked.deadline:
            comment = one_line(control.comment) if isinstance(control, Reject) else ""
            by = one_line(control.by) or "somebody"
            return Confirmed(
                call=asked.call, tool=asked.tool, granted=isinstance(control, Approve), by=by, comment=comment
            )
    return None


def means(control: Approve | Reject, question: Question) -> bool:
    """Whether a control is about this question and no other."""
    named = (control.task, control.call) == (question.task, question.asked.call)
    return named and control.asked in (0, question.seq)


def one_line(text: str) -> str:
    """What a person said, short enough for a step."""
    return " ".join(text.split())[:LONGEST]


def unanswered(asked: ConfirmAsked) -> Confirmed:
    """What the question comes to when its deadline has passed."""
    return Confirmed(call=asked.call, tool=asked.tool, granted=False, comment="nobody answered in time")


def denial(confirmed: Confirmed) -> str:
    """What the model is told of a call that was not allowed; empty if it was."""
    if confirmed.granted:
        return ""
    who = f"denied by {confirmed.by}" if confirmed.by else "denied by default"
    return f"{who}: {confirmed.comment}" if confirmed.comment else who
