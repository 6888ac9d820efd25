"""Conforming: a JSON value brought into the shape of a schema, and what of it the schema still does not allow."""

from collections.abc import Iterator
from typing import Any, cast

from actors.model_server.conversation import dict_of, list_of
from actors.model_server.offline.schema import Schema, kind, properties, required

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def smallest(schema: Schema, root: Schema) -> Any:
    """The smallest value of a schema: null where it may be, else empty lists, empty texts and zeros."""
    schema = _target(schema, root)
    if "const" in schema:
        return schema["const"]
    if values := list_of(schema.get("enum")):
        return None if None in values else values[0]
    if choices := [dict_of(one) for one in list_of(schema.get("anyOf"))]:
        return None if any(one.get("type") == "null" for one in choices) else smallest(choices[0], root)
    if "null" in list_of(schema.get("type")):
        return None
    match kind(schema):
        case "object":
            return {name: smallest(properties(schema)[name], root) for name in required(schema)}
        case "array":
            return [smallest(dict_of(schema.get("items")), root)] * int(schema.get("minItems") or 0)
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case "null":
            return None
        case _:
            return ""


def shaped(value: Any, schema: Schema, root: Schema) -> Any:
    """The value without the properties that the schema does not know, and with all that it requires."""
    schema = _fitting(value, _target(schema, root), root)
    if isinstance(value, dict) and properties(schema):
        known = properties(schema)
        given = {
            name: shaped(one, known[name], root) for name, one in dict_of(cast("Any", value)).items() if name in known
        }
        return given | {name: smallest(known[name], root) for name in required(schema) if name not in given}
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [shaped(one, schema["items"], root) for one in list_of(cast("Any", value))]
    return cast("Any", value)


def faults(value: Any, schema: Schema, root: Schema, place: str = "$") -> Iterator[str]:
    """Where the value is not what the schema allows."""
    schema = _target(schema, root)
    if choices := list_of(schema.get("anyOf")):
        if all(next(faults(value, dict_of(one), root, place), None) for one in choices):
            yield f"{place}: {value!r} fits none of the choices"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{place}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in list_of(schema["enum"]):
        yield f"{place}: {value!r} is not one of {', '.join(map(str, list_of(schema['enum'])))}"
    if not _has_type(value, schema):
        yield f"{place}: {value!r} is not of the type {schema['type']}"
    if isinstance(value, dict):
        yield from _object_faults(dict_of(cast("Any", value)), schema, root, place)
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        for at, one in enumerate(list_of(cast("Any", value))):
            yield from faults(one, schema["items"], root, f"{place}[{at}]")


def _object_faults(value: dict[str, Any], schema: Schema, root: Schema, place: str) -> Iterator[str]:
    known = properties(schema)
    for name in required(schema):
        if name not in value:
            yield f"{place}: {name} is missing"
    for name, one in value.items():
        if name in known:
            yield from faults(one, known[name], root, f"{place}.{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{place}: {name} is not a property"


def _has_type(value: Any, schema: Schema) -> bool:
    if "type" not in schema:
        return True
    names = [str(one) for one in list_of(schema["type"])] or [str(schema["type"])]
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, _TYPES.get(name, ())) for name in names)


def _target(schema: Schema, root: Schema) -> Schema:
    """The schema that a reference leads to."""
    for _ in range(8):
        found = schema.get("$ref")
        if not isinstance(found, str):
            break
        schema = root
        for step in found.removeprefix("#/").split("/"):
            schema = dict_of(schema.get(step))
    return schema


def _fitting(value: Any, schema: Schema, root: Schema) -> Schema:
    """Of several choices the first that has the type of the value."""
    choices = [_target(dict_of(one), root) for one in list_of(schema.get("anyOf"))]
    return next((one for one in choices if _has_type(value, one)), schema)
