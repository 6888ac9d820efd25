"""The request as the rules read it: a body of POST /v1/messages that the server has checked."""

import hashlib
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from actors.model_server.offline.schema import planner_worker

Role = Literal["planner", "worker", "synthesizer", "other"]
Block = dict[str, Any]


class OfferedTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as the request describes it."""

    name: str
    description: str = ""
    input_schema: dict[str, Any] = {}
    cache_control: dict[str, Any] | None = None


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One message of the conversation."""

    role: Literal["user", "assistant"]
    content: str | list[Block]

    @property
    def blocks(self) -> list[Block]:
        """The content as blocks, whatever form it came in."""
        return [{"type": "text", "text": self.content}] if isinstance(self.content, str) else self.content

    @property
    def text(self) -> str:
        """All text of the message, that of tool results included."""
        return "\n".join(part for block in self.blocks for part in _texts(block))


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the client asked for in one call."""

    model: str
    messages: list[Said]
    max_tokens: int = 0
    system: str | list[Block] = ""
    tools: list[OfferedTool] = []
    tool_choice: dict[str, Any] | None = None
    stream: bool = False

    @property
    def system_text(self) -> str:
        """The system prompt as one text."""
        return self.system if isinstance(self.system, str) else "\n".join(_all_texts(self.system))

    @property
    def user_texts(self) -> list[str]:
        """What the user said, turn by turn."""
        return [message.text for message in self.messages if message.role == "user"]

    @property
    def forced(self) -> OfferedTool | None:
        """The tool that must be used, if one is forced."""
        choice = self.tool_choice or {}
        if choice.get("type") == "any":
            return self.tools[0] if self.tools else None
        name = choice.get("name") if choice.get("type") == "tool" else None
        return next((tool for tool in self.tools if tool.name == name), None)

    @property
    def usable(self) -> list[OfferedTool]:
        """The tools that may be used."""
        return [] if (self.tool_choice or {}).get("type") == "none" else self.tools

    @property
    def role(self) -> Role:
        """Who is speaking to us; told from the request alone."""
        if self.forced and planner_worker(self.forced.input_schema) is not None:
            return "planner"
        first = self.user_texts[0]
        task, results = first.find("<task>"), first.find("<results>")
        if task >= 0 and (results < 0 or task < results):
            return "worker"
        return "synthesizer" if results >= 0 else "other"

    @property
    def key(self) -> str:
        """The same for the same question: a hash of model, system prompt, messages and tools."""
        tools = [(tool.name, tool.description, tool.input_schema) for tool in self.tools]
        asked = (self.model, self.system, self.messages, tools)
        return hashlib.sha256(msgspec.json.encode(asked, order="deterministic")).hexdigest()


def _texts(block: Block) -> list[str]:
    if block.get("type") == "text":
        return [str(block.get("text", ""))]
    if block.get("type") == "tool_result":
        content = block.get("content", "")
        return [content] if isinstance(content, str) else _all_texts(content or [])
    return []


def _all_texts(blocks: Iterable[Block]) -> list[str]:
    return [text for block in blocks for text in _texts(block)]
