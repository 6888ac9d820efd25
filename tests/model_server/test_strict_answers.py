"""How each model answers: thinking first, hidden remarks, limits, formats, usage and events, through the real SDK."""

import json
from typing import Any

import anthropic
import msgspec
import pytest

from actors.model_server.offline import NOTE
from actors.model_server.profiles import PROFILES
from actors.model_server.reply import THINKING_TOKENS
from actors.model_server.scripted import Rule, ScriptedTool
from tests.model_server.strict_requests import (
    CHECKED,
    MARK,
    MODELS,
    NEWEST,
    RESULT,
    SCHEMA,
    TOOL,
    Json,
    blocks,
    create,
    formatted,
    said,
    server,
    streamed,
    text,
    text_of,
)

LONG = "First I look at the shelf. Then I look at the list. After that I compare them. Now I call the tool."
LOOK = ScriptedTool(name="look", input={"query": "x"})
PLAN: Json = {
    "title": "plan",
    "type": "object",
    "additionalProperties": False,
    "required": ["goal", "tasks"],
    "properties": {
        "goal": {"type": "string"},
        "tasks": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["id", "worker", "intent"],
                "properties": {
                    "id": {"type": "string"},
                    "intent": {"type": "string"},
                    "worker": {
                        "enum": ["maths", "library"],
                        "description": "maths: Calculates.\nlibrary: Finds books.",
                    },
                },
            },
        },
    },
}
ASKED = said(("user", "<request>\nCalculate 3 + 4 and find a book on birds.\n</request>"))


def kinds(content: list[Json]) -> list[str]:
    return [block["type"] for block in content]


@pytest.mark.parametrize("profile", NEWEST)
async def test_an_answer_begins_with_thinking_that_is_signed_and_not_shown(profile: str) -> None:
    async with server(Rule(text="Hello.")) as client:
        message = await create(client, model=MODELS[profile])
    content = blocks(message)
    assert kinds(content) == ["thinking", "text"]
    assert content[0]["thinking"] == ""
    assert content[0]["signature"]
    assert message.stop_reason == "end_turn"


async def test_thinking_is_shown_where_it_is_asked_for() -> None:
    async with server(Rule(text="Hello.", thinking="It is a greeting.")) as client:
        message = await create(client, thinking={"type": "adaptive", "display": "summarized"})
    assert blocks(message)[0]["thinking"] == "It is a greeting."


@pytest.mark.parametrize(
    ("model", "change"),
    [
        ("claude-haiku-5-5", {"thinking": {"type": "disabled"}}),
        ("claude-haiku-5-5", {"tools": [TOOL], "tool_choice": {"type": "any"}}),
        ("claude-sonnet-5-5", {"thinking": {"type": "between_tools"}}),
        ("claude-sonnet-5-5", {"output_config": formatted(SCHEMA)}),
        ("claude-sonnet-4-6", {}),
    ],
)
async def test_some_requests_are_answered_without_thinking(model: str, change: Json) -> None:
    async with server(Rule(tool_use=[ScriptedTool(name="answer", input={"name": "a", "size": 1})])) as client:
        content = blocks(await create(client, model=model, **change))
    assert "thinking" not in kinds(content)


async def test_a_sentence_in_the_system_prompt_brings_the_thinking_back_to_a_format() -> None:
    async with server(Rule(text='{"name": "a", "size": 1}')) as client:
        system = "Answer. Think the problem through before you answer."
        content = blocks(await create(client, output_config=formatted(SCHEMA), system=system))
    assert kinds(content) == ["thinking", "text"]


@pytest.mark.parametrize(("profile", "expected"), [("sonnet-5-5", 0), ("opus-5-5", 0), ("haiku-5-5", len(LONG))])
async def test_a_long_text_next_to_tool_calls_comes_back_as_empty_thinking(profile: str, expected: int) -> None:
    async with server(Rule(text=LONG, tool_use=[LOOK])) as client:
        message = await create(client, model=MODELS[profile], tools=[TOOL])
    assert len(text_of(message)) == expected
    content = blocks(message)
    assert kinds(content).count("thinking") == (1 if expected else 2)
    assert kinds(content)[-1] == "tool_use"
    assert message.stop_reason == "tool_use"


