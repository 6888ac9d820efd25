"""The spans of one attempt at a task: its handoff, everyone who worked on it, their model calls and tool calls."""

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from observability import names, span_ids
from observability.call_spans import chat_span, task_attributes, took_ns, tool_span, usage_attributes
from observability.redaction import redacted
from observability.run_record import Attempt, StepAt
from observability.span import Attributes, Link, Moment, Span, Status, Value, nanoseconds
from protocol.messages import Result
from protocol.steps import ConfirmAsked, Confirmed, GivenBack, ModelCalled, ToolCalled
from protocol.subjects import TASK_TEMPLATE, durable

LONGEST_ERROR = 1000
LOST = "ended without a result: the worker was killed or replaced"


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """How to tell it. `end_ns` is the last moment of the run; `done` names the execution that completed each task."""

    end_ns: int
    over: bool
    done: Mapping[str, str] = {}
    causes: Mapping[tuple[str, int], str] = {}
    content: bool = False


def attempt_spans(attempt: Attempt, telling: Telling) -> Iterator[Span]:
    """The handoff as a PRODUCER, each execution as a CONSUMER below it, calls below these."""
    executions = attempt.executions()
    times = execution_times(attempt, executions, telling.end_ns)
    common = task_attributes(attempt)
    yield _dispatch(attempt, telling, common, times)
    turn = 0
    for number, steps in enumerate(executions):
        span = _execution(attempt, telling, common, number, times[number])
        yield _with_questions(span, steps) if steps else span
        called: Counter[tuple[int, str]] = Counter()
        for at in steps:
            if isinstance(at.step, ModelCalled):
                yield chat_span(at, turn, span)
                turn += 1
            elif isinstance(at.step, ToolCalled):
                same = called[turn, at.step.call]
                called[turn, at.step.call] += 1
                told = tool_span(attempt, at, turn - 1, span, content=telling.content)
                again = span_ids.tool(span.id, turn - 1, at.step.call, same)
                yield msgspec.structs.replace(told, id=again) if same else told


def execution_times(attempt: Attempt, executions: list[list[StepAt]], end_ns: int) -> list[tuple[int, int]]:
    """When each execution began and ended; `end_ns` is the last known moment of the run."""
    last_ns = attempt.end_ns if attempt.result else end_ns
    begins = [_begin(attempt, executions, number) for number in range(len(executions))]
    if len(begins) == 1:  # nearly always
        return [(begins[0], max(begins[0], last_ns))]
    ends = [*begins[1:], last_ns]
    if attempt.result and begins:
        ends[attempt.counting] = attempt.end_ns
    return [(begun, max(begun, ended)) for begun, ended in zip(begins, ends, strict=bool(begins))]


def outcome_of(attempt: Attempt, number: int, *, over: bool) -> str:
    """What came of an execution: the status of its result, or that it was given back, lost or abandoned."""
    if number == attempt.counting:
        return _outcome(attempt, over)
    return names.GIVEN_BACK if attempt.returned(number) else names.LOST


def last_execution(attempt: Attempt) -> str:
    """The span of whoever's result counts, or had it last."""
    run, _, _, task, number = attempt.address
    return span_ids.execution(run, task, number, attempt.counting)


def link(trace: str, span: str, why: str) -> Link:
    """A link that says why it is there."""
    return Link(trace=trace, span=span, attributes={names.LINK: why})


def _begin(attempt: Attempt, executions: list[list[StepAt]], number: int) -> int:
    """When an execution began: its claim tells; for the first, what it says of its own duration, and of its steps."""
    steps = executions[number]
    if number:
        return steps[0].time_ns
    begins = [at.time_ns - took_ns(at) for at in steps]
    if len(executions) == 1 and attempt.result:
        begins.append(attempt.end_ns - nanoseconds(attempt.result.usage.seconds))
    return max(attempt.start_ns, min(begins, default=attempt.start_ns))


def _messaging(attempt: Attempt, operation: str) -> dict[str, Value]:
    return {
        names.SYSTEM: names.NATS,
        names.MESSAGING_OPERATION: operation,
        names.MESSAGING_TYPE: operation,
        names.DESTINATION: attempt.subject or attempt.address.handoff,
        names.TEMPLATE: TASK_TEMPLATE,
    }


