"""What the tests of the strict server share: requests that every model takes, and short ways to change them."""

import copy
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from typing import Any, cast

import anthropic
from anthropic.types import Message

from actors.model_server.checks.validation import fault
from actors.model_server.profiles import PROFILES, Profile
from actors.model_server.scripted import Rule, Script
from actors.model_server.serve import offline_server

Json = dict[str, Any]

MODELS = {
    "sonnet-5-5": "claude-sonnet-5-5",
    "haiku-5-5": "claude-haiku-5-5",
    "opus-5-5": "claude-opus-5-5",
    "sonnet-4-6": "claude-sonnet-4-6",
}
CHECKED = tuple(MODELS)
NEWEST = ("sonnet-5-5", "haiku-5-5", "opus-5-5")

MARK: Json = {"type": "ephemeral"}
TOOL: Json = {
    "name": "look",
    "description": "Look something up.",
    "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}
USE: Json = {"type": "tool_use", "id": "u1", "name": "look", "input": {"query": "x"}}
RESULT: Json = {"type": "tool_result", "tool_use_id": "u1", "content": "here"}
SCHEMA: Json = {
    "title": "thing",
    "type": "object",
    "properties": {"name": {"type": "string"}, "size": {"type": "integer"}},
    "required": ["name", "size"],
    "additionalProperties": False,
}


def text(words: str = "hi", **more: Any) -> Json:
    return {"type": "text", "text": words, **more}


def said(*turns: tuple[str, Any]) -> list[Json]:
    return [{"role": role, "content": copy.deepcopy(content)} for role, content in turns]


def formatted(schema: Json) -> Json:
    return {"format": {"type": "json_schema", "schema": schema}}


def request(**changes: Any) -> Json:
    """A request that every model takes, with fields changed; None leaves a field out."""
    whole = {"model": "claude-sonnet-5-5", "max_tokens": 1000, "messages": said(("user", "hi")), **changes}
    return {name: value for name, value in whole.items() if value is not None}


def refusal(profile: str | Profile, *, counting: bool = False, betas: Collection[str] = (), **changes: Any) -> str:
    """The sentence with which a model refuses the request; empty if it takes it."""
    row = PROFILES[profile] if isinstance(profile, str) else profile
    return fault(request(**changes), row, counting=counting, betas=betas) or ""


@asynccontextmanager
async def server(*rules: Rule, profile: str | Profile = "") -> AsyncGenerator[anthropic.AsyncAnthropic]:
    """A client of a strict server that answers by these rules, else by the offline rules."""
    async with (
        offline_server(script=Script(rules=list(rules)), profile=profile) as url,
        anthropic.AsyncAnthropic(api_key="any", base_url=url, max_retries=0) as client,
    ):
        yield client


async def create(client: anthropic.AsyncAnthropic, **changes: Any) -> Message:
    # The types of the SDK cannot follow arguments that are made up at run time.
    return await cast("Any", client.messages).create(**request(**changes))


async def streamed(client: anthropic.AsyncAnthropic, **changes: Any) -> tuple[list[Json], Message]:
    """The raw events of a stream, and the message that they add up to."""
    async with cast("Any", client.messages).stream(**request(**changes)) as stream:
        events = [event.to_dict() async for event in stream]
        return events, await stream.get_final_message()


def blocks(message: Message) -> list[Json]:
    """The content as a client sends it back."""
    return [cast("Json", block.to_dict(mode="json", exclude_none=True)) for block in message.content]


def text_of(message: Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")
