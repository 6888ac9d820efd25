"""Schemas: the subset of JSON Schema that output formats and strict tools may use."""

from collections.abc import Iterator
from typing import Any, cast

from actors.model_server.conversation import Body, dict_of, list_of

MOST_OPTIONAL = 24
MOST_UNIONS = 16
TOO_COMPLEX = "Schema is too complex for compilation."
FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")
_ANNOTATIONS = {"title", "description", "default", "$defs", "definitions", "$schema"}
_ALLOWED = {
    "object": {"properties", "required", "additionalProperties"},
    "array": {"items", "minItems"},
    "string": {"format"},
    **{kind: set[str]() for kind in ("integer", "number", "boolean", "null")},
}
_SHAPES = ("anyOf", "allOf", "$ref", "enum", "const", "type")


class SchemaCount:
    """What the limits of a request add up: optional parameters and parameters of several types."""

    def __init__(self) -> None:
        self.optional = 0
        self.unions = 0

    def faults(self) -> Iterator[str]:
        """The limits that are exceeded."""
        if self.optional > MOST_OPTIONAL:
            yield f"{TOO_COMPLEX} Too many optional parameters ({self.optional}); the maximum is {MOST_OPTIONAL}."
        if self.unions > MOST_UNIONS:
            yield f"{TOO_COMPLEX} Too many parameters with union types ({self.unions}); the maximum is {MOST_UNIONS}."


def format_of(body: Body) -> dict[str, Any]:
    """The schema that the answer must satisfy; empty if the request asks for none."""
    return dict_of(dict_of(dict_of(body.get("output_config")).get("format")).get("schema"))


def format_faults(body: Body, count: SchemaCount) -> Iterator[str]:
    """What is wrong with the output format."""
    asked = dict_of(body.get("output_config")).get("format")
    if asked is None:
        return
    given = dict_of(asked)
    if given.get("type") != "json_schema":
        yield "output_config.format.type: Input should be 'json_schema'"
    if not isinstance(given.get("schema"), dict):
        yield "output_config.format.schema: Field required"
    for name in set(given) - {"type", "schema"}:
        yield f"output_config.format.{name}: Extra inputs are not permitted"
    yield from schema_faults(dict_of(given.get("schema")), "output_config.format.schema", count)
    if _has_citations(body):
        yield "output_config.format: citations are not supported together with an output format."


def schema_faults(schema: dict[str, Any], place: str, count: SchemaCount) -> Iterator[str]:
    """What of a schema lies outside the subset."""
    for name in ("$defs", "definitions"):
        for key, part in dict_of(schema.get(name)).items():
            yield from schema_faults(dict_of(part), f"{place}.{name}.{key}", count)
    yield from _reference_faults(schema, place)
    yield from _node_faults(schema, place, count)


def _node_faults(schema: dict[str, Any], place: str, count: SchemaCount) -> Iterator[str]:
    if not any(name in schema for name in _SHAPES):
        yield f"{place}: Schema must have a 'type', 'anyOf', 'allOf', '$ref', 'const' or 'enum'"
        return
    kinds = [str(one) for one in list_of(schema.get("type"))] or ([str(schema["type"])] if "type" in schema else [])
    allowed = _ANNOTATIONS | {name for name in _SHAPES if name in schema}
    for kind in kinds:
        allowed |= _ALLOWED.get(kind, set())
        if kind not in _ALLOWED:
            yield f"{place}.type: '{kind}' is not a valid type"
    for name in sorted(set(schema) - allowed):
        yield f"{place}: For '{'/'.join(kinds) or 'schema'}' type, property '{name}' is not supported"
    yield from _keyword_faults(schema, place)
    yield from _child_faults(schema, place, count)


def _keyword_faults(schema: dict[str, Any], place: str) -> Iterator[str]:
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield f"{place}: For 'object' type, 'additionalProperties' must be explicitly set to false"
    if "minItems" in schema and schema["minItems"] not in (0, 1):
        yield f"{place}: For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    if "format" in schema and schema["format"] not in FORMATS:
        yield f"{place}: For 'string' type, format '{schema['format']}' is not supported"
    values = list_of(schema.get("enum")) + ([schema["const"]] if "const" in schema else [])
    if any(isinstance(value, dict | list) for value in cast("list[object]", values)):
        yield f"{place}: complex types in enum and const are not supported"
    if "enum" in schema and not schema["enum"]:
        yield f"{place}: enum must not be empty"
    if any("$ref" in dict_of(part) for part in list_of(schema.get("allOf"))):
        yield f"{place}: allOf with $ref is not supported"


def _child_faults(schema: dict[str, Any], place: str, count: SchemaCount) -> Iterator[str]:
    required = list_of(schema.get("required"))
    for name, part in dict_of(schema.get("properties")).items():
        count.optional += name not in required
        count.unions += "anyOf" in dict_of(part) or isinstance(dict_of(part).get("type"), list)
        yield from _node_faults(dict_of(part), f"{place}.properties.{name}", count)
    if isinstance(schema.get("items"), dict):
        yield from _node_faults(schema["items"], f"{place}.items", count)
    for name in ("anyOf", "allOf"):
        for at, part in enumerate(list_of(schema.get(name))):
            yield from _node_faults(dict_of(part), f"{place}.{name}.{at}", count)


def _reference_faults(root: dict[str, Any], place: str) -> Iterator[str]:
    """References must stay inside the schema and must not lead back to themselves."""
    definitions = {
        f"#/{name}/{key}": dict_of(part)
        for name in ("$defs", "definitions")
        for key, part in dict_of(root.get(name)).items()
    }
    for found in references(root):
        if not found.startswith("#/"):
            yield f"{place}: external $ref '{found}' is not supported"
        elif definitions and found not in definitions:
            yield f"{place}: $ref '{found}' was not found"
    for start in definitions:
        seen, ahead = set[str](), [start]
        while ahead:
            for found in references(definitions.get(ahead.pop(), {})):
                if found == start:
                    yield f"{place}: recursive schemas are not supported ('{start}')"
                    return
                if found not in seen:
                    seen.add(found)
                    ahead.append(found)


def references(node: object) -> Iterator[str]:
    """Every `$ref` inside a schema."""
    if isinstance(node, dict):
        for name, value in cast("dict[str, object]", node).items():
            if name == "$ref" and isinstance(value, str):
                yield value
            else:
                yield from references(value)
    elif isinstance(node, list):
        for value in cast("list[object]", node):
            yield from references(value)


def _has_citations(body: Body) -> bool:
    blocks = [dict_of(b) for m in list_of(body.get("messages")) for b in list_of(dict_of(m).get("content"))]
    return any(dict_of(block.get("citations")).get("enabled") is True for block in blocks)