async def test_a_short_remark_stays_text_and_between_tools_shows_the_long_one() -> None:
    rules = [Rule(contains="short", text="I look. Then I see.", tool_use=[LOOK]), Rule(text=LONG, tool_use=[LOOK])]
    async with server(*rules) as client:
        short = await create(client, tools=[TOOL], messages=said(("user", "short")))
        shown = await create(client, tools=[TOOL], thinking={"type": "between_tools"})
    assert text_of(short) == "I look. Then I see."
    assert [block.get("thinking") for block in blocks(shown)] == [LONG, None]


async def test_two_thinking_blocks_of_one_answer_can_be_sent_back() -> None:
    async with server(Rule(turns=1, text=LONG, tool_use=[LOOK]), Rule(text="done")) as client:
        content = blocks(await create(client, tools=[TOOL]))
        result = {**RESULT, "tool_use_id": content[-1]["id"]}
        whole = said(("user", "hi"), ("assistant", content), ("user", [result]))
        assert text_of(await create(client, tools=[TOOL], messages=whole)) == "done"
        with pytest.raises(anthropic.BadRequestError, match="cannot be modified"):
            await create(
                client, tools=[TOOL], messages=said(("user", "hi"), ("assistant", content[1:]), ("user", [result]))
            )


async def test_thinking_counts_into_max_tokens() -> None:
    async with server(Rule(text="word " * 400, thinking_tokens=300)) as client:
        only = await create(client, max_tokens=200)
        cut = await create(client, max_tokens=400)
        whole = await create(client, max_tokens=2000)
    assert (kinds(blocks(only)), only.stop_reason) == (["thinking"], "max_tokens")
    assert only.usage.output_tokens == 200
    assert (kinds(blocks(cut)), cut.stop_reason) == (["thinking", "text"], "max_tokens")
    assert len(text_of(cut)) == 250
    assert whole.stop_reason == "end_turn"
    assert whole.usage.output_tokens_details is not None
    assert whole.usage.output_tokens_details.thinking_tokens == 300


async def test_effort_decides_how_many_tokens_are_spent_on_thinking() -> None:
    async with server(Rule(text="a")) as client:
        low = await create(client, output_config={"effort": "low"})
        default = await create(client)
    assert low.usage.output_tokens_details is not None
    assert default.usage.output_tokens_details is not None
    assert low.usage.output_tokens_details.thinking_tokens == THINKING_TOKENS["low"]
    assert default.usage.output_tokens_details.thinking_tokens == THINKING_TOKENS["high"]


async def test_an_answer_that_does_not_fit_into_the_context_says_so() -> None:
    small = msgspec.structs.replace(PROFILES["sonnet-5-5"], context_tokens=600)
    async with server(Rule(text="word " * 400), profile=small) as client:
        message = await create(client)
        with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
            await create(client, messages=said(("user", "x" * 2_000)))
    assert message.stop_reason == "model_context_window_exceeded"
    assert message.usage.input_tokens + message.usage.output_tokens <= small.context_tokens


async def test_a_stop_sequence_ends_the_text() -> None:
    async with server(Rule(text="one STOP two")) as client:
        message = await create(client, stop_sequences=["STOP"])
    assert (text_of(message), message.stop_reason, message.stop_sequence) == ("one ", "stop_sequence", "STOP")


async def test_a_refusal_has_its_details_in_an_answer_and_in_a_stream() -> None:
    async with server(Rule(text="", stop_reason="refusal", refusal_category="cyber")) as client:
        message = await create(client)
        _, heard = await streamed(client)
    for one in (message, heard):
        assert one.stop_reason == "refusal"
        assert one.stop_details is not None
        assert one.stop_details.category == "cyber"


async def test_every_event_of_a_stream_comes_in_order_and_adds_up_to_the_answer() -> None:
    async with server(Rule(text="I look.", tool_use=[LOOK])) as client:
        whole = await create(client, tools=[TOOL])
        events, heard = await streamed(client, tools=[TOOL])
    assert blocks(heard) == blocks(whole)
    assert heard.usage.output_tokens_details == whole.usage.output_tokens_details
    told = [event["delta"]["type"] if event["type"] == "content_block_delta" else event["type"] for event in events]
    order = list(dict.fromkeys(told))
    expected = ["message_start", "content_block_start", "signature_delta", "content_block_stop", "text_delta"]
    assert [one for one in order if one in [*expected, "input_json_delta", "message_delta", "message_stop"]] == [
        *expected,
        "input_json_delta",
        "message_delta",
        "message_stop",
    ]


