"""A turn of the offline model: its text and its tool calls."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from actors.model_server.offline import NAME
from actors.model_server.offline.sections import with_note


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
