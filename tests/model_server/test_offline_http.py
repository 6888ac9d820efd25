"""The server speaks the Messages API: through the SDK where it can, by hand where the SDK would not let us."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import anthropic
import httpx2
import pytest
from anthropic.types import Message

from actors.model_server.offline import NAME, NOTE
from actors.model_server.scripted import Rule, Script, ScriptedTool
from actors.model_server.serve import offline_server
from actors.run.board import TaskState
from actors.supervisor.roles.refiner import INTENT, refining
from protocol.messages import Task

ROOT = Path(__file__).parents[2]
HEADERS = {"x-api-key": "any", "anthropic-version": "2023-06-01"}
HI: list[Any] = [{"role": "user", "content": "hi"}]
GOOD: dict[str, Any] = {"model": "claude-haiku-5-5", "max_tokens": 100, "messages": HI}


async def create(client: anthropic.AsyncAnthropic, **changed: Any) -> Message:
    # The types of the SDK cannot follow arguments that are made up at run time.
    return await cast("Any", client.messages).create(**{**GOOD, **changed})


def text_of(message: Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with offline_server() as url:
        yield url


@pytest.fixture
async def client(url: str) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(api_key="any", base_url=url, max_retries=0) as client:
        yield client


async def test_create_answers_with_a_message_and_a_request_id(client: anthropic.AsyncAnthropic) -> None:
    message = await create(client)
    assert message.model == NAME
    assert message.stop_reason == "end_turn"
    assert message.usage.input_tokens > 0
    assert text_of(message).endswith(NOTE)
    raw = await client.messages.with_raw_response.create(model="claude-haiku-5-5", max_tokens=100, messages=HI)
    assert raw.headers["request-id"].startswith("req_")


async def test_the_same_request_gets_the_same_answer(client: anthropic.AsyncAnthropic) -> None:
    assert await create(client) == await create(client)


async def test_a_stream_adds_up_to_the_message(client: anthropic.AsyncAnthropic) -> None:
    whole = await create(client)
    async with client.messages.stream(model="claude-haiku-5-5", max_tokens=100, messages=HI) as stream:
        kinds = [event.type async for event in stream]
        message = await stream.get_final_message()
    assert [block.to_dict() for block in message.content] == [block.to_dict() for block in whole.content]
    assert (message.id, message.stop_reason, message.usage) == (whole.id, whole.stop_reason, whole.usage)
    assert kinds[0] == "message_start"
    assert kinds[-1] == "message_stop"


async def test_the_input_of_tools_is_streamed_in_pieces() -> None:
    wanted = {"text": "x" * 100}
    rules = Script(rules=[Rule(tool_use=[ScriptedTool(name="a", input=wanted), ScriptedTool(name="b")])])
    async with (
        offline_server(script=rules) as url,
        anthropic.AsyncAnthropic(api_key="any", base_url=url, max_retries=0) as client,
        client.messages.stream(model="claude-haiku-5-5", max_tokens=100, messages=HI) as stream,
    ):
        pieces = [event async for event in stream if event.type == "input_json"]
        message = await stream.get_final_message()
    assert len(pieces) > 3
    uses = [block for block in message.content if block.type == "tool_use"]
    assert [(use.name, use.input) for use in uses] == [("a", wanted), ("b", {})]
    assert len({use.id for use in uses}) == 2


async def test_tokens_are_counted_and_grow_with_the_request(client: anthropic.AsyncAnthropic) -> None:
    few = await client.messages.count_tokens(model="claude-haiku-5-5", messages=HI)
    many = await client.messages.count_tokens(
        model="claude-haiku-5-5", messages=[{"role": "user", "content": "hi " * 1000}]
    )
    assert 0 < few.input_tokens < many.input_tokens
    created = await create(client)
    assert created.usage.input_tokens == few.input_tokens


async def test_an_answer_over_max_tokens_is_cut_and_says_so() -> None:
    async with (
        offline_server(script=Script(rules=[Rule(text="word " * 100)])) as url,
        anthropic.AsyncAnthropic(api_key="any", base_url=url, max_retries=0) as client,
    ):
        message = await create(client, max_tokens=60)
    assert message.stop_reason == "max_tokens"
    assert message.usage.output_tokens == 60
    assert text_of(message) == ("word " * 5)


TOOL: dict[str, Any] = {"name": "t", "input_schema": {"type": "object"}}
USE: dict[str, Any] = {"type": "tool_use", "id": "u1", "name": "t", "input": {}}
RESULT: dict[str, Any] = {"type": "tool_result", "tool_use_id": "u1", "content": "x"}


def said(*turns: Any) -> list[Any]:
    return [{"role": role, "content": content} for role, content in turns]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"max_tokens": None}, "max_tokens"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"model": ""}, "at least 1 character"),
        ({"model": None}, "Field required"),
        ({"model": 7}, "model"),
        ({"messages": []}, "at least one message"),
        ({"messages": said(("assistant", "hi"))}, "user role"),
        ({"messages": said(("system", "hi"))}, "after a user message"),
        ({"messages": said(("user", ""))}, "non-empty content"),
        ({"messages": said(("user", [{"type": "text", "text": ""}]))}, "non-empty"),
        ({"messages": said(("user", [{"text": "hi"}]))}, "Input tag"),
        ({"system": [{"type": "text", "text": ""}]}, "system"),
        ({"tools": [{**TOOL, "name": "has space"}]}, "name"),
        ({"tools": [TOOL, TOOL]}, "unique"),
        ({"tools": [{**TOOL, "input_schema": {"type": "string"}}]}, "'object'"),
        ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "other"}}, "not found"),
        ({"messages": said(("user", "a"), ("assistant", [USE]), ("user", "b"))}, "immediately after"),
        ({"messages": said(("user", "a"), ("assistant", [USE]))}, "prefill"),
        ({"messages": said(("user", [RESULT]))}, "unexpected"),
        ({"system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5}, "maximum of 4"),
    ],
)
async def test_a_bad_request_is_refused_with_the_reason(url: str, change: dict[str, Any], reason: str) -> None:
    body = {name: value for name, value in {**GOOD, **change}.items() if value is not None}
    async with httpx2.AsyncClient(base_url=url) as http:
        response = await http.post("/v1/messages", json=body, headers=HEADERS)
    assert response.status_code == 400
    assert response.json()["type"] == "error"
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert reason in response.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 20_000])
async def test_a_body_that_is_no_request_is_refused(url: str, body: bytes) -> None:
    async with httpx2.AsyncClient(base_url=url) as http:
        for path in ("/v1/messages", "/v1/messages/count_tokens"):
            response = await http.post(path, content=body, headers=HEADERS)
            assert response.status_code == 400
            assert response.json()["error"]["type"] == "invalid_request_error"


async def test_an_unknown_path_is_not_found_and_a_wrong_method_is_refused(url: str) -> None:
    async with httpx2.AsyncClient(base_url=url) as http:
        unknown = await http.post("/v1/nothing")
        wrong = await http.get("/v1/messages")
    assert (unknown.status_code, unknown.json()["error"]["type"]) == (404, "not_found_error")
    assert (wrong.status_code, wrong.json()["error"]["type"]) == (405, "invalid_request_error")


async def test_it_says_that_it_is_alive(url: str) -> None:
    async with httpx2.AsyncClient(base_url=url) as http:
        assert (await http.get("/")).json()["model"] == NAME
        assert (await http.head("/")).status_code == 200


async def test_the_sdk_sees_the_class_of_each_error() -> None:
    classes = {
        400: anthropic.BadRequestError,
        401: anthropic.AuthenticationError,
        403: anthropic.PermissionDeniedError,
        404: anthropic.NotFoundError,
        429: anthropic.RateLimitError,
        500: anthropic.InternalServerError,
    }
    rules = Script(rules=[Rule(contains=f"<{status}>", status=status) for status in classes])
    async with (
        offline_server(script=rules) as url,
        anthropic.AsyncAnthropic(api_key="any", base_url=url, max_retries=0) as client,
    ):
        for status, expected in classes.items():
            with pytest.raises(expected):
                await create(client, messages=[{"role": "user", "content": f"<{status}>"}])


async def test_a_request_in_no_known_role_is_answered_honestly(client: anthropic.AsyncAnthropic) -> None:
    assert "no rule for this" in text_of(await create(client))


async def test_a_tool_that_is_forced_is_used_whatever_it_is(client: anthropic.AsyncAnthropic) -> None:
    schema = {
        "type": "object",
        "properties": {"intent": {"type": "string"}, "level": {"type": "integer", "minimum": 2, "maximum": 5}},
        "required": ["intent", "level"],
    }
    message = await create(
        client, tools=[{"name": "refine", "input_schema": schema}], tool_choice={"type": "tool", "name": "refine"}
    )
    (use,) = [block for block in message.content if block.type == "tool_use"]
    assert use.input["level"] == 2
    assert NOTE in str(use.input["intent"])


async def test_a_task_that_failed_is_asked_again_in_the_words_it_had(client: anthropic.AsyncAnthropic) -> None:
    task = TaskState(Task(id="a", worker="w", intent="Count bolts & nuts where size < 3"))
    message = await create(
        client,
        messages=[{"role": "user", "content": refining(task)}],
        output_config={"format": {"type": "json_schema", "schema": INTENT}},
    )
    assert json.loads(text_of(message)) == {"intent": "Count bolts & nuts where size < 3"}


async def test_a_port_that_is_taken_is_an_error_that_names_it(url: str) -> None:
    port = int(url.rpartition(":")[2])
    with pytest.raises(OSError, match="in use"):
        async with offline_server(port=port):
            pass


@pytest.mark.process
def test_a_process_of_its_own_listens_without_loading_the_sdk() -> None:
    code = """
import asyncio, sys
from actors.model_server.serve import serve

def ready(url):
    print(url, 'anthropic' in sys.modules, flush=True)

asyncio.run(serve(host='127.0.0.1', port=0, script=None, log=None, ready=ready))
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        url, heavy = process.stdout.readline().split()
        answered = httpx2.get(url).json()["status"]
        process.terminate()
    assert answered == "ok"
    assert heavy == "False"