async def test_thinking_that_is_shown_is_streamed_in_pieces() -> None:
    async with server(Rule(text="a", thinking="I think about it at some length.")) as client:
        events, heard = await streamed(client, thinking={"type": "adaptive", "display": "summarized"})
    pieces = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert len([piece for piece in pieces if piece["type"] == "thinking_delta"]) > 1
    assert blocks(heard)[0]["thinking"] == "I think about it at some length."


async def test_an_error_can_come_in_the_middle_of_a_stream() -> None:
    async with server(Rule(text="word " * 50, error_event="overloaded_error")) as client:
        with pytest.raises(anthropic.APIStatusError) as caught:
            await streamed(client)
    assert caught.value.type == "overloaded_error"
    assert caught.value.status_code == 200


@pytest.mark.parametrize("profile", CHECKED)
async def test_a_plan_by_format_is_json_that_satisfies_the_schema(profile: str) -> None:
    async with server() as client:
        message = await create(client, model=MODELS[profile], messages=ASKED, output_config=formatted(PLAN))
    plan = json.loads(text_of(message))
    assert {task["worker"] for task in plan["tasks"]} == {"maths", "library"}
    assert set(plan) == {"goal", "tasks"}
    assert all(set(task) == {"id", "worker", "intent"} for task in plan["tasks"])
    assert message.stop_reason == "end_turn"


async def test_a_plan_is_recognised_without_a_title_and_its_workers_are_read_from_the_prompt() -> None:
    bare = json.loads(json.dumps(PLAN))
    del bare["title"]
    bare["properties"]["tasks"]["items"]["properties"]["worker"] = {"type": "string"}
    system = "You plan.\n<workers>\n- maths: Calculates.\n- library: Finds books.\n</workers>"
    async with server() as client:
        message = await create(client, messages=ASKED, system=system, output_config=formatted(bare))
    assert {task["worker"] for task in json.loads(text_of(message))["tasks"]} == {"maths", "library"}


async def test_a_scripted_plan_answers_by_tool_and_by_format() -> None:
    plan = {"goal": "g", "tasks": [{"id": "a", "worker": "maths", "intent": "i", "extra": 1}]}
    async with server(Rule(role="planner", plan=plan)) as client:
        by_format = await create(client, messages=ASKED, output_config=formatted(PLAN))
        forced: Json = {
            "tools": [{"name": "submit_plan", "input_schema": PLAN}],
            "tool_choice": {"type": "tool", "name": "submit_plan"},
        }
        by_tool = await create(client, model="claude-haiku-5-5", messages=ASKED, **forced)
    assert json.loads(text_of(by_format))["tasks"] == [{"id": "a", "worker": "maths", "intent": "i"}]
    assert blocks(by_tool)[0]["input"] == plan


async def test_an_answer_that_no_grammar_allows_is_a_fault_of_the_script() -> None:
    wrong = {"goal": "g", "tasks": [{"id": "a", "worker": "nobody", "intent": "i"}]}
    async with server(Rule(contains="prose", text="Once upon a time"), Rule(plan=wrong)) as client:
        for words in ("prose", "plan"):
            with pytest.raises(anthropic.InternalServerError, match="stand-in"):
                await create(client, messages=said(("user", words)), output_config=formatted(PLAN))


async def test_an_answer_that_is_cut_or_refused_need_not_be_json() -> None:
    async with server(Rule(text='{"name": "abc', stop_reason="max_tokens")) as client:
        message = await create(client, output_config=formatted(SCHEMA))
    assert (text_of(message), message.stop_reason) == ('{"name": "abc', "max_tokens")


def schema_of(title: str, **properties: Json) -> Json:
    return {
        "title": title,
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": list(properties),
    }


TEXTS: Json = {"type": "array", "items": {"type": "string"}}
REPORT = schema_of(
    "report",
    confidence={"anyOf": [{"type": "number"}, {"type": "null"}]},
    contradictions={"type": "array", "items": schema_of("", tasks=TEXTS, claim={"type": "string"})},
    gaps=TEXTS,
    more=TEXTS,
)
RULING = schema_of(
    "ruling",
    verdicts={"type": "array", "items": schema_of("", number={"type": "integer"}, resolution={"type": "string"})},
)


