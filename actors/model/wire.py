"""The wire: a Call as the Messages API wants it, and its blocks and usage as we keep them."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

import msgspec

from actors.model.port import Block, Call, ToolSpec, Turn
from actors.model.price import price_usd
from protocol.codec import writable
from protocol.messages import Usage

_CACHED: Block = {"cache_control": {"type": "ephemeral"}}
_UNMARKED = frozenset({"thinking", "redacted_thinking"})
_CODE_TOOLS = frozenset({"code_execution", "bash_code_execution", "text_editor_code_execution"})
MOST_TOKENS = 10**12
"""What claims to be more is no number of tokens, and might not fit into a message."""


def wire_of(call: Call, default_model: str) -> dict[str, Any]:
    """The arguments of `messages.create` for a call, marked for the cache up to where the next call is the same."""
    asked: dict[str, Any] = {
        "model": call.model or default_model,
        "max_tokens": call.max_tokens,
        "messages": _messages(call),
    }
    if call.system.strip():
        asked["system"] = [{"type": "text", "text": call.system, **_CACHED}]
    if call.tools or call.server_tools:
        asked["tools"] = _tools(call)
    if call.tool_choice == "none" and call.tools:
        asked["tool_choice"] = {"type": "none"}
    if call.container:
        asked["container"] = call.container
    if output := _output_config(call):
        asked["output_config"] = output
    return asked


def _output_config(call: Call) -> dict[str, Any]:
    """How the reply is to be written; an effort only if the caller knows that the model takes it."""
    output: dict[str, Any] = {"effort": call.effort} if call.effort else {}
    if call.format:
        output["format"] = {"type": "json_schema", "schema": call.format.schema}
    return output


def writable_json(value: Any) -> Any:
    """A value read from JSON such that it can be written again: escapes can spell texts that no message can hold."""
    try:
        msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.loads(writable(json.dumps(value, ensure_ascii=False)))
    return value


def blocks_of(content: object) -> list[Block]:
    """The blocks of an answer; ValueError if there are none."""
    if not isinstance(content, list):
        raise ValueError(f"its content is not a list of blocks but {type(content).__name__}")
    blocks = cast("list[object]", content)
    if not all(isinstance(block, dict) for block in blocks):
        raise ValueError("a block of its content is not an object")
    return writable_json(blocks)


def content_of(blocks: Iterable[Mapping[str, Any]]) -> list[Block]:
    """A turn as it can be worked with and sent back: no text is empty, every call has an id that no other has.

    The provider refuses empty text, and not every server that speaks its API gives good ids.
    """
    content: list[Block] = []
    ids: set[str] = set()
    for block in map(_told, blocks):
        if block.get("type") == "text":
            block["text"] = str(block.get("text", ""))
            if not block["text"].strip():
                continue
            if isinstance(block.get("citations"), list):
                block["citations"] = [_citation(one) for one in block["citations"]]
        if block.get("type") == "tool_use":
            block["id"] = _unlike(str(block.get("id") or "call"), ids)
            block["name"] = str(block.get("name", ""))
            block.setdefault("input", {})
            ids.add(block["id"])
        content.append(block)
    return content


def _told(block: Mapping[str, Any]) -> Block:
    """A block without the fields that say nothing."""
    return {name: value for name, value in block.items() if value is not None}


def _citation(told: object) -> object:
    """A citation as it may be sent back: the provider gives `file_id` as null, and refuses the field."""
    if not isinstance(told, dict):
        return told
    citation = cast("Block", told)
    return {name: value for name, value in citation.items() if name != "file_id" or value is not None}


def _unlike(wanted: str, taken: Collection[str]) -> str:
    tries = (f"{wanted}-{number}" if number > 1 else wanted for number in range(1, len(taken) + 2))
    return next(name for name in tries if name not in taken)


def usage_of(model: str, told: object, seconds: float, content: Iterable[Block] = ()) -> Usage:
    """The usage of one call, with its price by the name of the model that answered.

    The price is unknown if the model ran code, which is billed by time, or searched without the searches being counted.
    """
    used = _fields(told)
    counts = {
        "input_tokens": _counted(used.get("input_tokens")),
        "output_tokens": _counted(used.get("output_tokens")),
        "cache_read_tokens": _counted(used.get("cache_read_input_tokens")),
        "cache_write_tokens": _counted(used.get("cache_creation_input_tokens")),
    }
    searches = _counted(_fields(used.get("server_tool_use")).get("web_search_requests"))
    ran = {str(block.get("name")) for block in content if block.get("type") == "server_tool_use"}
    unknown = bool(ran & _CODE_TOOLS) or ("web_search" in ran and not searches)
    usd = None if unknown else price_usd(model, Usage(**counts), searches)
    return Usage(**counts, model_calls=1, usd=usd, seconds=seconds)


def container_of(told: object) -> tuple[str, float]:
    """The id of the container in which code ran at the provider, and when it expires; empty if there is none."""
    container = _fields(told)
    try:
        expires = datetime.fromisoformat(str(container.get("expires_at"))).timestamp()
    except (ValueError, OverflowError):
        return "", 0.0
    return str(container.get("id") or ""), expires


def _fields(told: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", told) if isinstance(told, Mapping) else {}


def _counted(told: object) -> int:
    """A number of tokens; what cannot be one is none."""
    return told if isinstance(told, int) and 0 < told <= MOST_TOKENS else 0


def _messages(call: Call) -> list[Block]:
    """The turns, marked for the cache if the conversation will go on, since the next call begins with all of them."""
    marked = _marked_turns(call.turns) if call.tools or call.server_tools else frozenset[int]()
    return [
        {"role": turn.role, "content": _marked(turn.content) if at in marked else turn.content}
        for at, turn in enumerate(call.turns)
    ]


def _marked_turns(turns: Sequence[Turn]) -> frozenset[int]:
    """The last turn, and the user turn before it, where the last call of this conversation ended.

    The provider looks back only 20 blocks from a mark; a turn of many tool calls has more, so the old end
    needs a mark of its own.
    """
    last = len(turns) - 1
    before = [at for at in range(last) if turns[at].role == "user"]
    return frozenset([*before[-1:], last]) if turns else frozenset()


def _marked(content: str | list[Block]) -> str | list[Block]:
    """The content with a mark on its last block that may carry one; unchanged if there is none."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    at = next((at for at in range(len(blocks) - 1, -1, -1) if _may_be_marked(blocks[at])), None)
    if at is None:
        return content
    return [*blocks[:at], {**blocks[at], **_CACHED}, *blocks[at + 1 :]]


def _may_be_marked(block: Block) -> bool:
    """The provider refuses a mark on thinking and on empty text."""
    if block.get("type") == "text":
        return bool(str(block.get("text", "")).strip())
    return block.get("type") not in _UNMARKED


def _tools(call: Call) -> list[Block]:
    listed = [*(_tool(tool) for tool in call.tools), *call.server_tools]
    listed[-1] = {**listed[-1], **_CACHED}
    return listed


def _tool(tool: ToolSpec) -> Block:
    told: Block = {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
    return told | {"strict": True} if tool.strict else told
