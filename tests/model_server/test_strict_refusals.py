"""Every documented refusal: one row for each sentence of the provider's documentation, with the models that refuse."""

from typing import Any

import pytest
from anthropic.types.message_count_tokens_params import MessageCountTokensParams
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from pydantic import TypeAdapter

from actors.model_server.checks import limits
from actors.model_server.checks.binding import INVALID
from actors.model_server.checks.messages import BLANK_TEXT, EMPTY_TEXT, PREFILL
from actors.model_server.checks.thinking import BINDING_BETA
from actors.model_server.checks.tools import FORCED
from actors.model_server.profiles import PROFILES
from tests.model_server.strict_requests import (
    CHECKED,
    MARK,
    NEWEST,
    RESULT,
    SCHEMA,
    TOOL,
    USE,
    Json,
    formatted,
    refusal,
    request,
    said,
    text,
)

SEARCH: Json = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
FOUND: Json = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
Row = tuple[tuple[str, ...], Json, str]

FORCING: list[Row] = [
    (("sonnet-5-5", "opus-5-5"), {"tools": [TOOL], "tool_choice": {"type": "any"}}, FORCED),
    (("sonnet-5-5", "opus-5-5"), {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "look"}}, FORCED),
    (
        ("sonnet-4-6",),
        {"tools": [TOOL], "tool_choice": {"type": "any"}, "thinking": {"type": "adaptive"}},
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
]
LOW: Json = {"effort": "low"}
BESIDE: list[Json] = [{"display": "omitted"}, {"budget_tokens": 2000}, {"block_binding": {}}]
THINKING: list[Row] = [
    (("sonnet-5-5",), {"thinking": {"type": "disabled"}}, '"thinking.type.disabled" is not supported for this model.'),
    (("sonnet-5-5",), {"thinking": {"type": "disabled"}}, 'Use "thinking.type.between_tools"'),
    (("opus-5-5",), {"thinking": {"type": "disabled"}}, '"thinking.type.disabled" is not supported for this model.'),
    (NEWEST, {"thinking": {"type": "enabled", "budget_tokens": 1024}}, '"thinking.type.enabled" is not supported'),
    (("haiku-5-5", "opus-5-5", "sonnet-4-6"), {"thinking": {"type": "between_tools"}}, "between_tools"),
    *(
        (("sonnet-5-5",), {"thinking": {"type": "between_tools", **extra}}, f"{next(iter(extra))}: Extra inputs")
        for extra in BESIDE
    ),
    (("sonnet-5-5",), {"thinking": {"type": "between_tools"}, "output_config": {"effort": "xhigh"}}, 'effort "xhigh"'),
    (("haiku-5-5",), {"thinking": {"type": "disabled"}, "output_config": {"effort": "max"}}, 'effort "max"'),
    (NEWEST, {"thinking": {"type": "adaptive", "block_binding": {}}}, "block_binding: Extra inputs"),
    (NEWEST, {"thinking": {"type": "adaptive", "display": "updates"}}, "display"),
    (CHECKED, {"thinking": {"type": "sometimes"}}, "does not match any of the expected tags"),
    (CHECKED, {"output_config": {"effort": "huge"}}, "effort"),
    (("sonnet-4-6",), {"thinking": {"type": "enabled"}}, "budget_tokens: Field required"),
    (("sonnet-4-6",), {"thinking": {"type": "enabled", "budget_tokens": 5}}, "greater than or equal to 1024"),
    (("sonnet-4-6",), {"thinking": {"type": "enabled", "budget_tokens": 1024}}, "`max_tokens` must be greater"),
]
LIMITS: list[Row] = [
    (NEWEST, {"temperature": 0.5}, "`temperature` is not supported"),
    (NEWEST, {"top_p": 0.5}, "`top_p` is not supported"),
    (NEWEST, {"top_k": 1}, "`top_k` is not supported"),
    (CHECKED, {"max_tokens": 0}, "greater than or equal to 1"),
    (NEWEST, {"max_tokens": 128_001}, "128001 > 128000"),
    (("sonnet-4-6",), {"max_tokens": 64_001}, "64001 > 64000"),
    (CHECKED, {"max_tokens": None}, "max_tokens: Field required"),
    (CHECKED, {"model": ""}, "model"),
    (NEWEST, {"messages": said(("user", "x" * 2_500_100))}, "prompt is too long"),
    (CHECKED, {"messages": said(("user", "x")) * 100_001}, "at most 100000 messages"),
]
FIELDS: list[Row] = [
    (CHECKED, {"messages": None}, "messages: Field required"),
    (CHECKED, {"colour": "red"}, "colour: Extra inputs are not permitted"),
    (CHECKED, {"context_management": {}}, "context_management: Extra inputs are not permitted"),
    (CHECKED, {"fallbacks": "default"}, "fallbacks: Extra inputs are not permitted"),
    (CHECKED, {"max_tokens": "many"}, "max_tokens"),
    (CHECKED, {"stream": "yes"}, "stream"),
    (CHECKED, {"messages": [{"role": "user", "content": "hi", "name": "Al"}]}, "messages.0.name: Extra inputs"),
    (CHECKED, {"messages": said(("owner", "hi"))}, "role"),
    (CHECKED, {"messages": said(("user", [text(colour="red")]))}, "text.colour: Extra inputs"),
    (CHECKED, {"messages": said(("user", [{"type": "text"}]))}, "text.text: Field required"),
    (CHECKED, {"messages": said(("user", [{"type": "poem", "text": "x"}]))}, "Input tag 'poem'"),
    (CHECKED, {"messages": said(("user", [{"text": "x"}]))}, "does not match any of the expected tags"),
    (CHECKED, {"output_config": {"style": "short"}}, "output_config.style: Extra inputs"),
    (CHECKED, {"metadata": {"run": "1"}}, "metadata.run: Extra inputs"),
    (CHECKED, {"system": [{"type": "text", "text": ""}]}, "system: text content blocks must be non-empty"),
]
TOOLS: list[Row] = [
    *((CHECKED, {"tools": [{**TOOL, "name": name}]}, "String should match pattern") for name in ("a b", "", "x" * 65)),
    *(
        (CHECKED, {"tools": [{**TOOL, "input_schema": {"type": "object", word: []}}]}, "at the top level")
        for word in ("oneOf", "anyOf", "allOf")
    ),
    (CHECKED, {"tools": [{**TOOL, "input_schema": {"type": "string"}}]}, "input_schema.type: Input should be 'object'"),
    (CHECKED, {"tools": [{**TOOL, "input_schema": {}}]}, "input_schema.type: Field required"),
    (CHECKED, {"tools": [{"name": "look"}]}, "input_schema: Field required"),
    (CHECKED, {"tools": [{**TOOL, "colour": "red"}]}, "colour: Extra inputs"),
    (CHECKED, {"tools": [TOOL, TOOL]}, "Tool names must be unique"),
    (CHECKED, {"tools": [TOOL], "tool_choice": {"type": "some"}}, "tool_choice"),
    (CHECKED, {"tool_choice": {"type": "auto"}}, "only be specified while providing tools"),
    (
        ("haiku-5-5", "sonnet-4-6"),
        {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "other"}},
        "Tool 'other' not found",
    ),
    (CHECKED, {"tools": [{**TOOL, "strict": True}]}, "'additionalProperties' must be explicitly set to false"),
    (
        CHECKED,
        {"tools": [{"name": f"t{n}", "input_schema": SCHEMA, "strict": True} for n in range(21)]},
        "maximum number of strict tools is 20",
    ),
]
OPEN = said(("user", "a"), ("assistant", [USE]))
TWICE = said(("user", "a"), ("assistant", [USE, USE]), ("user", [RESULT, RESULT]))
UNPAIRED = "`tool_use` ids were found without `tool_result` blocks immediately after"
MESSAGES: list[Row] = [
    (CHECKED, {"messages": []}, "at least one message"),
    (CHECKED, {"messages": said(("assistant", "hi"), ("user", "hi"))}, "first message must use the user role"),
    (CHECKED, {"messages": said(("user", "a"), ("assistant", "b"))}, PREFILL),
    (CHECKED, {"messages": said(("user", ""))}, "non-empty content"),
    (CHECKED, {"messages": said(("user", []))}, "non-empty content"),
    (CHECKED, {"messages": said(("user", [text("")]))}, EMPTY_TEXT),
    (CHECKED, {"messages": said(("user", [text(" \n")]))}, BLANK_TEXT),
    (CHECKED, {"messages": [*OPEN, *said(("user", [{**RESULT, "content": [text("")]}]))]}, EMPTY_TEXT),
    (CHECKED, {"messages": [*OPEN, *said(("user", "b"))]}, UNPAIRED),
    (CHECKED, {"messages": OPEN}, PREFILL),
    (
        CHECKED,
        {"messages": said(("user", "a"), ("assistant", [SEARCH]), ("user", "b"))},
        "messages.1: `web_search` tool use with id `s1` was found without a corresponding",
    ),
    (CHECKED, {"messages": [*OPEN, *said(("user", [text(), RESULT]))]}, UNPAIRED),
    (CHECKED, {"messages": [*OPEN, *said(("user", [RESULT]), ("assistant", "b"), ("user", [RESULT]))]}, "unexpected"),
    (CHECKED, {"messages": [*OPEN, *said(("user", [RESULT, RESULT]))]}, "Found multiple `tool_result` blocks"),
    (CHECKED, {"messages": TWICE}, "`tool_use` ids must be unique"),
    (CHECKED, {"messages": [*OPEN, *said(("user", [RESULT]), ("assistant", [USE]), ("user", [RESULT]))]}, "be unique"),
    (CHECKED, {"messages": said(("user", [USE]))}, "can only be in `assistant` messages"),
    (CHECKED, {"messages": said(("user", "a"), ("assistant", [RESULT]), ("user", "b"))}, "can only be in `user`"),
    (
        CHECKED,
        {
            "messages": said(
                ("user", "a"),
                ("assistant", [{"type": "thinking", "thinking": "", "signature": "s"}]),
                ("user", "go on"),
            )
        },
        "The final block in an assistant message cannot be `thinking`.",
    ),
    (
        CHECKED,
        {
            "messages": said(
                ("user", "a"),
                ("assistant", [{"type": "thinking", "thinking": "", "signature": "s"}, text()]),
                *[("user", "b"), ("assistant", "c"), ("user", "d")],
            )
        },
        INVALID,
    ),
    (("sonnet-4-6",), {"messages": said(("user", "a"), ("system", "b"))}, "'system' is not supported on this model"),
    (NEWEST, {"messages": said(("system", "b"), ("user", "a"))}, "must come after a user message"),
    (NEWEST, {"messages": said(("user", "a"), ("system", "b"), ("user", "c"))}, "directly before a user message"),
    (NEWEST, {"messages": [*OPEN, *said(("system", "b"), ("user", [RESULT]))]}, "must come after a user message"),
]
FIVE = [text(cache_control=MARK)] * 5
THOUGHT: Json = {"type": "thinking", "thinking": "", "signature": "s", "cache_control": MARK}
CACHING: list[Row] = [
    (CHECKED, {"system": FIVE}, "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    (CHECKED, {"system": FIVE[:4], "cache_control": MARK}, "Found 5."),
    (
        CHECKED,
        {"system": FIVE[:2], "tools": [{**TOOL, "cache_control": MARK}], "messages": said(("user", FIVE[:2]))},
        "5.",
    ),
    (CHECKED, {"messages": said(("user", [text("", cache_control=MARK)]))}, "cannot be set for empty text blocks"),
    (
        CHECKED,
        {"messages": said(("user", "a"), ("assistant", [THOUGHT, text()]), ("user", "b"))},
        "thinking.cache_control",
    ),
    (CHECKED, {"messages": said(("user", [text(cache_control={"type": "for ever"})]))}, "should be 'ephemeral'"),
    (CHECKED, {"messages": said(("user", [text(cache_control={**MARK, "ttl": "2h"})]))}, "'5m' or '1h'"),
    (
        CHECKED,
        {"system": [text(cache_control=MARK)], "messages": said(("user", [text(cache_control={**MARK, "ttl": "1h"})]))},
        "must not come after a ttl='5m'",
    ),
]
PDF: Json = {
    "type": "document",
    "source": {"type": "text", "media_type": "text/plain", "data": "x"},
    "citations": {"enabled": True},
}
OPTIONAL = {f"p{n}": {"type": "string"} for n in range(25)}
UNIONS = {f"p{n}": {"anyOf": [{"type": "string"}, {"type": "null"}]} for n in range(17)}
CLOSED: Json = {"type": "object", "additionalProperties": False}
FORMATS: list[Row] = [
    (CHECKED, {"output_config": {"format": {"type": "text", "schema": SCHEMA}}}, "Input should be 'json_schema'"),
    (CHECKED, {"output_config": {"format": {"type": "json_schema"}}}, "schema: Field required"),
    (CHECKED, {"output_config": formatted(SCHEMA), "messages": said(("user", [PDF, text()]))}, "citations"),
    (
        CHECKED,
        {"output_config": formatted({**CLOSED, "properties": OPTIONAL})},
        "Schema is too complex for compilation.",
    ),
    (
        CHECKED,
        {"output_config": formatted({**CLOSED, "properties": UNIONS, "required": list(UNIONS)})},
        "Schema is too complex for compilation.",
    ),
    (
        CHECKED,
        {
            "output_config": formatted({**CLOSED, "properties": dict(list(OPTIONAL.items())[:13])}),
            "tools": [
                {
                    "name": "t",
                    "strict": True,
                    "input_schema": {**CLOSED, "properties": dict(list(OPTIONAL.items())[:12])},
                }
            ],
        },
        "Too many optional parameters (25)",
    ),
]
ROWS = [*FORCING, *THINKING, *LIMITS, *FIELDS, *TOOLS, *MESSAGES, *CACHING, *FORMATS]


@pytest.mark.parametrize(
    ("profile", "change", "sentence"),
    [(profile, change, sentence) for profiles, change, sentence in ROWS for profile in profiles],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_model_refuses_what_its_documentation_says(profile: str, change: Json, sentence: str) -> None:
    assert sentence in refusal(profile, **change)


ACCEPTED: list[tuple[tuple[str, ...], Json]] = [
    (CHECKED, {}),
    (CHECKED, {"tools": [TOOL], "tool_choice": {"type": "auto"}}),
    (CHECKED, {"tools": [TOOL], "tool_choice": {"type": "none"}}),
    (("haiku-5-5", "sonnet-4-6"), {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "look"}}),
    (CHECKED, {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": LOW}),
    (NEWEST, {"output_config": {"effort": "xhigh"}}),
    (("sonnet-5-5",), {"thinking": {"type": "between_tools"}}),
    (("haiku-5-5",), {"thinking": {"type": "disabled"}, "output_config": {"effort": "high"}}),
    (("sonnet-4-6",), {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000}),
    (CHECKED, {"output_config": {"effort": "low", **formatted(SCHEMA)}}),
    (CHECKED, {"tools": [{"name": "t", "input_schema": SCHEMA, "strict": True}]}),
    (CHECKED, {"messages": [*OPEN, *said(("user", [RESULT, text()]))], "tools": [TOOL]}),
    (CHECKED, {"messages": said(("user", "a"), ("user", "b"))}),
    (NEWEST, {"messages": said(("user", "a"), ("system", "b"))}),
    (NEWEST, {"messages": [*OPEN, *said(("user", [RESULT]), ("system", "b"))], "tools": [TOOL]}),
    (CHECKED, {"system": FIVE[:4]}),
    (CHECKED, {"cache_control": MARK, "metadata": {"user_id": "a"}, "stop_sequences": ["x"]}),
    (CHECKED, {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
    (CHECKED, {"messages": said(("user", [PDF, text()]))}),
]
SDK_REQUEST: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsNonStreaming)
SDK_COUNT: TypeAdapter[Any] = TypeAdapter(MessageCountTokensParams)


@pytest.mark.parametrize(("profiles", "change"), ACCEPTED)
def test_a_request_that_a_model_takes_is_one_of_the_sdk_too(profiles: tuple[str, ...], change: Json) -> None:
    SDK_REQUEST.validate_python(request(**change))
    for profile in profiles:
        assert refusal(profile, **change) == ""


@pytest.mark.parametrize(
    ("profiles", "change", "sentence"), [*FORCING, *THINKING, *TOOLS, *MESSAGES, *CACHING, *FORMATS]
)
def test_counting_tokens_refuses_the_same(profiles: tuple[str, ...], change: Json, sentence: str) -> None:
    del sentence
    if "enabled" in str(change.get("thinking")) and profiles == ("sonnet-4-6",):
        return  # the size of the budget is compared with max_tokens, which is not counted
    for profile in profiles:
        assert refusal(profile, counting=True, max_tokens=None, **change)


def test_counting_tokens_takes_no_max_tokens_and_has_no_limit_of_the_context() -> None:
    SDK_COUNT.validate_python(request(max_tokens=None))
    assert refusal("sonnet-5-5", counting=True, max_tokens=None) == ""
    assert "max_tokens: Extra inputs" in refusal("sonnet-5-5", counting=True)


@pytest.mark.parametrize("change", [row[1] for row in FIELDS if "colour" not in row[1]])
def test_what_the_types_of_the_sdk_refuse_is_refused(change: Json) -> None:
    """Types only: the SDK's TypedDicts let unknown fields and empty texts through."""
    try:
        SDK_REQUEST.validate_python(request(**change))
    except ValueError:
        assert refusal("sonnet-5-5", **change)


def test_a_beta_header_allows_the_fields_of_its_beta() -> None:
    config = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    assert refusal("sonnet-5-5", thinking=config)
    assert refusal("sonnet-5-5", thinking=config, betas=[BINDING_BETA]) == ""


def test_a_server_that_knows_no_tools_refuses_none_of_it() -> None:
    assert not any(refusal("unknown", **change) for _, change, _ in ROWS)


def test_a_token_has_two_and_a_half_characters() -> None:
    few = limits.input_tokens(request(), PROFILES["sonnet-5-5"])
    many = limits.input_tokens(request(messages=said(("user", "hi" + "x" * 2500))), PROFILES["sonnet-5-5"])
    assert many - few == 1000


@pytest.mark.parametrize("profile", CHECKED)
def test_a_turn_that_was_paused_for_a_tool_of_the_provider_may_stand_last(profile: str) -> None:
    paused = said(("user", "a"), ("assistant", [SEARCH]))
    continued = said(("user", "a"), ("assistant", [SEARCH]), ("assistant", [FOUND, text("so")]), ("user", "b"))
    assert [refusal(profile, messages=messages) for messages in (paused, continued)] == ["", ""]


@pytest.mark.parametrize("profile", CHECKED)
def test_an_image_counts_as_a_picture_and_not_as_text(profile: str) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "A" * 4_000_000}
    assert refusal(profile, messages=said(("user", [{"type": "image", "source": source}]))) == ""