@pytest.mark.parametrize("titled", [True, False])
async def test_the_rules_have_nothing_to_report(titled: bool) -> None:
    schema = REPORT if titled else {name: value for name, value in REPORT.items() if name != "title"}
    result = '<result task="a" worker="w" status="completed">\nx\n</result>'
    results = f"<request>\nq\n</request>\n\n<results>\n{result}\n</results>"
    async with server() as client:
        message = await create(client, messages=said(("user", results)), output_config=formatted(schema))
    assert json.loads(text_of(message)) == {"confidence": None, "contradictions": [], "gaps": [], "more": []}


async def test_the_refiner_and_the_judge_answer_by_format() -> None:
    intent = schema_of("intent", intent={"type": "string"})
    async with server() as client:
        refined = await create(
            client, messages=said(("user", "<intent>\nCount the bolts\n</intent>")), output_config=formatted(intent)
        )
        judged = await create(client, messages=said(("user", "Give 1 verdicts.")), output_config=formatted(RULING))
    assert json.loads(text_of(refined)) == {"intent": "Count the bolts"}
    assert set(json.loads(text_of(judged))["verdicts"][0]) == {"number", "resolution"}


@pytest.mark.parametrize(
    ("role", "schema"),
    [("refiner", schema_of("intent", intent={"type": "string"})), ("judge", RULING), ("report", REPORT)],
)
async def test_a_rule_can_be_meant_for_one_small_role(role: Any, schema: Json) -> None:
    async with server(Rule(role=role, status=403), Rule(role="other", status=409)) as client:
        with pytest.raises(anthropic.PermissionDeniedError):
            await create(client, output_config=formatted(schema))
        with pytest.raises(anthropic.ConflictError):
            await create(client)


@pytest.mark.parametrize(
    "change",
    [
        {"output_config": formatted(PLAN)},
        {"tools": [TOOL], "tool_choice": {"type": "any"}},
        {"tools": [TOOL]},
        {"thinking": {"type": "enabled", "budget_tokens": 1}, "temperature": 0.1, "colour": "red"},
    ],
)
async def test_an_unknown_server_answers_prose_to_everything(change: Json) -> None:
    rules = [Rule(plan={"goal": "g", "tasks": []}, times=1), Rule(tool_use=[LOOK])]
    async with server(*rules, profile="unknown") as client:
        for _ in range(2):
            extra = {name: change[name] for name in ("colour", "temperature") if name in change}
            rest = {name: value for name, value in change.items() if name not in extra}
            message = await create(client, model="tiny", messages=ASKED, **rest, extra_body=extra)
            assert kinds(blocks(message)) == ["text"]
            assert NOTE in text_of(message)
            assert not text_of(message).lstrip().startswith("{")
            assert message.stop_reason == "end_turn"


async def test_a_prefix_of_512_tokens_is_read_from_the_cache_and_a_shorter_one_is_not() -> None:
    long, short = text("word " * 300, cache_control=MARK), text("word " * 200, cache_control=MARK)
    async with server(Rule(text="a")) as client:
        first, second = [(await create(client, system=[long])).usage for _ in range(2)]
        none = [(await create(client, system=[short])).usage for _ in range(2)][1]
        hour = (await create(client, system=[text("other " * 300, cache_control={**MARK, "ttl": "1h"})])).usage
    assert (first.cache_read_input_tokens, second.cache_creation_input_tokens) == (0, 0)
    assert first.cache_creation_input_tokens == second.cache_read_input_tokens
    assert (second.cache_read_input_tokens or 0) > 512
    assert none.cache_read_input_tokens == 0
    assert hour.cache_creation is not None
    assert hour.cache_creation.ephemeral_1h_input_tokens > 512


async def test_another_effort_loses_the_messages_from_the_cache_and_another_format_everything() -> None:
    system = [text("word " * 300, cache_control=MARK)]
    messages = said(("user", [text("again " * 300, cache_control=MARK)]))
    async with server(Rule(text='{"name": "a", "size": 1}')) as client:
        same: Json = {"system": system, "messages": messages}
        written = (await create(client, **same)).usage.cache_creation_input_tokens or 0
        effort = (await create(client, **same, output_config={"effort": "low"})).usage
        schema = (await create(client, **same, output_config=formatted(SCHEMA))).usage
    assert 0 < (effort.cache_read_input_tokens or 0) < written
    assert schema.cache_read_input_tokens == 0
