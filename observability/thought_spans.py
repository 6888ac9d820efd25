"""The spans of what a supervisor decided: plans, refinements, retries, new plans, judgement, synthesis."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from observability import names, span_ids
from observability.attempt_spans import last_execution, link
from observability.call_spans import chat_attributes, usage_attributes
from observability.redaction import redacted
from observability.run_record import Decided, Record
from observability.span import Link, Span, Value, nanoseconds
from protocol.events import (
    Condensed,
    Judged,
    Planned,
    PlanRejected,
    Refined,
    ReplanFailed,
    Replanned,
    Reported,
    Rerouted,
    Retrying,
    Synthesized,
)
from protocol.messages import Usage

MOST_LINKS = 100
LONGEST = 1000

ROLES = {Refined: "refine", Retrying: "retry", Rerouted: "reroute"}


class Thought(msgspec.Struct, frozen=True, kw_only=True):
    """One decision: which span it is, what is said of it, and what was wrong with it."""

    at: Decided
    role: str
    which: tuple[str | int, ...]
    told: dict[str, Value] = {}
    fault: str = ""
    links: tuple[Link, ...] = ()
    until_ns: int = 0

    def id(self, run: str) -> str:
        """Its span."""
        return span_ids.thought(run, self.role, *self.which)


def thoughts(record: Record) -> Iterator[Thought]:
    """The decisions of a run in their order."""
    counts: Counter[str] = Counter()
    for at in record.log:
        known = completed(record, before=at.seq) if isinstance(at.event, Judged | Synthesized) else {}
        if thought := _thought(record, at, counts, known):
            yield thought


def completed(record: Record, before: int | None = None) -> dict[str, str]:
    """The execution that completed each task, of those whose result was stored before that place."""
    return {
        task: last_execution(attempt)
        for (task, _), attempt in record.attempts.items()
        if attempt.result and attempt.result.status == "completed" and (before is None or attempt.result_seq < before)
    }


def causes(run: str, found: Sequence[Thought]) -> dict[tuple[str, int], str]:
    """Which decision led to an attempt at a task."""
    led: dict[tuple[str, int], str] = {}
    for thought in found:
        if isinstance(thought.at.event, Refined | Retrying | Rerouted):
            led[thought.at.event.task, thought.at.event.attempt] = thought.id(run)
        elif isinstance(thought.at.event, Replanned):
            led |= {(task.id, 1): thought.id(run) for task in thought.at.event.plan.tasks}
    return led


def thought_spans(thought: Thought, run: str) -> Iterator[Span]:
    """The decision, and below it the calls to the model that it took."""
    at, event = thought.at, thought.at.event
    usage = _usage(event)
    start_ns = at.time_ns - nanoseconds(usage.seconds)
    attributes: dict[str, Value] = {names.RUN: run, names.OPERATION: thought.role, names.CONVERSATION: run}
    if thought.fault:
        attributes[names.ERROR] = str(event.__struct_config__.tag)
    span = Span(
        name=thought.role,
        trace=run,
        id=thought.id(run),
        parent=span_ids.root(run),
        start_ns=start_ns,
        end_ns=max(at.time_ns, thought.until_ns),
        service=names.SUPERVISOR_SERVICE,
        instance=at.supervisor,
        attributes=attributes | usage_attributes(usage) | thought.told,
        status="error" if thought.fault else "unset",
        error=redacted(thought.fault)[:LONGEST],
        links=thought.links,
    )
    yield span
    yield from _chats(span, at, usage)


def _chats(span: Span, at: Decided, usage: Usage) -> Iterator[Span]:
    """The record keeps what all calls of a thought cost together: several share its time evenly."""
    model = str(getattr(at.event, "model", ""))
    unanswered = bool(span.error) and not usage.tokens
    took = (at.time_ns - span.start_ns) // max(1, usage.model_calls)
    for number in range(usage.model_calls):
        start_ns = span.start_ns + number * took
        spent = usage if usage.model_calls == 1 else Usage()
        yield Span(
            name=names.chat(model),
            kind="client",
            trace=span.trace,
            id=span_ids.chat(span.id, at.epoch, number),
            parent=span.id,
            start_ns=start_ns,
            end_ns=start_ns + took,
            service=span.service,
            instance=span.instance,
            attributes=chat_attributes(span.trace, model, spent),
            status="error" if unanswered else "unset",
            error=span.error if unanswered else "",
        )


def _usage(event: object) -> Usage:
    found = getattr(event, "usage", None)
    return found if isinstance(found, Usage) else Usage()


def _thought(record: Record, at: Decided, counts: "Counter[str]", known: Mapping[str, str]) -> Thought | None:
    """What one event decided; `counts` numbers those of a kind as the supervisor does before it thinks."""
    match at.event:
        case Planned() | PlanRejected():
            return _planning(at, counts)
        case Replanned() | ReplanFailed():
            counts["replan"] += 1
            return _replanning(at, counts["replan"])
        case Refined() | Retrying() | Rerouted():
            return _trying_again(record, at, at.event)
        case Condensed(key=key):
            return Thought(at=at, role="condense", which=(key,), told=_cut(at.event))
        case Judged(contradictions=disputed):
            counts["judge"] += 1
            tasks = {task for contradiction in disputed for task in contradiction.tasks}
            links = _fan_in(record.run, [known[task] for task in sorted(tasks) if task in known])
            return Thought(at=at, role="judge", which=(counts["judge"],), links=links)
        case Reported(failed=failed):
            counts["report"] += 1
            return Thought(at=at, role="report", which=(counts["report"],), fault=failed)
        case Synthesized(failed=failed):
            counts["synthesize"] += 1
            return Thought(
                at=at,
                role="synthesize",
                which=(counts["synthesize"],),
                told={names.RESULTS_READ: len(known)} | _cut(at.event),
                fault=failed,
                links=_fan_in(record.run, list(known.values())),
            )
        case _:
            return None


def _cut(event: Condensed | Synthesized) -> dict[str, Value]:
    """Why a text is not whole."""
    return {names.CUT: redacted(event.cut)[:LONGEST]} if event.cut else {}


def _planning(at: Decided, counts: "Counter[str]") -> Thought | None:
    """A plan or a rejected one. A person's no is not a thought: the plan it is about was one."""
    if isinstance(at.event, Planned):
        plan = at.event.plan
        told: dict[str, Value] = {names.REVISION: plan.revision, names.TASKS: len(plan.tasks)}
        return Thought(at=at, role="plan", which=(counts["rejected"] + 1,), told=told)
    assert isinstance(at.event, PlanRejected)
    counts["rejected"] += 1
    if at.event.reviewed:
        return None
    return Thought(at=at, role="plan", which=(counts["rejected"],), fault="; ".join(at.event.faults) or "rejected")


