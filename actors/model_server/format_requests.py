"""Requests for the rules: an output format becomes a forced tool, which the rules know, and their answer JSON text.

The request of a format names no tool. The title of the schema names its kind; without a title the properties do.
"""

import copy
import re
from typing import Any, Literal, cast

import msgspec

from actors.model_server import conforming
from actors.model_server.api_error import ApiError
from actors.model_server.checks.schemas import format_of
from actors.model_server.checks.tools import custom_tools
from actors.model_server.conversation import THINKING, Body, blocks_of, dict_of, system_blocks, turns_of
from actors.model_server.offline.request import Asked
from actors.model_server.offline.rules import speak
from actors.model_server.offline.schema import Schema, plan_task, planner_worker, properties, required
from actors.model_server.offline.sections import section
from actors.model_server.offline.turn import Spoken, ToolCall, tool_turn

Kind = Literal["plan", "intent", "ruling", "report", "other"]
Role = Literal["planner", "worker", "synthesizer", "refiner", "judge", "report", "other"]

TOOL_NAMES: dict[Kind, str] = {
    "plan": "submit_plan",
    "intent": "submit_intent",
    "ruling": "submit_verdicts",
    "report": "report",
    "other": "answer",
}
"""The name under which the rules see a format. A script may use it to answer."""

_ROLES: dict[Kind, Role] = {"intent": "refiner", "ruling": "judge", "report": "report"}
_UNFINISHED = ("refusal", "max_tokens", "pause_turn", "model_context_window_exceeded")
_WORKER_LINE = re.compile(r"^\W*([A-Za-z0-9_-]{1,32})\W*?:\s+\S.*$", re.MULTILINE)


def kind_of(schema: Schema) -> Kind:
    """What a schema asks for."""
    title = str(schema.get("title", "")).lower()
    for kind in TOOL_NAMES:
        if title == kind != "other":
            return kind
    known = set(properties(schema))
    if "tasks" in known:
        return "plan"
    if {"contradictions", "gaps"} <= known:
        return "report"
    if known & {"verdicts", "rulings"}:
        return "ruling"
    return "intent" if known == {"intent"} or required(schema) == ["intent"] else "other"


def role_of(asked: Asked) -> Role:
    """The role that a script and the log know a request by."""
    if asked.forced and asked.role != "planner":
        return _ROLES.get(kind_of(asked.forced.input_schema), asked.role)
    return asked.role


def for_rules(body: Body, *, tools: bool = True) -> Asked:
    """The request as the offline rules know it: without thinking, its format as a forced tool. `tools` keeps them."""
    asked: dict[str, Any] = {
        "model": body["model"],
        "max_tokens": body.get("max_tokens", 0),
        "stream": body.get("stream", False),
        "system": _system(body),
        "messages": _messages(body),
    }
    if tools:
        asked["tools"] = [tool for _, tool in custom_tools(body)]
        asked["tool_choice"] = body.get("tool_choice")
        if schema := format_of(body):
            name = _free_name(TOOL_NAMES[kind_of(schema)], asked["tools"])
            asked["tools"].append({"name": name, "input_schema": _with_workers(schema, asked)})
            asked["tool_choice"] = {"type": "tool", "name": name}
    return msgspec.convert(asked, Asked)


def answer(asked: Asked) -> Spoken:
    """What the rules answer. They know nothing about the quality of a text, so their report is empty."""
    tool = asked.forced
    if tool is not None and kind_of(tool.input_schema) == "report":
        schema = tool.input_schema
        return tool_turn([ToolCall(tool.name, dict_of(conforming.smallest(schema, schema)))])
    return speak(asked)


def as_text(spoken: Spoken, body: Body) -> Spoken:
    """The answer to a request with a format: JSON text that satisfies the schema, or ApiError if it is none."""
    schema = format_of(body)
    offered = {tool.get("name") for _, tool in custom_tools(body)}
    own = [call for call in spoken.calls if call.name not in offered]
    if not schema or spoken.stop_reason in _UNFINISHED or (spoken.calls and not own):
        return spoken
    value = dict(own[0].input) if own else _parsed(spoken.text)
    value = conforming.shaped(value, schema, schema)
    if fault := next(conforming.faults(value, schema, schema), None):
        raise ApiError(500, f"the answer of the stand-in does not satisfy the output format: {fault}")
    return msgspec.structs.replace(spoken, text=msgspec.json.encode(value).decode(), calls=())


def as_prose(spoken: Spoken, body: Body) -> Spoken:
    """The answer of a server that ignores tools and formats: text that ends its turn."""
    if not spoken.calls:
        return spoken
    return msgspec.structs.replace(spoken, calls=(), text=spoken.text or speak(for_rules(body, tools=False)).text)


def _parsed(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        reason = f"the answer of the stand-in is no JSON, but the request has an output format: {text[:200]!r}"
        raise ApiError(500, reason) from error


def _messages(body: Body) -> list[dict[str, Any]]:
    """The turns without thinking; the rules know no system messages, so these join the system prompt."""
    turns = [
        (turn.role, [block for block in turn.blocks if block.get("type") not in THINKING]) for turn in turns_of(body)
    ]
    found: list[dict[str, Any]] = []
    for role, blocks in turns:
        if role == "system":
            continue
        if found and found[-1]["role"] == role:
            found[-1]["content"] = found[-1]["content"] + blocks
        else:
            found.append({"role": role, "content": blocks})
    return found


def _system(body: Body) -> list[dict[str, Any]]:
    later = [block for turn in turns_of(body) if turn.role == "system" for block in turn.blocks]
    return system_blocks(body) + later


def _free_name(name: str, tools: list[dict[str, Any]]) -> str:
    taken = {tool.get("name") for tool in tools}
    return next(one for one in (name, *(f"{name}_{number}" for number in range(2, 100))) if one not in taken)


def _with_workers(schema: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """The schema of a plan with every worker and its line, as the planner of the rules reads them.

    A schema may name the workers without describing them, or give a plain string: the prompt describes them then.
    """
    changed = copy.deepcopy(schema)
    task = cast("dict[str, Any] | None", plan_task(changed)) if kind_of(schema) == "plan" else None
    worker = dict_of(dict_of((task or {}).get("properties")).get("worker"))
    if task is None or not worker:
        return changed
    prompt = "\n".join(
        str(block.get("text", ""))
        for block in [
            *asked["system"],
            *(one for message in asked["messages"] for one in blocks_of(message["content"])),
        ]
    )
    listed = section(prompt, "workers")
    known = planner_worker(changed)
    names = [str(name) for name in (known or {}).get("enum", [])]
    lines = {
        match.group(1): match.group().strip() for match in _WORKER_LINE.finditer(listed or (prompt if names else ""))
    }
    lines |= {match.group(1): match.group() for match in _WORKER_LINE.finditer(str(worker.get("description", "")))}
    names = names or list(lines)
    if names:
        told = "\n".join(lines[name] for name in names if name in lines)
        task["properties"]["worker"] = {"type": "string", "enum": names, "description": told}
    return changed
