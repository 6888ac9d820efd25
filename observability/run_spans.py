"""The trace of a run, made of its record: a pure function, the same for whoever tells it.

What always holds: one trace id, the run; one root, the client's request; every parent is there. A run that goes on, or
was cut off, is told as far as it is known: what is open ends at its last known moment and is marked.
"""

from collections.abc import Iterable, Sequence

from observability import names, span_ids
from observability.attempt_spans import Telling, attempt_spans, link
from observability.call_spans import usage_attributes
from observability.context import parse
from observability.redaction import redacted
from observability.run_record import Decided, Entry, Record, sorted_record
from observability.span import Link, Moment, Span, Value
from observability.thought_spans import LONGEST, causes, completed, thought_spans, thoughts
from protocol import subjects
from protocol.events import (
    Approved,
    Cancelled,
    Expired,
    Finished,
    GaveUp,
    Judging,
    PlanRejected,
    RunGivenBack,
    Skipped,
    Started,
    Waiting,
    kind,
)


def spans_of(run: str, entries: Iterable[Entry], *, content: bool = False) -> list[Span]:
    """The whole trace of a run. With `content`, what was said is in it too."""
    record = sorted_record(run, entries)
    if not record.log and not record.attempts:
        return []
    found = list(thoughts(record))
    telling = Telling(
        end_ns=record.end_ns,
        over=record.finished is not None,
        done=completed(record),
        causes=causes(run, found),
        content=content,
    )
    spans = [_client(record), _root(record, content=content)]
    for thought in found:
        spans += thought_spans(thought, run)
    for attempt in record.attempts.values():
        spans += attempt_spans(attempt, telling)
    return spans


def told_elsewhere(spans: Sequence[Span], instance: str) -> set[str]:
    """The model calls that a live process tells itself, and in more detail.

    Those are a worker's once its result is stored, and those of the supervisor of that name.
    """
    tellers = {span.id for span in spans if _lives_to_tell(span, instance)}
    return {span.id for span in spans if span.kind == "client" and span.parent in tellers}


def _lives_to_tell(span: Span, instance: str) -> bool:
    if span.kind == "consumer":
        return span.attributes.get(names.OUTCOME) not in (names.LOST, names.GIVEN_BACK, names.ABANDONED, names.GOING_ON)
    return span.service == names.SUPERVISOR_SERVICE and span.instance == instance


def _client(record: Record) -> Span:
    """The request, from when it was stored until there is an answer."""
    first = record.first
    asked_ns = round(first.asked_at * 1e9) if first else 0
    team = record.request.team
    return Span(
        name=names.request(team),
        kind="producer",
        trace=record.run,
        id=span_ids.client(record.run),
        start_ns=min(asked_ns, record.start_ns) or record.start_ns,
        end_ns=record.end_ns,
        service=names.CLIENT_SERVICE,
        attributes={
            names.RUN: record.run,
            names.TEAM: team,
            names.SYSTEM: names.NATS,
            names.MESSAGING_OPERATION: "send",
            names.MESSAGING_TYPE: "send",
            names.DESTINATION: subjects.request(team),
        },
        links=_asked_by(record),
    )


def _asked_by(record: Record) -> tuple[Link, ...]:
    """The span in another trace that the request came from."""
    found = parse(record.first.traceparent) if record.first else None
    return (link(*found, names.ASKED_BY),) if found and found[0] != record.run else ()


def _root(record: Record, *, content: bool) -> Span:
    attributes: dict[str, Value] = {
        names.RUN: record.run,
        names.TEAM: record.request.team,
        names.OPERATION: "invoke_workflow",
        names.WORKFLOW: record.request.team,
        names.CONVERSATION: record.run,
        names.EPOCHS: sum(isinstance(at.event, Started) for at in record.log),
    }
    finished = record.finished
    attributes |= _answer(finished) if finished else {names.OPEN: True, names.STATUS: names.GOING_ON}
    if content:
        attributes |= {names.REQUEST: record.request.text}
        attributes |= {names.ANSWER: finished.answer.text} if finished else {}
    failed = finished is not None and finished.answer.status == "failed"
    if failed:
        attributes[names.ERROR] = "run_failed"
    return Span(
        name=names.workflow(record.request.team),
        trace=record.run,
        id=span_ids.root(record.run),
        parent=span_ids.client(record.run),
        start_ns=record.start_ns,
        end_ns=record.end_ns,
        service=names.SUPERVISOR_SERVICE,
        instance=record.supervisor,
        attributes=attributes,
        status="error" if failed else "unset",
        error=redacted("; ".join(finished.answer.gaps))[:LONGEST] if finished and failed else "",
        events=tuple(moment for at in record.log if (moment := _moment(at))),
    )


def _answer(finished: Finished) -> dict[str, Value]:
    answer = finished.answer
    told: dict[str, Value] = {names.STATUS: answer.status, names.GAPS: len(answer.gaps)}
    if answer.confidence is not None:
        told[names.CONFIDENCE] = answer.confidence
    return told | usage_attributes(answer.usage)


def _moment(at: Decided) -> Moment | None:
    """What happened to the run without taking time."""
    told: dict[str, Value] = {}
    match at.event:
        case Started(epoch=epoch, supervisor=supervisor):
            if epoch == 1:
                return None
            told = {names.EPOCHS: epoch, names.INSTANCE: supervisor}
        case RunGivenBack(supervisor=supervisor, reason=reason):
            told = {names.INSTANCE: supervisor, names.REASON: redacted(reason)[:LONGEST]}
        case PlanRejected(reviewed=True, faults=faults, by=by):
            told = {names.REASON: redacted("; ".join(faults))[:LONGEST]} | _said_by(by)
        case GaveUp(task=task, reason=reason) | Skipped(task=task, cause=reason):
            told = {names.TASK: task, names.REASON: redacted(reason)[:LONGEST]}
        case Waiting(reason=reason):
            told = {names.REASON: redacted(reason)[:LONGEST]}
        case Cancelled(reason=reason, by=by):
            told = {names.REASON: redacted(reason)[:LONGEST]} | _said_by(by)
        case Approved(by=by):
            told = _said_by(by)
        case Judging(task=task):
            told = {names.TASK: task.id, names.AGENT: task.worker}
        case Expired() | Finished():
            pass
        case _:
            return None
    return Moment(name=names.moment(kind(at.event)), time_ns=at.time_ns, attributes=told)


def _said_by(by: str) -> dict[str, Value]:
    """Who said it, if that is known."""
    return {names.BY: redacted(by)} if by else {}
