"""What people told a run, who it was and what came of it: data behind `handoff show`."""

from collections.abc import Iterable

import msgspec

from actors.record import Recorded
from actors.run.plan_review import Effect, signature
from actors.run.state import RunState
from actors.worker.confirmation import Question, Said, answered
from protocol import subjects
from protocol.controls import Approve, Cancel, Edit, Reject
from protocol.errors import UndecodableError
from protocol.steps import ConfirmAsked


class ControlStory(msgspec.Struct, frozen=True, kw_only=True):
    """One Control. `at` is when it was stored (Unix time); `asked` is what it names, 0 for what waited.

    `effect` is empty while nothing has come of it. `comment` is the reason of a cancel.
    """

    kind: str
    by: str
    at: float
    seq: int
    effect: Effect | None = None
    asked: int = 0
    task: str = ""
    call: str = ""
    comment: str = ""


def controls_of(state: RunState, record: list[Recorded]) -> tuple[ControlStory, ...]:
    """The Controls of a run in their order, with what they came to."""
    said = [entry for entry in record if isinstance(entry.message, Cancel | Approve | Reject | Edit)]
    effects: dict[int, Effect] = state.review.effects | _tool_effects(record, said) | _cancel_effects(state, said)
    return tuple(_story(entry, effects.get(entry.seq)) for entry in said)


def _story(entry: Recorded, effect: Effect | None) -> ControlStory:
    message = entry.message
    assert isinstance(message, Cancel | Approve | Reject | Edit)
    story = ControlStory(
        kind=str(message.__struct_config__.tag),
        by=signature(message.by),
        at=entry.time,
        seq=entry.seq,
        effect=effect,
    )
    match message:
        case Cancel(reason=reason):
            return msgspec.structs.replace(story, comment=reason)
        case Reject(comment=comment):
            story = msgspec.structs.replace(story, comment=comment)
        case _:
            pass
    if isinstance(message, Approve | Reject):
        story = msgspec.structs.replace(story, task=message.task, call=message.call)
    return msgspec.structs.replace(story, asked=message.asked)


def _tool_effects(record: list[Recorded], said: list[Recorded]) -> dict[int, Effect]:
    """Controls about calls of tools: the first that answers a question in time is applied, the others are ignored."""
    words = [
        Said(seq=entry.seq, time=entry.time, control=entry.message)
        for entry in said
        if isinstance(entry.message, Approve | Reject) and entry.message.task
    ]
    effects: dict[int, Effect] = {word.seq: "ignored" for word in words}
    for question in _questions(record):
        first = next((word for word in words if answered(question, [word])), None)
        effects |= {first.seq: "applied"} if first else {}
    return effects


def _questions(record: Iterable[Recorded]) -> Iterable[Question]:
    for entry in record:
        if isinstance(entry.message, ConfirmAsked):
            try:
                task = subjects.address_of(entry.subject).task
            except UndecodableError:
                continue
            yield Question(task=task, seq=entry.seq, asked=entry.message)


def _cancel_effects(state: RunState, said: list[Recorded]) -> dict[int, Effect]:
    """The first cancel ends the run, once that is stored."""
    cancels = [entry.seq for entry in said if isinstance(entry.message, Cancel)]
    if state.cancelled is None and state.answer is None:
        return {}
    first: Effect = "applied" if state.cancelled else "ignored"
    return {seq: "ignored" if number else first for number, seq in enumerate(cancels)}
