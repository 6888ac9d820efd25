"""Structured output: the object a model was asked for, wherever it put it."""

import itertools
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

from actors.model.port import Reply
from actors.model.wire import writable_json

_FENCE = re.compile(r"```[a-zA-Z]*[ \t\r]*\n\s*(?=\{)")
_decoder = json.JSONDecoder()
MOST_STARTS = 200
"""How many opening braces are tried; text that has more is not an answer in JSON."""


def structured(reply: Reply, tool_name: str) -> dict[str, Any] | None:
    """The input of the tool if it was used, else the first JSON object in the text, bare or fenced, else None.

    The name of the tool may come back in other capitals.
    """
    for block in reply.tool_uses:
        found: Any = block.get("input")
        if str(block.get("name")).casefold() == tool_name.casefold() and isinstance(found, dict):
            return cast("dict[str, Any]", found)
    return next(_objects(reply.text), None)


def with_enum_case(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value with each string of an enum as the schema spells it, where only the capitals differ."""
    if isinstance(value, str):
        return same_name(value, cast("list[str]", schema.get("enum") or []))
    if isinstance(value, list):
        items = cast("Mapping[str, Any]", schema.get("items") or {})
        return [with_enum_case(item, items) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        known = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties") or {})
        return {key: with_enum_case(one, known.get(key, {})) for key, one in cast("dict[str, Any]", value).items()}
    return value


def same_name(name: str, names: Collection[str]) -> str:
    """The one of the names that differs from this name in capitals at most; the name itself if there is no such one."""
    if name in names:
        return name
    same = [one for one in names if str(one).casefold() == name.strip().casefold()]
    return same[0] if len(same) == 1 else name


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
