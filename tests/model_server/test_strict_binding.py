"""Thinking that comes back: bound to what stood before it, as the provider documents it."""

import copy
from collections.abc import Callable, Collection

import anthropic
import pytest

from actors.model_server.checks.binding import BOUND, INVALID, MODIFIED
from actors.model_server.checks.thinking import BINDING_BETA
from actors.model_server.checks.validation import fault
from actors.model_server.profiles import PROFILES, Profile
from actors.model_server.scripted import Rule, ScriptedTool
from tests.model_server.strict_requests import (
    MARK,
    NEWEST,
    TOOL,
    Json,
    blocks,
    create,
    refusal,
    request,
    said,
    server,
    text,
)

SYSTEM = "You look things up."
CALLS = [Rule(turns=turns, tool_use=[ScriptedTool(name="look", input={"query": str(turns)})]) for turns in (1, 3, 5)]


async def conversation(profile: str | Profile = "sonnet-5-5") -> Json:
    """A conversation in which the model thought before each of three tool calls; the results of the last are in."""
    whole: Json = {"system": SYSTEM, "tools": [TOOL], "messages": said(("user", "Find it."))}
    async with server(*CALLS, profile=profile) as client:
        for turn in range(3):
            content = blocks(await create(client, **whole))
            assert [block["type"] for block in content] == ["thinking", "tool_use"]
            result = {"type": "tool_result", "tool_use_id": content[1]["id"], "content": f"found {turn}"}
            whole["messages"] += said(("assistant", content), ("user", [result]))
    return whole


def refused(
    whole: Json, profile: str = "sonnet-5-5", *, changes: Json | None = None, betas: Collection[str] = ()
) -> str:
    return fault(request(**{**whole, **(changes or {})}), PROFILES[profile], betas=betas) or ""


def edit(whole: Json, change: Callable[[list[Json]], object]) -> Json:
    """The conversation with its messages changed."""
    messages = copy.deepcopy(whole["messages"])
    change(messages)
    return {**whole, "messages": messages}


def without_thinking(messages: list[Json], *turns: int) -> None:
    for at in turns:
        messages[at]["content"] = [block for block in messages[at]["content"] if block["type"] != "thinking"]


async def test_a_conversation_that_only_grows_is_taken() -> None:
    for profile in NEWEST:
        whole = await conversation(profile)
        assert refused(whole, profile) == ""


async def test_whatever_stood_before_thinking_must_not_change() -> None:
    whole = await conversation()
    other = {**TOOL, "name": "other"}
    changes: list[Json] = [
        {"system": "You look things up!"},
        {"system": None},
        {"tools": [TOOL, other]},
        {"tools": [{**TOOL, "description": "Look it up."}]},
        edit(whole, lambda m: m[0].update(content="Find it!")),
        edit(whole, lambda m: m[2]["content"][0].update(content="[cut]")),
        edit(whole, lambda m: m[1]["content"].insert(1, text("Well."))),
        edit(whole, lambda m: m.insert(0, {"role": "user", "content": "Today is Monday."})),
    ]
    for change in changes:
        found = refused(whole, changes=change)
        assert found.startswith("messages.")
        assert found.endswith(BOUND), change


async def test_the_error_names_the_first_block_behind_the_change() -> None:
    whole = await conversation()
    assert refused(edit(whole, lambda m: m[2]["content"][0].update(content="cut"))) == f"messages.3.content.0: {BOUND}"
    assert refused({**whole, "system": "x"}) == f"messages.1.content.0: {BOUND}"


async def test_marks_and_settings_may_change() -> None:
    whole = await conversation()
    changes: list[Json] = [
        {"system": [text(SYSTEM, cache_control=MARK)]},
        {"tools": [{**TOOL, "cache_control": MARK}]},
        edit(whole, lambda m: m[0].update(content=[text("Find it.", cache_control=MARK)])),
        {"max_tokens": 50_000, "output_config": {"effort": "low"}, "metadata": {"user_id": "a"}},
        {"tool_choice": {"type": "none"}},
        {"tools": [TOOL, {**TOOL, "name": "later", "defer_loading": True}]},
    ]
    for change in changes:
        assert refused(whole, changes=change) == "", change