def _replanning(at: Decided, number: int) -> Thought:
    event = at.event
    assert isinstance(event, Replanned | ReplanFailed)
    told: dict[str, Value] = {names.REASON: redacted("; ".join(event.reasons))[:LONGEST]}
    if isinstance(event, Replanned):
        told |= {names.REVISION: event.plan.revision, names.TASKS: len(event.plan.tasks)}
        return Thought(at=at, role="replan", which=(number,), told=told)
    fault = "; ".join(event.faults) or "no new plan"
    return Thought(at=at, role="replan", which=(number,), told=told, fault=fault)


def _trying_again(record: Record, at: Decided, event: Refined | Retrying | Rerouted) -> Thought:
    """A decision to try again: why, after whom, and until when it kept the task waiting."""
    before = record.attempts.get((event.task, event.attempt - 1))
    after = record.attempts.get((event.task, event.attempt))
    told: dict[str, Value] = {
        names.TASK: event.task,
        names.ATTEMPT: event.attempt,
        names.REASON: redacted(event.reason)[:LONGEST],
    }
    if isinstance(event, Rerouted):
        told[names.AGENT] = event.worker
    return Thought(
        at=at,
        role=ROLES[type(event)],
        which=(event.task, event.attempt),
        told=told,
        links=(link(record.run, last_execution(before), names.AGAIN),) if before and before.executions() else (),
        until_ns=after.start_ns if after else 0,
    )


def _fan_in(run: str, executions: Sequence[str]) -> tuple[Link, ...]:
    return tuple(link(run, execution, names.FAN_IN) for execution in executions[:MOST_LINKS])
