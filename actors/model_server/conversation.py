"""The conversation of a request: its blocks in the order in which the model reads them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

Block = dict[str, Any]
Body = Mapping[str, Any]
"""The JSON object of a request, as the client sent it."""

THINKING = ("thinking", "redacted_thinking")


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """Consecutive messages of one role, which the provider reads as one. `places` names each block for errors."""

    role: str
    blocks: list[Block]
    places: list[str]


def list_of(value: object) -> list[Any]:
    """The value if it is a list, else an empty list."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def dict_of(value: object) -> dict[str, Any]:
    """The value if it is an object, else an empty object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def blocks_of(content: object) -> list[Block]:
    """Content as blocks, whether it came as a text or as a list."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [dict_of(block) for block in list_of(content)]


def turns_of(body: Body) -> list[Turn]:
    """The messages as turns."""
    turns: list[Turn] = []
    for at, message in enumerate(map(dict_of, list_of(body.get("messages")))):
        role = str(message.get("role"))
        blocks = blocks_of(message.get("content"))
        places = [f"messages.{at}.content.{number}" for number in range(len(blocks))]
        if turns and turns[-1].role == role:
            last = turns.pop()
            blocks, places = last.blocks + blocks, last.places + places
        turns.append(Turn(role=role, blocks=blocks, places=places))
    return turns


def system_blocks(body: Body) -> list[Block]:
    """The system prompt as blocks."""
    return blocks_of(body["system"]) if body.get("system") else []


def plain(block: Mapping[str, Any]) -> Block:
    """A block without its cache mark and without the fields that are null: neither belongs to what the model reads."""
    return {name: _plain_value(value) for name, value in block.items() if name != "cache_control" and value is not None}


def _plain_value(value: Any) -> Any:
    if isinstance(value, dict):
        return plain(cast("dict[str, Any]", value))
    if isinstance(value, list):
        return [_plain_value(one) for one in cast("Sequence[Any]", value)]
    return value


def marks_of(body: Body) -> Iterator[tuple[str, Block, Any]]:
    """Every cache mark: where it stands, the block that has it, and the mark. The mark of the whole request is last."""
    for at, tool in enumerate(map(dict_of, list_of(body.get("tools")))):
        if tool.get("cache_control") is not None:
            yield f"tools.{at}", tool, tool["cache_control"]
    for at, block in enumerate(system_blocks(body)):
        if block.get("cache_control") is not None:
            yield f"system.{at}", block, block["cache_control"]
    for turn in turns_of(body):
        for place, block in zip(turn.places, turn.blocks, strict=True):
            inner = list_of(block.get("content"))
            for one in [block, *map(dict_of, inner)]:
                if one.get("cache_control") is not None:
                    yield place, one, one["cache_control"]
    if body.get("cache_control") is not None:
        yield "cache_control", {}, body["cache_control"]
