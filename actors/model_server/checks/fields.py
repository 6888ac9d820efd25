"""Fields: every field of a request has a known name and the right type."""

from collections.abc import Collection, Iterator
from typing import Any, Literal

import msgspec

from actors.model_server.conversation import Body, dict_of, list_of
from actors.model_server.profiles import Effort

Json = dict[str, Any]
Mark = Json | None

BETA_FIELDS = {
    "context_management": "context-management-2025-06-27",
    "fallbacks": "server-side-fallback-2026-07-01",
}
"""Fields that the provider takes only with a beta header."""

NOT_COUNTED = (
    *("max_tokens", "stream", "metadata", "stop_sequences", "temperature", "top_p", "top_k", "service_tier"),
    *("container", "diagnostics", "inference_geo"),
)
"""Fields of a message that `count_tokens` does not take."""


class _Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A JSON object in which no other field is allowed."""


class Message(_Strict, frozen=True):
    """One message."""

    role: Literal["user", "assistant", "system"]
    content: str | list[Json]


class ToolChoice(_Strict, frozen=True):
    """The choice of tools. `name` belongs to the type `tool`."""

    type: Literal["auto", "any", "tool", "none"]
    name: str | msgspec.UnsetType = msgspec.UNSET
    disable_parallel_tool_use: bool = False


class OutputConfig(_Strict, frozen=True):
    """Effort and format of the answer."""

    effort: Effort | None = None
    format: Json | None = None


class Metadata(_Strict, frozen=True):
    """Metadata of a request."""

    user_id: str | None = None


class Fields(_Strict, frozen=True):
    """The whole request."""

    model: str
    messages: list[Message]
    max_tokens: int | msgspec.UnsetType = msgspec.UNSET
    system: str | list[Json] | msgspec.UnsetType = msgspec.UNSET
    tools: list[Json] = []
    tool_choice: ToolChoice | msgspec.UnsetType = msgspec.UNSET
    thinking: Json | msgspec.UnsetType = msgspec.UNSET
    output_config: OutputConfig | msgspec.UnsetType = msgspec.UNSET
    metadata: Metadata | msgspec.UnsetType = msgspec.UNSET
    stop_sequences: list[str] = []
    stream: bool = False
    temperature: float | msgspec.UnsetType = msgspec.UNSET
    top_p: float | msgspec.UnsetType = msgspec.UNSET
    top_k: int | msgspec.UnsetType = msgspec.UNSET
    cache_control: Mark = None
    container: str | Json | None = None
    diagnostics: Json | None = None
    inference_geo: str | None = None
    service_tier: Literal["auto", "standard_only"] = "auto"
    speed: Literal["standard", "fast"] | None = None
    user_profile_id: str | None = None
    workspace_id: str | None = None
    context_management: Json | None = None
    fallbacks: Any = None


class Text(_Strict, frozen=True):
    """A block of text."""

    type: str
    text: str
    cache_control: Mark = None
    citations: list[Json] | None = None


class Image(_Strict, frozen=True):
    """An image."""

    type: str
    source: Json
    cache_control: Mark = None
    transformations: Json | None = None


class Document(_Strict, frozen=True):
    """A document, such as a PDF."""

    type: str
    source: Json
    cache_control: Mark = None
    citations: Json | None = None
    context: str | None = None
    title: str | None = None


class SearchResult(_Strict, frozen=True):
    """A search result that the client found."""

    type: str
    content: list[Json]
    source: str
    title: str
    cache_control: Mark = None
    citations: Json | None = None


class Thinking(_Strict, frozen=True):
    """Thinking of an earlier turn."""

    type: str
    thinking: str
    signature: str
    cache_control: Mark = None


class RedactedThinking(_Strict, frozen=True):
    """Thinking of an earlier turn that the provider encrypted whole."""

    type: str
    data: str
    cache_control: Mark = None


class ToolUse(_Strict, frozen=True):
    """A tool call of an earlier turn."""

    type: str
    id: str
    name: str
    input: Json
    cache_control: Mark = None
    caller: Json | None = None
    toolset_name: str | None = None


class ToolResult(_Strict, frozen=True):
    """The result of a tool call."""

    type: str
    tool_use_id: str
    content: str | list[Json] = ""
    is_error: bool = False
    cache_control: Mark = None
    toolset_name: str | None = None


BLOCKS: dict[str, type[_Strict]] = {
    "text": Text,
    "image": Image,
    "document": Document,
    "search_result": SearchResult,
    "thinking": Thinking,
    "redacted_thinking": RedactedThinking,
    "tool_use": ToolUse,
    "tool_result": ToolResult,
}
_SERVER_BLOCKS = ("server_tool_use", "container_upload")


def faults(body: Body, *, counting: bool, betas: Collection[str]) -> Iterator[str]:
    """What is wrong with the names and types of the fields."""
    refused = [name for name, beta in BETA_FIELDS.items() if beta not in betas]
    for name in [*(NOT_COUNTED if counting else ()), *refused]:
        if name in body:
            yield f"{name}: Extra inputs are not permitted"
    if not counting and "max_tokens" not in body:
        yield "max_tokens: Field required"
    yield from _type_faults(body, Fields, "")
    for at, message in enumerate(map(dict_of, list_of(body.get("messages")))):
        for number, block in enumerate(map(dict_of, list_of(message.get("content")))):
            yield from block_faults(block, f"messages.{at}.content.{number}")
    for at, block in enumerate(map(dict_of, list_of(body.get("system")))):
        yield from _type_faults(block, Text, f"system.{at}.")


def block_faults(block: Json, place: str) -> Iterator[str]:
    """What is wrong with one block of a message, and with the blocks inside it."""
    kind = str(block.get("type"))
    if kind in BLOCKS:
        yield from _type_faults(block, BLOCKS[kind], f"{place}.{kind}.")
        if kind == "tool_result":
            for number, inner in enumerate(map(dict_of, list_of(block.get("content")))):
                yield from block_faults(inner, f"{place}.content.{number}")
    elif kind not in _SERVER_BLOCKS and not kind.endswith("_tool_result"):
        yield f"{place}: Input tag '{kind}' found using 'type' does not match any of the expected tags"


def _type_faults(value: Body, expected: type[_Strict], place: str) -> Iterator[str]:
    try:
        msgspec.convert(value, expected)
    except msgspec.ValidationError as error:
        yield _sentence(str(error), place)


def _sentence(fault: str, place: str) -> str:
    """The fault as the provider words it: the path first, with dots."""
    reason, _, path = fault.partition(" - at `$")
    inner = path.rstrip("`").lstrip(".").replace("[", ".").replace("]", "")
    if reason.startswith("Object contains unknown field"):
        name = reason.split("`")[1]
        return f"{place}{f'{inner}.' if inner else ''}{name}: Extra inputs are not permitted"
    if reason.startswith("Object missing required field"):
        name = reason.split("`")[1]
        return f"{place}{f'{inner}.' if inner else ''}{name}: Field required"
    return f"{place}{inner}: {reason}"
