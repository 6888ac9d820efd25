"""The past of a run, read without folding it: enough to take the run over, or to end it."""

from collections.abc import Iterable

import msgspec

from actors.run.limits import Limits
from protocol.controls import Control
from protocol.events import Event, Finished, Planned, RunGivenBack, Started, Waiting
from protocol.messages import Answer, Handoff, Request, Result
from protocol.steps import Step

Entry = Event | Handoff | Step | Result | Control

LAST_HOLDERS = 3


class Past(msgspec.Struct, frozen=True, kw_only=True):
    """What the stored messages of a run say about its takings.

    `lost` counts the takings since the last progress whose supervisor neither made progress nor gave the run back,
    `taken` counts all takings since then, and `returned` is why the run was given back last. `holders` are the last
    supervisors that took it. `began` is when the oldest `started` was stored, `proposed_at` when the newest plan was.
    `cut` tells that the beginning of the log is gone.
    """

    epoch: int = 0
    request: Request | None = None
    request_seq: int = 0
    began: float = 0.0
    proposed_at: float | None = None
    answer: Answer | None = None
    lost: int = 0
    taken: int = 0
    returned: str = ""
    holders: tuple[str, ...] = ()
    cut: bool = False


def past_of(entries: Iterable[tuple[Entry, float]]) -> Past:
    """The past that these messages tell, each with the time at which it was stored, in the order of the stream."""
    past, held = Past(), False
    for message, at in entries:
        match message:
            case Started():
                past = _taken(past, message, at, lost=held)
                held = True
            case RunGivenBack(reason=reason):
                held = False
                past = msgspec.structs.replace(past, returned=reason)
            case Finished(answer=answer):
                past = msgspec.structs.replace(past, answer=past.answer or answer)
            case Planned():
                past = msgspec.structs.replace(past, proposed_at=at, lost=0, taken=0)
            case Handoff() | Result():
                past = msgspec.structs.replace(past, lost=0, taken=0)
            case _ if isinstance(message, Event) and not isinstance(message, Waiting):
                past = msgspec.structs.replace(past, lost=0, taken=0)
            case _:
                pass  # no progress: what a client says, and that the run waits
        if not past.epoch and isinstance(message, Event):
            past = msgspec.structs.replace(past, cut=True)
    return msgspec.structs.replace(past, lost=past.lost + held)


def _taken(past: Past, started: Started, at: float, *, lost: bool) -> Past:
    return msgspec.structs.replace(
        past,
        epoch=max(past.epoch, started.epoch),
        request=past.request or started.request,
        request_seq=past.request_seq if past.request else started.request_seq,
        began=past.began or at,
        lost=past.lost + lost,
        taken=past.taken + 1,
        holders=(*past.holders, started.supervisor)[-LAST_HOLDERS:],
        cut=past.cut or (past.request is None and started.epoch > 1),
    )


def overdue_at(past: Past, limits: Limits) -> float:
    """The moment at which the deadline has passed for sure of a run whose Events are all understood."""
    if past.request is None or past.request.review:
        return abandoned_at(past, limits)
    return past.began + limits.run_seconds(past.request)


def abandoned_at(past: Past, limits: Limits) -> float:
    """The moment after which a run whose log holds unknown Events may be ended without understanding them.

    It is the deadline. If a person may review a plan, the deadline moves meanwhile: then the time for a review counts,
    too, from the newest plan on.
    """
    request = past.request
    seconds = limits.run_seconds(request)
    if past.proposed_at is None and (request is None or not request.review):
        return past.began + seconds
    return max(past.began, past.proposed_at or 0.0) + limits.review_s + seconds
