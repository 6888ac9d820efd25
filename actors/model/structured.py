"""Structured output: the object a model was asked for, wherever it put it."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from actors.model.port import Reply

_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
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
    for candidate in [*_FENCE.findall(text), text]:
        yield from _objects_in(candidate)


def _objects_in(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(MOST_STARTS):
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield cast("dict[str, Any]", value)
        at = text.find("{", end)
