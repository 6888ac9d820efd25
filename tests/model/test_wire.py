"""What goes over the wire for a call, what comes back, and what it costs."""

import json

import pytest

from actors.model.port import Block, Call, Turn
from actors.model.price import price_usd
from actors.model.wire import container_of, content_of, usage_of, wire_of
from protocol.messages import Usage
from tests.model.asking import RUN, question, spec

CACHED = {"type": "ephemeral"}


def test_system_and_tools_are_marked_for_the_cache() -> None:
    tools = [spec("one"), spec("two")]
    call = Call(run=RUN, role="w", system="Be brief.", turns=[Turn(role="user", content="hi")], tools=tools)
    asked = wire_of(call, "m")
    assert asked["system"] == [{"type": "text", "text": "Be brief.", "cache_control": CACHED}]
    assert ["cache_control" in tool for tool in asked["tools"]] == [False, True]


def test_the_last_turn_is_marked_where_the_conversation_goes_on() -> None:
    going_on = wire_of(question("hi", tools=[spec("one")]), "m")["messages"]
    assert going_on[-1]["content"] == [{"type": "text", "text": "hi", "cache_control": CACHED}]
    assert wire_of(question("hi"), "m")["messages"][-1]["content"] == "hi"


def test_the_marks_leave_the_turns_of_the_caller_alone() -> None:
    blocks: list[Block] = [{"type": "tool_result", "tool_use_id": "1", "content": "x"}]
    call = Call(run=RUN, role="w", system="", turns=[Turn(role="user", content=blocks)], tools=[spec("one")])
    before = json.dumps(blocks)
    assert wire_of(call, "m")["messages"][-1]["content"][-1]["cache_control"] == CACHED
    assert json.dumps(blocks) == before


def test_an_empty_system_prompt_is_not_sent() -> None:
    assert "system" not in wire_of(question("hi"), "m")


def test_the_model_of_the_call_wins_over_the_default() -> None:
    call = Call(run=RUN, role="w", system="", turns=[Turn(role="user", content="hi")], model="other")
    assert wire_of(call, "m")["model"] == "other"
    assert wire_of(question("hi"), "m")["model"] == "m"


def test_a_block_keeps_everything_but_empty_fields_so_that_it_can_be_sent_back() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s=="}
    use = {"type": "tool_use", "id": "1", "name": "t", "input": {"limit": None}}
    assert content_of([{**thinking, "extra": None}, use]) == [thinking, use]


def test_text_that_is_empty_is_left_out_because_it_may_not_be_sent_back() -> None:
    texts: list[Block] = [{"type": "text", "text": text} for text in ("", "one", " \n", None)]
    assert content_of([*texts, {"type": "text"}]) == [{"type": "text", "text": "one"}]


def test_calls_with_the_same_id_or_none_get_ids_of_their_own() -> None:
    call: Block = {"type": "tool_use", "name": "t", "input": {}}
    found = content_of([call | {"id": "x"}, call | {"id": "x"}, call, call | {"id": ""}, call | {"id": None}])
    assert [block["id"] for block in found] == ["x", "x-2", "call", "call-2", "call-3"]
    assert content_of([{"type": "tool_use"}]) == [{"type": "tool_use", "id": "call", "name": "", "input": {}}]


def test_usage_is_counted_by_kind_of_token() -> None:
    used = {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20,
    }
    usage = usage_of("offline-rules-1", used, 1.5)
    assert usage == Usage(
        input_tokens=10,
        output_tokens=5,
        cache_read_tokens=100,
        cache_write_tokens=20,
        model_calls=1,
        usd=0.0,
        seconds=1.5,
    )


def test_an_unknown_model_has_no_price_and_the_offline_model_costs_nothing() -> None:
    spent = Usage(input_tokens=1000, output_tokens=1000)
    assert price_usd("some-local-model", spent) is None
    assert price_usd("offline-rules-1", spent) == 0.0


def test_a_known_model_has_a_price_and_cached_tokens_are_cheaper() -> None:
    fresh = price_usd("claude-haiku-5-5", Usage(input_tokens=1_000_000))
    cached = price_usd("claude-haiku-5-5", Usage(cache_read_tokens=1_000_000))
    assert fresh is not None
    assert cached is not None
    assert 0 < cached < fresh


def test_output_costs_more_than_input() -> None:
    into = price_usd("claude-sonnet-5-5", Usage(input_tokens=1000))
    out = price_usd("claude-sonnet-5-5", Usage(output_tokens=1000))
    assert (out or 0) > (into or 0) > 0


@pytest.mark.parametrize("used", [{}, {"cache_read_input_tokens": None}])
def test_counts_that_a_server_leaves_out_are_zero(used: dict[str, int | None]) -> None:
    assert usage_of("x", used, 0.0).tokens == 0


def test_a_citation_goes_back_without_the_null_that_the_provider_refuses() -> None:
    told: Block = {"type": "page_location", "document_title": None, "file_id": None, "cited_text": "x"}
    (block,) = content_of([{"type": "text", "text": "so", "citations": [told]}])
    assert block["citations"] == [{"type": "page_location", "document_title": None, "cited_text": "x"}]


def test_web_searches_have_a_price_and_uncounted_ones_and_code_have_none() -> None:
    def used(name: str) -> list[Block]:
        return [{"type": "server_tool_use", "id": "s", "name": name, "input": {}}]

    told = {"input_tokens": 1000, "server_tool_use": {"web_search_requests": 3, "web_fetch_requests": 1}}
    plain = usage_of("claude-haiku-5-5", {"input_tokens": 1000}, 0.0).usd
    searched = usage_of("claude-haiku-5-5", told, 0.0, used("web_search")).usd
    assert plain is not None
    assert searched == pytest.approx(plain + 3 * 0.01)
    assert usage_of("claude-haiku-5-5", {"input_tokens": 1000}, 0.0, used("web_fetch")).usd == plain
    assert usage_of("claude-haiku-5-5", {"input_tokens": 1000}, 0.0, used("web_search")).usd is None
    assert usage_of("claude-haiku-5-5", told, 0.0, used("bash_code_execution")).usd is None


def test_a_container_is_named_in_the_request() -> None:
    assert container_of({"id": "c1", "expires_at": "1970-01-01T00:01:40Z"}) == ("c1", 100.0)
    assert container_of({"id": "c1", "expires_at": "soon"}) == container_of(None) == ("", 0.0)
    call = Call(run=RUN, role="w", system="", turns=[Turn(role="user", content="hi")], container="c1")
    assert wire_of(call, "m")["container"] == "c1"
