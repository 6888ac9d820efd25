"""The request: the body of POST /v1/messages, checked the way the real API checks it."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from actors.model_server.offline.schema import planner_worker

Role = Literal["planner", "worker", "synthesizer", "other"]
Block = dict[str, Any]

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_MOST_CACHE_MARKS = 4


class RequestError(Exception):
    """The request is not one that the API would take."""


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


_decoder = msgspec.json.Decoder(Asked)


def read_request(body: bytes, *, counting: bool = False) -> Asked:
    """The request in these bytes, or RequestError with what is wrong with it."""
    try:
        asked = _decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError(str(error) or type(error).__name__) from error
    if fault := next(_faults(asked, counting), None):
        raise RequestError(fault)
    return asked


def _faults(asked: Asked, counting: bool) -> Iterator[str]:
    if not asked.model:
        yield "model: String should have at least 1 character"
    if asked.max_tokens < 1 and not counting:
        yield "max_tokens: Input should be greater than or equal to 1"
    if not asked.messages:
        yield "messages: at least one message is required"
    elif asked.messages[0].role != "user":
        yield "messages: first message must use the user role"
    yield from _content_faults(asked)
    yield from _tool_faults(asked)
    yield from _pairing_faults(asked.messages)


def _content_faults(asked: Asked) -> Iterable[str]:
    for at, message in enumerate(asked.messages):
        if not message.content:
            yield f"messages.{at}: content must not be empty"
        for block in message.blocks:
            if not isinstance(block.get("type"), str):
                yield f"messages.{at}.content: every block needs a type"
            if block.get("type") == "text" and not block.get("text"):
                yield f"messages.{at}: text content blocks must be non-empty"
    every = [block for message in asked.messages for block in message.blocks]
    system = [] if isinstance(asked.system, str) else asked.system
    if any(block.get("type") == "text" and not block.get("text") for block in system):
        yield "system: text content blocks must be non-empty"
    marks = sum("cache_control" in block for block in [*every, *system])
    if marks + sum(tool.cache_control is not None for tool in asked.tools) > _MOST_CACHE_MARKS:
        yield "A maximum of 4 blocks with cache_control may be provided"


def _tool_faults(asked: Asked) -> Iterable[str]:
    names = [tool.name for tool in asked.tools]
    for at, tool in enumerate(asked.tools):
        if not _TOOL_NAME.fullmatch(tool.name):
            yield f"tools.{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        if tool.input_schema and tool.input_schema.get("type") != "object":
            yield f"tools.{at}.input_schema.type: Input should be 'object'"
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
    choice = asked.tool_choice or {}
    if choice.get("type") == "tool" and choice.get("name") not in names:
        yield f"tool_choice: Tool {choice.get('name')!r} not found in provided tools"


def _pairing_faults(messages: list[Said]) -> Iterable[str]:
    open_ids: set[str] = set()
    for at, message in enumerate(messages):
        given = {str(block.get("tool_use_id")) for block in message.blocks if block.get("type") == "tool_result"}
        if missing := sorted(open_ids - given):
            yield (
                f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}"
            )
        if unknown := sorted(given - open_ids):
            yield f"messages.{at}: unexpected `tool_use_id` found in `tool_result` blocks: {', '.join(unknown)}"
        uses = [block for block in message.blocks if block.get("type") == "tool_use"]
        open_ids = {str(block.get("id")) for block in uses} if message.role == "assistant" else set()
    if open_ids:
        yield f"messages: `tool_use` ids without `tool_result` blocks: {', '.join(sorted(open_ids))}"


def _texts(block: Block) -> list[str]:
    if block.get("type") == "text":
        return [str(block.get("text", ""))]
    if block.get("type") == "tool_result":
        content = block.get("content", "")
        return [content] if isinstance(content, str) else _all_texts(content or [])
    return []


def _all_texts(blocks: Iterable[Block]) -> list[str]:
    return [text for block in blocks for text in _texts(block)]
