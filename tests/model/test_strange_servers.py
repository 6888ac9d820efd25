"""Servers that answer 200 with something else than a message: a clear error, or what can be made of it."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from protocol.errors import ModelError
from tests.model.asking import asking, endpoint, question

MESSAGE: dict[str, Any] = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "own",
    "content": [{"type": "text", "text": "hi"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 4},
}


def message(**fields: Any) -> str:
    return json.dumps(MESSAGE | fields)


@asynccontextmanager
async def answering(body: str, kind: str = "application/json") -> AsyncGenerator[str]:
    """A server that says the same to everybody."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        data = body.encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\ncontent-length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<html>Welcome</html>", "text/html"),
        ("hello", "text/plain"),
        ("", "application/json"),
        ("null", "application/json"),
        ("[]", "application/json"),
        ('"hello"', "application/json"),
        (message(content=None), "application/json"),
        (message(content="hi"), "application/json"),
        (message(content=["hi"]), "application/json"),
        (message(content=[None]), "application/json"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
async def test_what_is_no_message_is_an_error_that_says_whom_to_suspect(body: str, kind: str, streamed: bool) -> None:
    async with answering(body, kind) as url, asking(endpoint(url, retries=0)) as model:
        with pytest.raises(ModelError, match="Messages API") as caught:
            await model.call(question("hi"), said=(lambda _: None) if streamed else None)
    assert (caught.value.kind, caught.value.retryable) == ("unreadable", True)
    assert url in str(caught.value)


@pytest.mark.parametrize("usage", [None, [], {"input_tokens": "many"}, {"output_tokens": -5}, {"input_tokens": 1e30}])
async def test_a_usage_that_makes_no_sense_is_none(usage: object) -> None:
    async with answering(message(usage=usage)) as url, asking(url) as model:
        reply = await model.call(question("hi"))
    assert (reply.text, reply.usage.tokens, reply.usage.model_calls) == ("hi", 0, 1)


async def test_who_does_not_say_its_name_is_the_model_that_was_asked() -> None:
    async with answering(message(model=None)) as url, asking(url) as model:
        assert (await model.call(question("hi"))).model == question("hi").model


async def test_texts_of_nothing_are_passed_over_and_calls_without_an_id_get_one() -> None:
    use = {"type": "tool_use", "name": "look", "input": {"at": 1}}
    async with answering(message(content=[{"type": "text", "text": None}, use, use])) as url, asking(url) as model:
        reply = await model.call(question("hi"))
    assert reply.text == ""
    assert [block["id"] for block in reply.tool_uses] == ["call", "call-2"]


async def test_halves_of_characters_become_question_marks() -> None:
    use = {"type": "tool_use", "id": "u", "name": "plan", "input": {"intent": "half \ud83d of it"}}
    async with answering(message(content=[use])) as url, asking(url) as model:
        (block,) = (await model.call(question("hi"))).tool_uses
    assert block["input"] == {"intent": "half ? of it"}
