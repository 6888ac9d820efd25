"""Tools: their names, their input schemas, and the choice between them."""

import re
from collections.abc import Iterator
from typing import Any

from actors.model_server.checks.schemas import SchemaCount, schema_faults
from actors.model_server.conversation import Body, dict_of, list_of
from actors.model_server.profiles import Profile

FORCED = 'tool_choice: type "tool" and "any" are not supported for this model.'
MOST_STRICT = 20
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_FIELDS = {
    *("name", "input_schema", "description", "cache_control", "type", "strict", "allowed_callers"),
    *("defer_loading", "eager_input_streaming", "input_examples"),
}


def custom_tools(body: Body) -> list[tuple[int, dict[str, Any]]]:
    """The tools that the client runs, with their places; the others run at the provider."""
    tools = enumerate(map(dict_of, list_of(body.get("tools"))))
    return [(at, tool) for at, tool in tools if tool.get("type") in (None, "custom")]


def server_tools(body: Body) -> list[tuple[int, dict[str, Any]]]:
    """The tools that run at the provider, with their places."""
    own = {at for at, _ in custom_tools(body)}
    return [(at, tool) for at, tool in enumerate(map(dict_of, list_of(body.get("tools")))) if at not in own]


def faults(body: Body, profile: Profile) -> Iterator[str]:
    """What is wrong with the tools and the choice between them."""
    names = [str(dict_of(tool).get("name")) for tool in list_of(body.get("tools"))]
    for at, tool in custom_tools(body):
        yield from _tool_faults(at, tool)
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    yield from _choice_faults(body, profile, names)


def strict_faults(body: Body, count: SchemaCount) -> Iterator[str]:
    """What the strict tools go beyond; `count` adds up over all strict schemas of the request."""
    strict = [(at, tool) for at, tool in custom_tools(body) if tool.get("strict") is True]
    if len(strict) > MOST_STRICT:
        yield f"tools: Too many strict tools ({len(strict)}). The maximum number of strict tools is {MOST_STRICT}."
    for at, tool in strict:
        yield from schema_faults(dict_of(tool.get("input_schema")), f"tools.{at}.custom.input_schema", count)


def _tool_faults(at: int, tool: dict[str, Any]) -> Iterator[str]:
    place = f"tools.{at}.custom"
    for name in tool:
        if name not in _FIELDS:
            yield f"{place}.{name}: Extra inputs are not permitted"
    if not isinstance(tool.get("name"), str):
        yield f"{place}.name: Field required"
    elif not _NAME.fullmatch(tool["name"]):
        yield f"{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
    if not isinstance(tool.get("description", ""), str):
        yield f"{place}.description: Input should be a valid string"
    if not isinstance(tool.get("input_schema"), dict):
        yield f"{place}.input_schema: Field required"
    else:
        yield from _input_faults(tool["input_schema"], f"{place}.input_schema")


def _input_faults(schema: dict[str, Any], place: str) -> Iterator[str]:
    if {"oneOf", "allOf", "anyOf"} & set(schema):
        yield f"{place}: input_schema does not support oneOf, allOf, or anyOf at the top level"
    if "type" not in schema:
        yield f"{place}.type: Field required"
    elif schema["type"] != "object":
        yield f"{place}.type: Input should be 'object'"
    for name in dict_of(schema.get("properties")):
        if not _PROPERTY.fullmatch(name):
            yield f"{place}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'"
    if "required" in schema and not all(isinstance(name, str) for name in list_of(schema["required"])):
        yield f"{place}.required: Input should be a valid list of strings"


def _choice_faults(body: Body, profile: Profile, names: list[str]) -> Iterator[str]:
    choice = dict_of(body.get("tool_choice"))
    kind = choice.get("type")
    if not choice:
        return
    if not names and kind != "none":
        yield "tool_choice: tool_choice may only be specified while providing tools."
    if kind in ("any", "tool"):
        if not profile.forced_tools:
            yield FORCED
        thinking = dict_of(body.get("thinking")).get("type")
        if profile.refuses_forced_tools_with_thinking and thinking in ("adaptive", "enabled"):
            yield "Thinking may not be enabled when tool_choice forces tool use."
    if kind == "tool" and choice.get("name") not in names:
        yield f"tool_choice: Tool '{choice.get('name')}' not found in provided tools"
    if kind != "tool" and "name" in choice:
        yield f"tool_choice.{kind}.name: Extra inputs are not permitted"
