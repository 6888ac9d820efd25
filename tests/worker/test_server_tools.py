"""Tools that run at the provider: who may have them, how they are offered, and how their turns go back."""

from typing import Any

import anthropic.types
import msgspec
import pytest
from at_work import SETTINGS, Desk

from actors.model.port import Block
from actors.model.profiles import SERVER_TOOLS
from actors.model.wire import wire_of
from actors.tools.tool import tool
from actors.worker.definition import Worker
from actors.worker.moves import GO_ON, AskModel, container_at, follow_up, next_move, reply_of
from actors.worker.server_tools import require_server_tools
from protocol.errors import InvalidError
from protocol.messages import Handoff, Source, Usage
from protocol.steps import Begun, ModelCalled

BEGUN = Begun(system="You search.", prompt=msgspec.Raw(b'"task"'))
SEARCH: Block = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "rain"}}
PAGE = {"type": "web_search_result", "url": "https://example.org/rain", "title": "Rain", "encrypted_content": "x"}
OTHER = {"type": "web_search_result", "url": "https://example.org/snow/", "title": "Snow", "encrypted_content": "y"}
FOUND: Block = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [PAGE, OTHER]}
CITATION = {
    "type": "web_search_result_location",
    "url": "https://example.org/rain",
    "title": "Rain",
    "cited_text": "It rained on Monday.",
    "encrypted_index": "i",
}


def searcher(**more: Any) -> Worker:
    return Worker("searcher", summary="Searches.", prompt="You search.", server_tools=["web_search"], **more)


def text(words: str, **more: Any) -> Block:
    return {"type": "text", "text": words, **more}


def said(*blocks: Block, stop: str) -> ModelCalled:
    content = msgspec.Raw(msgspec.json.encode(list(blocks)))
    step = ModelCalled(model="m", content=content, stop_reason=stop, usage=Usage(model_calls=1))
    return msgspec.structs.replace(step, then=follow_up(reply_of(step)))


@tool
def notes() -> str:
    """Read the private notes."""
    return "secret"


def echo(handoff: Handoff) -> str:
    return handoff.intent


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [notes], "prompt": "x"},
        {"server_tools": ["browse"]},
        {"server_tools": "web_search"},
        {"server_tools": ["web_search", "web_search"]},
        {"model": "claude-sonnet-4-6"},
        {"person": True},
        {"run": echo},
    ],
)
def test_a_worker_that_may_not_have_server_tools_is_refused_when_it_is_defined(fields: dict[str, Any]) -> None:
    Worker("w", summary="Works.", server_tools=["web_search"])
    given: dict[str, Any] = {"server_tools": ["web_search"], **fields}
    with pytest.raises(InvalidError, match="'w'"):
        Worker("w", summary="Works.", **given)


def test_a_default_model_without_the_server_tool_is_refused_at_the_start() -> None:
    require_server_tools([searcher()], "claude-haiku-5-5")
    require_server_tools([searcher()], "some-other-model")  # refused when a task begins
    with pytest.raises(InvalidError, match="claude-sonnet-4-6"):
        require_server_tools([searcher()], "claude-sonnet-4-6")


def test_each_server_tool_has_the_newest_version_of_the_sdk() -> None:
    for name, tool_ in SERVER_TOOLS.items():
        words = name.title().replace("_", "")
        versions = [one for one in vars(anthropic.types) if one.startswith(f"{words}Tool20") and one.endswith("Param")]
        assert tool_["type"] == f"{name}_{max(versions).removeprefix(f'{words}Tool').removesuffix('Param')}"
        params = getattr(anthropic.types, max(versions))
        assert set(tool_) <= set(params.__annotations__)


async def test_server_tools_are_stored_with_the_beginning_and_offered_from_there() -> None:
    done = await Desk(searcher()).do()
    begun = done.steps[0]
    assert isinstance(begun, Begun)
    assert [msgspec.json.decode(one) for one in begun.server_tools] == [SERVER_TOOLS["web_search"]]
    asked = wire_of(done.calls[0], "m")
    assert [one for one in asked["tools"] if "input_schema" not in one] == [
        {**SERVER_TOOLS["web_search"], "cache_control": {"type": "ephemeral"}}
    ]


