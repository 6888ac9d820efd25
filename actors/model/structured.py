"""Structured output: the object a model was asked for, wherever it put it."""

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any, cast

from actors.model.port import Reply
from actors.model.wire import writable_json

_FENCE = re.compile(r"```[a-zA-Z]*[ \t\r]*\n\s*(?=\{)")
_decoder = json.JSONDecoder()
MOST_STARTS = 200
"""How many opening braces are tried; text that has more is not an answer in JSON."""


def structured(reply: Reply, tool_name: str) -> dict[str, Any] | None:
    """The input of the tool if it was used, else the first JSON object in the text, bare or fenced, else None."""
    for block in reply.tool_uses:
        found: Any = block.get("input")
        if block.get("name") == tool_name and isinstance(found, dict):
            return cast("dict[str, Any]", found)
    return next(_objects(reply.text), None)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Those that open a fence first. Where a fence ends is told by the object: its strings may hold fences too."""
    for fence in itertools.islice(_FENCE.finditer(text), MOST_STARTS):
        if (found := _object_at(text, fence.end())) is not None:
            yield found[0]
    yield from _objects_in(text)


def _objects_in(text: str) -> Iterator[dict[str, Any]]:
    at = text.find("{")
    for _ in range(MOST_STARTS):
        if at < 0:
            return
        found = _object_at(text, at)
        if found is not None:
            yield found[0]
        at = text.find("{", found[1] if found else at + 1)


def _object_at(text: str, at: int) -> tuple[dict[str, Any], int] | None:
    """The object that begins there, and where it ends."""
    try:
        value, end = _decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    # Written as escapes, halves of characters get through everything up to where a message is made of them.
    return cast("dict[str, Any]", writable_json(value)), end
