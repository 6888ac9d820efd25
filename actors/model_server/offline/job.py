"""The job: what a worker was asked, with what tools, and what its tools have said so far."""

from typing import Any

import msgspec

from actors.model_server.offline.request import Asked, Block, OfferedTool
from actors.model_server.offline.sections import Part, parts, section
from actors.model_server.offline.shape import Offer, offer


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """One use of a tool in an earlier turn, and what came of it."""

    tool: str
    input: dict[str, Any]
    output: str
    failed: bool


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a worker knows when it is its turn."""

    intent: str
    success: str
    context: list[Part]
    offers: list[Offer]
    uses: list[Use]
    turns: int

    def of_shape(self, shape: str) -> list[Offer]:
        """The tools of one shape."""
        return [one for one in self.offers if one.shape == shape]

    def uses_of(self, shape: str) -> list[Use]:
        """What was done with the tools of one shape."""
        names = {one.tool.name for one in self.of_shape(shape)}
        return [use for use in self.uses if use.tool in names]

    def done(self, shape: str) -> list[Use]:
        """The same, without what failed."""
        return [use for use in self.uses_of(shape) if not use.failed]


def read_job(asked: Asked) -> Job:
    """The job of a worker, read from its conversation."""
    first = asked.user_texts[0]
    context = section(first, "context") or ""
    return Job(
        intent=section(first, "task") or first,
        success=section(first, "success") or "",
        context=parts(context),
        offers=[offer(tool) for tool in _tools(asked)],
        uses=_uses(asked),
        turns=sum(message.role == "assistant" for message in asked.messages),
    )


def _tools(asked: Asked) -> list[OfferedTool]:
    # A tool for exceptions is for those who can tell one: rules cannot.
    return [tool for tool in asked.usable if tool.input_schema and not tool.description.startswith("Only if")]


def _uses(asked: Asked) -> list[Use]:
    blocks: list[Block] = [block for message in asked.messages for block in message.blocks]
    results = {str(block.get("tool_use_id")): block for block in blocks if block.get("type") == "tool_result"}
    found: list[Use] = []
    for block in blocks:
        if block.get("type") == "tool_use":
            result = results.get(str(block.get("id")), {})
            found.append(
                Use(
                    tool=str(block.get("name")),
                    input=dict(block.get("input") or {}),
                    output=_text(result.get("content", "")),
                    failed=bool(result.get("is_error")),
                )
            )
    return found


def _text(content: str | list[Block] | None) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in content or [])