async def test_thinking_may_be_dropped_from_the_front_but_not_from_the_middle() -> None:
    whole = await conversation()
    assert refused(edit(whole, lambda m: without_thinking(m, 1))) == ""
    assert refused(edit(whole, lambda m: without_thinking(m, 1, 3))) == ""
    assert refused(edit(whole, lambda m: without_thinking(m, 3))) == f"messages.5.content.0: {BOUND}"


async def test_thinking_of_the_latest_turn_may_be_neither_removed_nor_modified() -> None:
    whole = await conversation()
    assert refused(edit(whole, lambda m: without_thinking(m, 5))).endswith(MODIFIED)
    assert (
        refused(edit(whole, lambda m: m[5]["content"][0].update(thinking="x"))) == f"messages.5.content.0: {MODIFIED}"
    )
    assert refused(edit(whole, lambda m: m[5]["content"][0].update(signature="eHg="))).endswith(MODIFIED)
    assert refused(edit(whole, lambda m: m[1]["content"][0].update(thinking="x"))) == f"messages.1.content.0: {INVALID}"


async def test_thinking_may_be_stripped_from_an_edited_turn_on_and_the_conversation_goes_on() -> None:
    """The documented way out where the context fills up: earlier thinking stays, all behind the change is gone."""
    whole = await conversation()

    def cut(messages: list[Json]) -> None:
        messages[2]["content"][0]["content"] = "[cut]"
        without_thinking(messages, 3, 5)

    changed = edit(whole, cut)
    assert refused(changed) == ""
    async with server(
        Rule(tool_use=[ScriptedTool(name="look", input={"query": "more"})]), profile="sonnet-5-5"
    ) as client:
        content = blocks(await create(client, **changed))
        result = {"type": "tool_result", "tool_use_id": content[-1]["id"], "content": "more"}
        changed["messages"] += said(("assistant", content), ("user", [result]))
        await create(client, **changed)


async def test_dropping_blocks_needs_its_beta_header() -> None:
    whole = {**await conversation(), "system": "other"}
    drop: Json = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    assert "block_binding" in refused(whole, changes={"thinking": drop})
    assert refused(whole, changes={"thinking": drop}, betas=[BINDING_BETA]) == ""


async def test_a_model_drops_thinking_that_it_does_not_read() -> None:
    """haiku-5-5 does not read sonnet-5-5: no error, whatever changed. opus-5-5 reads it, and checks it."""
    whole = {**await conversation("sonnet-5-5"), "system": "other"}
    assert refused(whole, "haiku-5-5") == ""
    assert refused(whole, "opus-5-5").endswith(BOUND)


async def test_a_server_that_was_started_again_still_knows_its_signatures() -> None:
    whole = await conversation()
    async with server(profile="sonnet-5-5") as client:
        await create(client, **whole)
        with pytest.raises(anthropic.BadRequestError) as refusal_of_other_text:
            await create(client, **{**whole, "system": "other"})
    assert "bound to a different conversation" in str(refusal_of_other_text.value)


async def test_an_older_model_does_not_bind_its_thinking() -> None:
    rules = [Rule(turns=1, tool_use=[ScriptedTool(name="look", input={"query": "a"})])]
    thinking = {"type": "adaptive"}
    async with server(*rules, profile="sonnet-4-6") as client:
        content = blocks(await create(client, tools=[TOOL], thinking=thinking))
    assert content[0]["type"] == "thinking"
    assert content[0]["thinking"]
    result = {"type": "tool_result", "tool_use_id": content[1]["id"], "content": "x"}
    messages = said(("user", "hi"), ("assistant", content), ("user", [result]))
    assert not PROFILES["sonnet-4-6"].binds_thinking
    assert refusal("sonnet-4-6", messages=messages, tools=[TOOL], system="other", thinking=thinking) == ""
