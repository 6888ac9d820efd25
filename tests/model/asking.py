"""What the tests of the model share: a clock that does not wait, short ways to ask, and a reader of the request log."""

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waiting import LIMIT_S

from actors.model.anthropic_api import AnthropicModel, Endpoint
from actors.model.port import Block, Call, Reply, ToolSpec, Turn

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

RUN = "4bf92f3577b34da6a3ce929d0e0e4736"


class QuickClock:
    """A clock whose sleeps are over at once; `waits` says how long they were meant to be."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def now(self) -> float:
        return 1_700_000_000.0 + sum(self.waits)

    def monotonic(self) -> float:
        return sum(self.waits)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        await asyncio.sleep(0)


def endpoint(url: str, *, retries: int = 4, timeout_s: float = 10.0, patience_s: float = 60.0) -> Endpoint:
    return Endpoint(base_url=url, model="claude-haiku-5-5", timeout_s=timeout_s, retries=retries, patience_s=patience_s)


@asynccontextmanager
async def asking(
    where: Endpoint | str, *, clock: QuickClock | None = None, luck: Callable[[], float] = lambda: 1.0
) -> "AsyncGenerator[AnthropicModel]":
    place = endpoint(where) if isinstance(where, str) else where
    model = AnthropicModel(place, clock=clock or QuickClock(), luck=luck)
    try:
        yield model
    finally:
        await model.close()


def question(text: str, *, tools: Sequence[ToolSpec] = (), max_tokens: int = 4096) -> Call:
    turns = [Turn(role="user", content=text)]
    return Call(run=RUN, role="test", system="", turns=turns, tools=tools, max_tokens=max_tokens)


def spec(name: str, description: str = "", **properties: Any) -> ToolSpec:
    """A tool; a property that is a bare word is a required parameter of that type."""
    known = {one: {"type": kind} if isinstance(kind, str) else kind for one, kind in properties.items()}
    schema = {"type": "object", "properties": known, "required": list(known)}
    return ToolSpec(name=name, description=description, schema=schema)


ToolFunction = Callable[[dict[str, Any]], str]
"""What a tool does in a test; an exception is told to the model as an error."""


async def converse(
    model: AnthropicModel, text: str, tools: dict[ToolSpec, ToolFunction] | Sequence[tuple[ToolSpec, ToolFunction]]
) -> tuple[Reply, list[Block]]:
    """Let the model use the tools until it is done; its last reply, and every use it made of a tool."""
    offered = list(tools.items()) if isinstance(tools, dict) else list(tools)
    functions = {one.name: function for one, function in offered}
    turns = [Turn(role="user", content=text)]
    used: list[Block] = []
    for _ in range(10):
        specs = [one for one, _ in offered]
        reply = await model.call(Call(run=RUN, role="test", system="", turns=turns, tools=specs))
        if not reply.tool_uses:
            return reply, used
        used += reply.tool_uses
        results = [_result(use, functions) for use in reply.tool_uses]
        turns = [*turns, Turn(role="assistant", content=reply.content), Turn(role="user", content=results)]
    raise AssertionError(f"no end after 10 turns: {used}")


def _result(use: Block, functions: dict[str, ToolFunction]) -> Block:
    try:
        output, failed = functions[use["name"]](use["input"]), False
    except ValueError as error:
        output, failed = str(error), True
    return {"type": "tool_result", "tool_use_id": use["id"], "content": output, "is_error": failed}


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


async def noted(log: Path, event: str) -> dict[str, Any]:
    """The first line of the log for that event, as soon as it is there."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            if found := [line for line in lines(log) if line["event"] == event]:
                return found[0]
            await asyncio.sleep(0.01)