def _dispatch(attempt: Attempt, telling: Telling, common: Attributes, times: list[tuple[int, int]]) -> Span:
    run, _, worker, task, number = attempt.address
    attributes: dict[str, Value] = {
        **common,
        **_messaging(attempt, "send"),
        names.OUTCOME: _outcome(attempt, telling.over),
    }
    if times:
        attributes[names.QUEUE_WAIT_S] = round((times[0][0] - attempt.start_ns) / 1e9, 6)
    handoff = attempt.handoff
    links = [link(run, telling.causes[key], names.CAUSE)] if (key := (task, number)) in telling.causes else []
    if handoff:
        links += [link(run, telling.done[c.task], names.FAN_IN) for c in handoff.context if c.task in telling.done]
        if handoff.context:
            attributes[names.DEPENDS_ON] = tuple(part.task for part in handoff.context)
        if telling.content:
            attributes[names.INTENT] = handoff.intent
    return Span(
        name=names.dispatch(worker),
        kind="producer",
        trace=run,
        id=span_ids.dispatch(run, task, number),
        parent=span_ids.root(run),
        start_ns=attempt.start_ns,
        end_ns=attempt.end_ns if attempt.result else max(telling.end_ns, attempt.start_ns),
        service=names.SUPERVISOR_SERVICE,
        instance=attempt.supervisor,
        attributes=attributes,
        links=tuple(links),
    )


def _execution(attempt: Attempt, telling: Telling, common: Attributes, number: int, times: tuple[int, int]) -> Span:
    run, team, worker, task, attempted = attempt.address
    outcome = outcome_of(attempt, number, over=telling.over)
    attributes: dict[str, Value] = {
        **common,
        **_messaging(attempt, "process"),
        names.OPERATION: "invoke_agent",
        names.GROUP: durable(team, worker),
        names.EXECUTION: number,
        names.OUTCOME: outcome,
    }
    result = attempt.result if number == attempt.counting else None
    status, error, moments = _verdict(result, outcome == names.LOST, times[1], attributes)
    if result:
        attributes |= usage_attributes(result.usage)
        if telling.content:
            attributes[names.OUTPUT] = result.output
    before = (link(run, span_ids.execution(run, task, attempted, number - 1), names.REDELIVERY),) if number else ()
    return Span(
        name=names.execution(worker),
        kind="consumer",
        trace=run,
        id=span_ids.execution(run, task, attempted, number),
        parent=span_ids.dispatch(run, task, attempted),
        start_ns=times[0],
        end_ns=times[1],
        service=names.worker_service(worker),
        instance=_instance(attempt, number),
        attributes=attributes,
        status=status,
        error=error,
        links=before,
        events=moments,
    )


def _with_questions(span: Span, steps: list[StepAt]) -> Span:
    return msgspec.structs.replace(span, events=(*_confirming(steps), *_returning(steps), *span.events))


def _returning(steps: list[StepAt]) -> Iterator[Moment]:
    """When the worker gave the task back on purpose, and why."""
    for at in steps:
        if isinstance(at.step, GivenBack):
            told: dict[str, Value] = {names.REASON: redacted(at.step.reason)[:LONGEST_ERROR]}
            yield Moment(name=names.moment("given_back"), time_ns=at.time_ns, attributes=told)


def _confirming(steps: list[StepAt]) -> Iterator[Moment]:
    """When a person was asked whether a tool may run, and what became of that."""
    for at in steps:
        if isinstance(at.step, ConfirmAsked | Confirmed):
            told: dict[str, Value] = {names.TOOL: at.step.tool, names.TOOL_CALL: at.step.call}
            if isinstance(at.step, Confirmed):
                told[names.OUTCOME] = "granted" if at.step.granted else "denied"
                told |= {names.BY: redacted(at.step.by)} if at.step.by else {}
            tag = str(at.step.__struct_config__.tag)
            yield Moment(name=names.moment(tag), time_ns=at.time_ns, attributes=told)


def _verdict(
    result: Result | None, lost: bool, end_ns: int, attributes: dict[str, Value]
) -> tuple[Status, str, tuple[Moment, ...]]:
    """How an execution ended; what kind of failure it was is added to the attributes."""
    if lost:
        attributes[names.ERROR] = names.LOST
        return "error", LOST, ()
    if result is None or result.error is None:
        return "unset", "", ()
    attributes[names.ERROR] = result.error.kind
    error = redacted(result.error.message)[:LONGEST_ERROR]
    facts = {names.EXCEPTION_TYPE: result.error.kind, names.EXCEPTION_MESSAGE: error}
    return "error", error, (Moment(name=names.EXCEPTION, time_ns=end_ns, attributes=facts),)


def _outcome(attempt: Attempt, over: bool) -> str:
    if attempt.result:
        return attempt.result.status
    return names.ABANDONED if over else names.GOING_ON


def _instance(attempt: Attempt, number: int) -> str:
    """Which process it was; of the first one only its result tells, or its word when it gave the task back."""
    if number:
        return attempt.claims[number - 1]
    if returned := attempt.returned(0):
        return returned.instance
    return attempt.result.instance if attempt.result and attempt.counting == 0 else ""