async def test_a_takeover_offers_the_stored_server_tools_and_no_others() -> None:
    old = msgspec.Raw(b'{"type":"web_search_20250305","name":"web_search"}')
    before = [msgspec.structs.replace(BEGUN, server_tools=(old,)), said(SEARCH, stop="pause_turn")]
    done = await Desk(Worker("searcher", summary="Searches.", prompt="Now without.")).do([], before=before)
    assert done.calls[0].server_tools == [{"type": "web_search_20250305", "name": "web_search"}]
    assert [(turn.role, turn.content) for turn in done.calls[0].turns] == [("user", "task"), ("assistant", [SEARCH])]


async def test_a_task_for_an_unknown_model_fails_before_anything_is_paid() -> None:
    done = await Desk(searcher(model="my-own-model")).do()
    assert done.result.error is not None
    assert (done.result.status, done.result.error.kind, done.calls) == ("failed", "server_tools", [])


def test_a_worker_without_server_tools_offers_none() -> None:
    assert Worker("w", summary="Works.").server_tools == ()


def test_a_call_that_ran_out_of_tokens_before_its_result_is_not_sent_back() -> None:
    thinking: Block = {"type": "thinking", "thinking": "", "signature": "s"}
    cut = said(thinking, text("I search. "), SEARCH, stop="max_tokens")
    move = next_move(BEGUN, [cut])
    assert isinstance(move, AskModel)
    assert [turn.content for turn in move.turns[1:]] == [[thinking, text("I search. ")], GO_ON]


def test_a_turn_that_ran_out_of_tokens_after_a_search_is_gone_on_with_by_the_user() -> None:
    move = next_move(BEGUN, [said(SEARCH, FOUND, stop="max_tokens")])
    assert isinstance(move, AskModel)
    assert [turn.content for turn in move.turns[1:]] == [[SEARCH, FOUND], GO_ON]


def test_texts_around_a_search_are_separated() -> None:
    reply = reply_of(said(text("I search."), SEARCH, FOUND, text("It rains"), text(" a lot."), stop="end_turn"))
    assert reply.text == "I search.\n\nIt rains a lot."


def test_a_container_is_named_again_until_it_expires() -> None:
    step = msgspec.structs.replace(said(text("x"), stop="pause_turn"), container="c1", container_expires=100.0)
    assert container_at([step, said(text("y"), stop="pause_turn")], 99.0) == "c1"
    assert container_at([step], 101.0) == ""
    assert container_at([], 0.0) == ""


async def test_the_result_names_what_its_text_cites_and_the_pages_that_it_names() -> None:
    words = [text("It rained", citations=[CITATION]), text(" and snowed (see https://example.org/snow).")]
    done = await Desk(searcher()).do([SEARCH, FOUND, *words])
    assert done.result.output == "It rained and snowed (see https://example.org/snow)."
    assert done.result.sources == (
        Source(ref="https://example.org/rain", title="Rain", quote="It rained on Monday."),
        Source(ref="https://example.org/snow/", title="Snow"),
    )
    assert msgspec.json.decode(next(s for s in done.steps if isinstance(s, ModelCalled)).content)[2] == words[0]


async def test_pages_that_the_text_does_not_name_are_no_sources() -> None:
    done = await Desk(searcher()).do([SEARCH, FOUND, text("Nothing on https://example.org/rainbow.")])
    assert done.result.sources == ()


async def test_a_result_with_more_sources_than_fit_into_a_message_is_stored_all_the_same() -> None:
    cited = [text("rain. ", citations=[{**CITATION, "cited_text": f"{number} " + "x" * 390}]) for number in range(60)]
    small = msgspec.structs.replace(SETTINGS, message_bytes=12_000)
    done = await Desk(searcher(), small).do([SEARCH, FOUND, *cited])
    assert done.result.status == "completed"
    assert 0 < len(done.result.sources) < 30
