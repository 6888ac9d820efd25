"""Schemas of decisions, inside the subset that the provider takes for structured outputs.

Every object is closed and every field required; there are no bounds, and a choice is an enum without a type.
"""

from collections.abc import Iterable
from typing import Any

Schema = dict[str, Any]


def text(description: str) -> Schema:
    """A string."""
    return {"type": "string", "description": description}


def number_or_none(description: str) -> Schema:
    """A number, or null."""
    return {"anyOf": [{"type": "number"}, {"type": "null"}], "description": description}


def integer(description: str) -> Schema:
    """A whole number."""
    return {"type": "integer", "description": description}


def choice(names: Iterable[str], description: str) -> Schema:
    """One of these strings."""
    return {"enum": list(names), "description": description}


def many(items: Schema, description: str) -> Schema:
    """A list."""
    return {"type": "array", "items": items, "description": description}


def texts(description: str) -> Schema:
    """A list of strings."""
    return many({"type": "string"}, description)


def structure(properties: dict[str, Schema], *, title: str = "", description: str = "") -> Schema:
    """An object with exactly these fields."""
    named = {name: value for name, value in (("title", title), ("description", description)) if value}
    closed = {"properties": properties, "required": list(properties), "additionalProperties": False}
    return {"type": "object", **named, **closed}
