"""Which offers of a server are taken."""

from typing import Any

import pytest

from actors.toolservers.offer import MOST_TOOLS, Offer, taken

EMPTY: dict[str, Any] = {"type": "object"}


def offer(name: str = "look", schema: dict[str, Any] = EMPTY, description: str = "Look.") -> Offer:
    return Offer(name=name, description=description, schema=schema)


def test_an_offer_is_passed_on_as_it_is() -> None:
    schema = {"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]}
    assert taken("s", [offer(schema=schema)]) == [offer(schema=schema)]


def test_a_tool_without_arguments_has_an_empty_list_of_them() -> None:
    assert taken("s", [offer()])[0].schema == {"type": "object", "properties": {}}


def test_a_tool_without_a_description_is_described_by_its_name() -> None:
    assert taken("s", [offer(description=" \n ")])[0].description == "look"


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "string"},
        {"type": ["object", "null"]},
        {"type": "object", "properties": 5},
        {"type": "object", "required": "page"},
        {"type": "object", "properties": {"x": {"type": "nothing known"}}},
        {"type": "object", "description": "x" * 100_000},
        {"type": "object", "properties": {"$filter": {"type": "string"}}},
        {"type": "object", "properties": {"p" * 65: {"type": "string"}}},
    ],
)
def test_a_schema_that_a_model_cannot_be_given_costs_that_tool_alone(schema: dict[str, Any]) -> None:
    assert [one.name for one in taken("s", [offer("bad", schema), offer("good")])] == ["good"]


def test_the_first_of_a_name_counts() -> None:
    assert [one.description for one in taken("s", [offer(), offer(description="Another.")])] == ["Look."]


def test_there_is_an_end_to_how_many_are_taken() -> None:
    assert len(taken("s", [offer(f"t{n}") for n in range(1000)])) == MOST_TOOLS


def test_a_schema_nested_without_end_is_left() -> None:
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(400):
        deep = {"type": "object", "properties": {"x": deep}}
    assert taken("s", [offer("deep", deep), offer("good")])[-1].name == "good"
