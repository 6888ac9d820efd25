"""The connection to one tool server, by the MCP SDK, which is imported only when a worker lists a server.

The SDK wants a connection to be opened and closed in one task; calls may come from any.
"""

import asyncio
import contextlib
import importlib
import logging
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from actors.tools.server import ToolServer
from actors.toolservers.content import text_of
from actors.toolservers.offer import Offer
from actors.toolservers.pipes import LONGEST_LINE, Life, piped
from protocol.errors import ToolError

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult, Tool

CONNECT_S = 30.0
SILENCE_S = 300.0
MOST_PAGES = 50


class LostError(Exception):
    """The server can no longer be spoken to through this connection."""


class Connection:
    """A server that answers."""

    def __init__(self, server: ToolServer, client: "Client", life: Life) -> None:
        self._server = server
        self._client = client
        self.life = life

    async def offers(self) -> list[Offer]:
        """All tools of the server, as it describes them now."""
        found: list[Offer] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await self._client.list_tools(cursor=cursor, cache_mode="refresh")
            found += [_offer(tool) for tool in page.tools]
            cursor = page.next_cursor
            if not cursor:
                break
        return found

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """What the tool gave, as text. ToolError: the tool says no. LostError: nobody knows what it did."""
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED

        try:
            result = await self._client.call_tool(tool, arguments)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise LostError(str(error)) from error
            raise ToolError(f"{self._server.name} refused the call: {error}") from error
        except (ValueError, RuntimeError) as error:
            raise ToolError(f"{self._server.name} gave an answer that is not valid: {str(error)[:500]}") from error
        text = _text(result)
        if result.is_error:
            raise ToolError(text)
        return text


@contextlib.asynccontextmanager
async def connected(server: ToolServer) -> AsyncGenerator[Connection]:
    """A connection to the server, started if it is a command; whatever is wrong with it is raised, at once or later."""
    # What the SDK logs, traces and all, we say in one line.
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)
    await asyncio.to_thread(importlib.import_module, "mcp")
    from mcp import Client

    life = Life()
    try:
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(CONNECT_S):
                transport = piped(server, life) if server.command else await _over_http(server, stack)
                client = await stack.enter_async_context(Client(transport, cache=None))
            yield Connection(server, client, life)
    except Exception as error:
        # Only now, when all it said has been read, is it known why a process of ours ended.
        if life.ended.is_set() and not life.left:
            raise LostError(life.why) from error
        raise


async def _over_http(server: ToolServer, stack: contextlib.AsyncExitStack) -> Any:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    timeout = httpx2.Timeout(CONNECT_S, read=max(SILENCE_S, server.timeout_s))
    http = await stack.enter_async_context(httpx2.AsyncClient(headers=dict(server.headers), timeout=timeout))
    return streamable_http_client(server.url, http_client=http, max_sse_event_size=LONGEST_LINE)


def _offer(tool: "Tool") -> Offer:
    reads = bool(tool.annotations and tool.annotations.read_only_hint)
    return Offer(name=tool.name, description=tool.description or "", schema=tool.input_schema, reads=reads)


def _text(result: "CallToolResult") -> str:
    blocks = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
    return text_of(blocks, result.structured_content)
