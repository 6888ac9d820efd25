"""The schema subset, compared with the SDK's own transformation: its output is taken, what it changes is refused."""

import copy
from typing import Any

import pytest
from anthropic import transform_schema
from hypothesis import given
from hypothesis import strategies as st

from tests.model_server.strict_requests import Json, formatted, refusal

CLOSED: Json = {"type": "object", "additionalProperties": False}


def inside(schema: Json) -> Json:
    """A schema as a property: the root of a format is an object."""
    return {**CLOSED, "properties": {"it": schema}, "required": ["it"]}


def refused(schema: Json) -> str:
    return refusal("sonnet-5-5", output_config=formatted(schema))


UNSUPPORTED: list[Json] = [
    {"type": "integer", "minimum": 0},
    {"type": "number", "maximum": 1},
    {"type": "number", "exclusiveMinimum": 0},
    {"type": "number", "multipleOf": 2},
    {"type": "string", "minLength": 1},
    {"type": "string", "maxLength": 9},
    {"type": "string", "pattern": "^a+$"},
    {"type": "string", "format": "colour"},
    {"type": "array", "items": {"type": "string"}, "maxItems": 3},
    {"type": "array", "items": {"type": "string"}, "minItems": 2},
    {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    {"type": "object", "properties": {"a": {"type": "string"}}},
    {"type": "object", "additionalProperties": True},
    {"type": "object", "additionalProperties": {"type": "string"}},
    {**CLOSED, "patternProperties": {"a": {"type": "string"}}},
    {**CLOSED, "minProperties": 1},
    {"oneOf": [{"type": "string"}, {"type": "null"}]},
    {"type": "string", "examples": ["a"]},
]
SUPPORTED: list[Json] = [
    {"type": "string", "description": "d", "title": "t"},
    {"type": "integer"},
    {"type": "boolean"},
    {"type": "null"},
    {"type": "array", "items": {"type": "string"}, "minItems": 1},
    {"type": "array", "items": {"type": "string"}, "minItems": 0},
    {"enum": ["a", "b", 1, None]},
    {"const": "a"},
    {"anyOf": [{"type": "string"}, {"type": "null"}]},
    {"type": "string", "format": "date-time"},
    {**CLOSED, "properties": {"a": {"type": "string"}}, "required": ["a"]},
]


@pytest.mark.parametrize("schema", UNSUPPORTED, ids=str)
def test_what_the_sdk_changes_is_refused_and_what_it_makes_of_it_is_taken(schema: Json) -> None:
    changed = transform_schema(copy.deepcopy(inside(schema)))
    assert changed != inside(schema)
    assert refused(inside(schema))
    assert refused(changed) == ""


@pytest.mark.parametrize("schema", SUPPORTED, ids=str)
def test_what_the_sdk_leaves_alone_is_taken(schema: Json) -> None:
    assert transform_schema(copy.deepcopy(inside(schema))) == inside(schema)
    assert refused(inside(schema)) == ""


@pytest.mark.parametrize(
    "schema", [{"type": "string", "default": "a"}, {"type": "string", "enum": ["a", "b"]}], ids=str
)
def test_what_the_documentation_allows_is_taken_although_the_sdk_rewrites_it(schema: Json) -> None:
    assert transform_schema(copy.deepcopy(inside(schema))) != inside(schema)
    assert refused(inside(schema)) == ""


@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        (inside({"$ref": "https://example.org/schema.json"}), "external $ref"),
        (inside({"$ref": "#/$defs/missing"}) | {"$defs": {"other": {"type": "string"}}}, "was not found"),
        (inside({"enum": [{"a": 1}]}), "complex types"),
        (inside({"enum": []}), "must not be empty"),
        (inside({"allOf": [{"$ref": "#/$defs/a"}]}) | {"$defs": {"a": {"type": "string"}}}, "allOf with $ref"),
        (inside({}), "must have a 'type'"),
        (
            inside({"$ref": "#/$defs/tree"})
            | {
                "$defs": {
                    "tree": {**CLOSED, "properties": {"below": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}
                }
            },
            "recursive schemas",
        ),
    ],
)
def test_references_and_values_outside_the_subset_are_refused(schema: Json, sentence: str) -> None:
    assert sentence in refused(schema)


def test_a_definition_that_is_used_twice_is_taken() -> None:
    shared: Json = {
        "$defs": {"name": {"type": "string"}, "pair": {**CLOSED, "properties": {"a": {"$ref": "#/$defs/name"}}}}
    }
    schema = {**CLOSED, "properties": {"a": {"$ref": "#/$defs/pair"}, "b": {"$ref": "#/$defs/name"}}, **shared}
    assert refused(schema | {"required": ["a", "b"]}) == ""


LEAVES: st.SearchStrategy[Json] = st.sampled_from(
    [
        *(
            {"type": "integer", **limits}
            for limits in ({}, {"minimum": 0}, {"maximum": 9}, {"minimum": 1, "maximum": 2})
        ),
        *({"type": "string", **more} for more in ({}, {"minLength": 1}, {"format": "date"}, {"format": "colour"})),
        {"type": "string", "description": "d"},
        {"enum": ["a", "b", 3]},
        {"const": 1},
    ]
)


def grown(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    def with_all_required(properties: dict[str, Any], *, closed: bool) -> Json:
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        return schema | ({"additionalProperties": False} if closed else {})

    def one_of(choices: list[Json]) -> Json:
        return {"anyOf": choices}

    def listed(items: Json, least: int | None, most: int | None) -> Json:
        limits = {"minItems": least, "maxItems": most}
        return {"type": "array", "items": items, **{name: limit for name, limit in limits.items() if limit is not None}}

    names = st.sampled_from(["a", "b"])
    return st.one_of(
        st.builds(listed, inner, st.sampled_from([None, 0, 1, 2]), st.sampled_from([None, 4])),
        st.builds(with_all_required, st.dictionaries(names, inner, max_size=2), closed=st.booleans()),
        st.builds(one_of, st.lists(inner, min_size=1, max_size=2)),
    )


@given(st.recursive(LEAVES, grown, max_leaves=5))
def test_a_schema_is_refused_exactly_if_the_sdk_would_change_it(schema: Json) -> None:
    changed = transform_schema(copy.deepcopy(inside(schema)))
    assert refused(changed) == ""
    assert bool(refused(inside(schema))) == (changed != inside(schema))
