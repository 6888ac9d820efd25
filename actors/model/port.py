"""The port to a model: one call in, one turn out.

Content goes through as the provider's own JSON (a list of blocks), so that thinking, citations and whatever comes next
can be sent back unchanged.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from actors.model.profiles import Profile
from protocol.messages import Usage

Block = dict[str, Any]
"""One block of content, exactly as the Messages API has it."""


def is_server_block(block: Block) -> bool:
    """True for a call of a tool of the provider and for its result."""
    kind = str(block.get("type"))
    return kind == "server_tool_use" or kind.endswith("_tool_result")


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a conversation; `role` is user or assistant."""

    role: str
    content: str | list[Block]


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """The description of a tool that the model reads.

    With `strict` the arguments satisfy the schema; not every schema may be strict.
    """

    name: str
    description: str
    schema: dict[str, Any]
    strict: bool = False


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """The JSON schema that the text of the reply must satisfy."""

    name: str
    schema: dict[str, Any]


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a model is asked in one call. No tool is ever forced: current models refuse that.

    `patience_s` is how long the call may wait in all for a provider that is busy or away; None: as the settings say.
    `server_tools` run at the provider; each is offered exactly as it stands here. `container` names where earlier code
    ran.
    """

    run: str
    role: str
    system: str
    turns: Sequence[Turn]
    tools: Sequence[ToolSpec] = ()
    model: str = ""
    max_tokens: int = 4096
    format: Format | None = None
    effort: str = ""
    tool_choice: Literal["auto", "none"] = "auto"
    patience_s: float | None = None
    server_tools: Sequence[Block] = ()
    container: str = ""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of the model. `stop_details` says more of a refusal: its `category` and an `explanation`.

    `container` names where its code ran at the provider; it exists until `container_expires`, a Unix time.
    """

    model: str
    content: list[Block]
    stop_reason: str | None
    usage: Usage
    container: str = ""
    container_expires: float = 0.0
    stop_details: Block = {}

    @property
    def text(self) -> str:
        """All text of the turn. A blank line separates texts between which a tool of the provider ran."""
        parts: list[str] = []
        tool_ran = False
        for block in self.content:
            if block.get("type") != "text":
                tool_ran = tool_ran or is_server_block(block)
                continue
            if tool_ran and parts and not parts[-1].endswith("\n"):
                parts.append("\n\n")
            parts.append(block["text"])
            tool_ran = False
        return "".join(parts)

    @property
    def tool_uses(self) -> list[Block]:
        """The tool calls the model asks for."""
        return [block for block in self.content if block.get("type") == "tool_use"]


Ready = Callable[[], Awaitable[None]]
"""A check that runs right before each paid attempt, after every wait; it raises to stop the call unpaid."""


class Model(Protocol):
    """Something that answers a Call with a Reply, or raises ModelError."""

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: Ready | None = None) -> Reply:
        """Ask once. Text is handed to `said` while it is written. What `ready` raises ends the call."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


@runtime_checkable
class CountsTokens(Protocol):
    """A model that can say beforehand how many tokens a call brings with it; not every server can."""

    async def count(self, call: Call) -> int:
        """The tokens of everything the model would read, or ModelError."""
        ...


@runtime_checkable
class PricesCalls(Protocol):
    """A model that knows the price of a call before it is made."""

    async def price(self, model: str, usage: Usage) -> float | None:
        """What a call with this usage costs in dollars if it asks for `model`; None if that is not known."""
        ...


@runtime_checkable
class KnowsProfiles(Protocol):
    """A model whose server says what its models take; not every server can."""

    async def profile(self, name: str) -> Profile:
        """The profile of a model: the table's, or else refined by what the server says. Never fails."""
        ...
