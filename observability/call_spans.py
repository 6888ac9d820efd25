"""The spans of calls inside a task: each turn of the model, each call of a tool."""

from typing import Any

import msgspec

from observability import names, span_ids
from observability.run_record import Attempt, StepAt
from observability.span import Span, Value, nanoseconds
from protocol.messages import Usage
from protocol.steps import ModelCalled, ToolCalled

_blocks = msgspec.json.Decoder(list[dict[str, Any]])


def usage_attributes(usage: Usage) -> dict[str, Value]:
    """What was spent, as attributes; an unknown price is left out."""
    told: dict[str, Value] = {}
    if usage.tokens:
        told[names.INPUT_TOKENS] = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        told[names.OUTPUT_TOKENS] = usage.output_tokens
    if usage.model_calls:
        told[names.MODEL_CALLS] = usage.model_calls
    if usage.tool_calls:
        told[names.TOOL_CALLS] = usage.tool_calls
    if usage.usd:
        told[names.USD] = usage.usd
    return told


def took_ns(at: StepAt) -> int:
    """How long a step took."""
    match at.step:
        case ModelCalled(usage=usage):
            return nanoseconds(usage.seconds)
        case ToolCalled(seconds=seconds):
            return nanoseconds(seconds)
        case _:
            return 0


def task_attributes(attempt: Attempt) -> dict[str, Value]:
    """Which attempt at which task of which run."""
    run, team, worker, task, number = attempt.address
    return {
        names.RUN: run,
        names.TEAM: team,
        names.TASK: task,
        names.ATTEMPT: number,
        names.AGENT: worker,
        names.CONVERSATION: run,
    }


def chat_span(at: StepAt, turn: int, execution: Span) -> Span:
    """One turn of the model."""
    step, end_ns = at.step, at.time_ns
    assert isinstance(step, ModelCalled)
    asked = step.asked or step.model
    attributes = chat_attributes(execution.trace, asked, step.usage) | {names.RESPONSE_MODEL: step.model}
    if step.stop_reason:
        attributes[names.STOP_REASON] = step.stop_reason
    return Span(
        name=names.chat(asked),
        kind="client",
        trace=execution.trace,
        id=span_ids.chat(execution.id, turn, 0),
        parent=execution.id,
        start_ns=max(execution.start_ns, end_ns - nanoseconds(step.usage.seconds)),
        end_ns=end_ns,
        service=execution.service,
        instance=execution.instance,
        attributes=attributes,
    )


def chat_attributes(run: str, model: str, usage: Usage) -> dict[str, Value]:
    """What is known of any call to a model, in the words of the SDK; the price stands with whoever paid it."""
    told = usage_attributes(msgspec.structs.replace(usage, model_calls=0, tool_calls=0, usd=None))
    return told | {names.OPERATION: "chat", names.REQUEST_MODEL: model, names.CONVERSATION: run, names.RUN: run}


def tool_span(attempt: Attempt, at: StepAt, turn: int, execution: Span, *, content: bool) -> Span:
    """One call of a tool: how big what went in and came out is, and what it was if content is wanted."""
    step, end_ns = at.step, at.time_ns
    assert isinstance(step, ToolCalled)
    arguments = _arguments(attempt, turn, step.call)
    attributes: dict[str, Value] = task_attributes(attempt) | {
        names.OPERATION: "execute_tool",
        names.TOOL: step.tool,
        names.TOOL_TYPE: "function",
        names.TOOL_CALL: step.call,
        names.ARGUMENT_BYTES: len(arguments),
        names.RESULT_BYTES: len(step.output.encode()),
        names.OUTCOME: "failed" if step.failed else "completed",
    }
    if step.failed:
        attributes[names.ERROR] = "tool_error"
    if content:
        attributes |= {names.TOOL_ARGUMENTS: arguments.decode(), names.TOOL_RESULT: step.output}
    return Span(
        name=names.tool(step.tool),
        trace=execution.trace,
        id=span_ids.tool(execution.id, turn, step.call),
        parent=execution.id,
        start_ns=max(execution.start_ns, end_ns - nanoseconds(step.seconds)),
        end_ns=end_ns,
        service=execution.service,
        instance=execution.instance,
        attributes=attributes,
        status="error" if step.failed else "unset",
        error="the tool failed" if step.failed else "",
    )


def _arguments(attempt: Attempt, turn: int, call: str) -> bytes:
    """What a tool was called with, as the model said it in that turn."""
    turns = [at.step for at in attempt.steps if isinstance(at.step, ModelCalled)]
    if not 0 <= turn < len(turns):
        return b""
    try:
        blocks = _blocks.decode(turns[turn].content)
    except msgspec.MsgspecError:
        return b""
    found = next((b for b in blocks if b.get("type") == "tool_use" and b.get("id") == call), None)
    return msgspec.json.encode(found.get("input")) if found else b""
