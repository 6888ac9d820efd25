"""Structured output is found wherever a model put it."""

import json
from time import process_time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from actors.model.port import Block, Reply
from actors.model.structured import structured
from protocol.messages import Usage

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)
PROSE = st.text(alphabet=st.characters(blacklist_characters="{}`"), max_size=60)


def reply(*content: Block) -> Reply:
    return Reply(model="m", content=list(content), stop_reason="end_turn", usage=Usage())


def said(text: str) -> Reply:
    return reply({"type": "text", "text": text})


def test_the_input_of_the_forced_tool_is_taken_as_it_is() -> None:
    use: Block = {"type": "tool_use", "id": "1", "name": "plan", "input": {"tasks": [1]}}
    assert structured(reply({"type": "text", "text": '{"a": 1}'}, use), "plan") == {"tasks": [1]}


def test_the_input_of_another_tool_is_not_taken() -> None:
    use: Block = {"type": "tool_use", "id": "1", "name": "other", "input": {"tasks": [1]}}
    assert structured(reply(use), "plan") is None


def test_prose_without_an_object_gives_none() -> None:
    assert structured(said("I would rather talk about {this} and [that]."), "plan") is None


def test_a_list_is_not_an_object() -> None:
    assert structured(said("[1, 2]"), "plan") is None


def test_braces_before_the_object_do_not_hide_it() -> None:
    assert structured(said('Use {curly} braces: {"a": {"b": 2}} and so on'), "plan") == {"a": {"b": 2}}


def test_a_fenced_object_wins_over_one_in_the_prose_before_it() -> None:
    assert structured(said('such as {"a": 1}:\n```json\n{"b": 2}\n```'), "plan") == {"b": 2}


@given(OBJECTS, PROSE, PROSE)
def test_a_bare_object_is_found_in_any_prose(value: dict[str, Any], before: str, after: str) -> None:
    assert structured(said(f"{before} {json.dumps(value)} {after}"), "plan") == value


@given(OBJECTS, PROSE)
def test_a_fenced_object_is_found_in_any_prose(value: dict[str, Any], around: str) -> None:
    text = f"{around}\n```json\n{json.dumps(value, indent=2)}\n```\n{around}"
    assert structured(said(text), "plan") == value


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    found = structured(said(text), "plan")
    assert found is None or isinstance(found, dict)


def test_a_text_of_nothing_but_braces_is_given_up_soon() -> None:
    assert structured(said("{" * 100_000), "plan") is None


def test_a_fence_inside_a_string_does_not_end_the_object() -> None:
    text = 'Here:\n```json\n{"first": {}, "intent": "Run ```make``` in the shell"}\n```\nDone.'
    assert structured(said(text), "plan") == {"first": {}, "intent": "Run ```make``` in the shell"}


def test_a_fence_with_nothing_behind_it_is_given_up_soon() -> None:
    began = process_time()
    assert structured(said("```json" + "\n" * 100_000), "plan") is None
    assert process_time() - began < 2


def test_halves_of_characters_do_not_get_through() -> None:
    found = structured(said('{"intent": "half \\ud83d of it", "list": ["\\udcff"]}'), "plan")
    assert found == {"intent": "half ? of it", "list": ["?"]}
