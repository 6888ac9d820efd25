"""Schemas: reading the JSON schema of a tool, and making input that is valid by it."""

from collections.abc import Mapping
from typing import Any, cast

Schema = Mapping[str, Any]


def resolved(schema: Schema, root: Schema) -> Schema:
    """The schema itself, where it only points to another place of the root; the first that is not null of a choice."""
    for _ in range(8):
        if isinstance(ref := schema.get("$ref"), str) and ref.startswith("#/"):
            schema = _at(root, ref[2:].split("/"))
        elif choices := cast("list[Schema]", schema.get("anyOf") or schema.get("oneOf") or []):
            schema = next((one for one in choices if one.get("type") != "null"), choices[0])
        else:
            break
    return schema


def _at(root: Schema, path: list[str]) -> Schema:
    found: Any = root
    for step in path:
        found = cast("Schema", found).get(step, {})
    return cast("Schema", found)


def properties(schema: Schema) -> dict[str, Schema]:
    """The properties of an object's schema, by name."""
    return dict(cast("dict[str, Schema]", schema.get("properties") or {}))


def required(schema: Schema) -> list[str]:
    """The names of the properties that must be there."""
    return list(cast("list[str]", schema.get("required") or []))


def kind(schema: Schema) -> str:
    """The type a schema asks for; of several the first that is not null."""
    found: Any = schema.get("type", "")
    if isinstance(found, list):
        return next((str(one) for one in cast("list[Any]", found) if one != "null"), "null")
    return str(found)


def plan_task(schema: Schema) -> Schema | None:
    """The schema of one task, if this is the schema of a plan."""
    tasks = properties(schema).get("tasks")
    if tasks is None:
        return None
    items = cast("Schema | None", resolved(tasks, schema).get("items"))
    return resolved(items, schema) if items else None


def planner_worker(schema: Schema) -> Schema | None:
    """The schema of the worker of a task, if this is the schema of a plan over a fixed set of workers."""
    task = plan_task(schema)
    worker = properties(task).get("worker") if task else None
    if worker is None:
        return None
    names = resolved(worker, schema)
    return {**worker, "enum": names["enum"]} if names.get("enum") else None


def filled(schema: Schema, root: Schema, hints: "Hints") -> Any:
    """The smallest input that is valid by a schema, taken from the hints where they fit."""
    schema = resolved(schema, root)
    if "const" in schema:
        return schema["const"]
    if choices := cast("list[Any]", schema.get("enum") or []):
        return next((one for one in choices if str(one).lower() in hints.text.lower()), choices[0])
    if "default" in schema and kind(schema) != "object":
        return schema["default"]
    match kind(schema):
        case "object":
            return {name: filled(properties(schema).get(name, {}), root, hints) for name in required(schema)}
        case "array":
            return [filled(schema.get("items") or {}, root, hints)] * max(1, int(schema.get("minItems") or 0))
        case "integer" | "number" as number:
            return _number(schema, hints, whole=number == "integer")
        case "boolean":
            return False
        case "null":
            return None
        case _:
            return _string(schema, hints)


class Hints:
    """What input can be made of: a text and the numbers in it."""

    def __init__(self, text: str, numbers: list[float]) -> None:
        self.text = text
        self.numbers = numbers


def _number(schema: Schema, hints: Hints, *, whole: bool) -> float | int:
    low, high = schema.get("minimum"), schema.get("maximum")
    above = schema.get("exclusiveMinimum")
    fits = [n for n in hints.numbers if (low is None or n >= low) and (high is None or n <= high)]
    fits = [n for n in fits if (above is None or n > above) and (not whole or n == int(n))]
    fallback = low if low is not None else 1 if above is None else above + 1
    value = fits[0] if fits else fallback if high is None else min(fallback, high)
    return int(value) if whole else value


def _string(schema: Schema, hints: Hints) -> str:
    text = hints.text[: int(schema.get("maxLength") or len(hints.text) or 1)]
    return text.ljust(int(schema.get("minLength") or 0), ".")
