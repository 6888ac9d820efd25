"""The check of key and address before a team starts, against servers that refuse as the provider does."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from actors.launcher.model_check import check_model
from actors.settings import Settings
from protocol.errors import ModelError


@asynccontextmanager
async def answering(status: int, kind: str, message: str) -> AsyncGenerator[str]:
    """A server that gives one answer to everything."""
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()
    head = f"HTTP/1.1 {status} No\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(
    ("status", "kind", "told"),
    [
        (401, "authentication_error", "authentication_error"),
        (402, "billing_error", "billing_error"),
        (403, "permission_error", "permission_error"),
    ],
)
async def test_a_refused_key_keeps_the_team_from_starting(status: int, kind: str, told: str) -> None:
    async with answering(status, kind, "because of this") as url:
        with pytest.raises(ModelError, match="because of this") as caught:
            await check_model(Settings(anthropic_api_key="wrong", anthropic_base_url=url))
    assert caught.value.kind == told
    assert not caught.value.retryable
    assert "handoff doctor" in str(caught.value)


async def test_a_closed_port_keeps_the_team_from_starting() -> None:
    async with answering(200, "", "") as url:
        pass
    with pytest.raises(ModelError, match=url) as caught:
        await check_model(Settings(anthropic_api_key="dummy", anthropic_base_url=url))
    assert caught.value.kind == "unreachable"


@pytest.mark.parametrize(("status", "kind"), [(404, "not_found_error"), (500, "api_error"), (529, "overloaded_error")])
async def test_a_server_that_cannot_count_or_is_busy_does_not_keep_the_team_from_starting(
    status: int, kind: str
) -> None:
    async with answering(status, kind, "no") as url:
        await check_model(Settings(anthropic_api_key="dummy", anthropic_base_url=url))


async def test_without_a_key_nothing_is_asked() -> None:
    await check_model(Settings())
