"""A turn of the offline model: the blocks it answers with, and the message they stand in."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from actors.model_server.offline import NAME
from actors.model_server.offline.request import Asked, Block
from actors.model_server.offline.sections import with_note
from actors.model_server.prompt_cache import Counted

CHARACTERS_PER_TOKEN = 4


class ToolCall(msgspec.Struct, frozen=True):
    """One use of a tool that the model asks for."""

    name: str
    input: Mapping[str, Any]


class Spoken(msgspec.Struct, frozen=True, kw_only=True):
    """What the model says in one turn."""

    text: str = ""
    calls: Sequence[ToolCall] = ()
    stop_reason: str = ""
    model: str = NAME
    thinking: str = ""
    thinking_tokens: int | None = None
    refusal_category: str | None = None


def text_turn(text: str) -> Spoken:
    """A last turn: text that says that it was written offline."""
    return Spoken(text=with_note(text))


def tool_turn(calls: Sequence[ToolCall], text: str = "") -> Spoken:
    """A turn that asks for tools, all at once."""
    return Spoken(text=text, calls=calls)


def message(spoken: Spoken, asked: Asked, cached: Counted) -> dict[str, Any]:
    """The message as the Messages API gives it; the same for the same request, but for what was cached."""
    seed = asked.key
    text, cut = _within(spoken.text, asked.max_tokens)
    content: list[Block] = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "tool_use", "id": _id("toolu", seed, at), "name": call.name, "input": dict(call.input)}
        for at, call in enumerate(spoken.calls)
    ]
    natural = "tool_use" if spoken.calls else "max_tokens" if cut else "end_turn"
    return {
        "id": _id("msg", seed, 0),
        "type": "message",
        "role": "assistant",
        "model": spoken.model,
        "content": content,
        "stop_reason": spoken.stop_reason or natural,
        "stop_sequence": None,
        "usage": {
            "input_tokens": max(1, input_tokens(asked) - cached.read - cached.written),
            "output_tokens": _tokens(msgspec.json.encode(content)),
            "cache_creation_input_tokens": cached.written,
            "cache_read_input_tokens": cached.read,
        },
    }


def input_tokens(asked: Asked) -> int:
    """About how many tokens a request has."""
    tools = [(tool.name, tool.description, tool.input_schema) for tool in asked.tools]
    said = [message.content for message in asked.messages]
    return _tokens(msgspec.json.encode((asked.system_text, said, tools)))


def _tokens(data: bytes) -> int:
    return max(1, -(-len(data) // CHARACTERS_PER_TOKEN))


def _within(text: str, tokens: int) -> tuple[str, bool]:
    limit = tokens * CHARACTERS_PER_TOKEN
    return (text, False) if len(text) <= limit else (text[:limit], True)


def _id(prefix: str, seed: str, at: int) -> str:
    return f"{prefix}_{hashlib.sha256(f'{prefix}/{seed}/{at}'.encode()).hexdigest()[:24]}"
