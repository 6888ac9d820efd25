"""Endings: how a reply ended, read from its stop reason and its blocks. Unknown blocks do not count."""

from typing import Literal

from actors.model.port import Block, Reply

Ending = Literal["whole", "cut", "empty", "paused", "refused", "window", "other"]
"""`cut`: stopped by `max_tokens` with some output; `empty`: nothing but thinking, whatever the stop reason."""

_THINKING = ("thinking", "redacted_thinking")


def ending_of(reply: Reply) -> Ending:
    """The ending of a reply."""
    match reply.stop_reason:
        case "refusal":
            return "refused"
        case "pause_turn":
            return "paused"
        case "model_context_window_exceeded":
            return "window"
        case reason if not reply.text.strip() and not reply.tool_uses:
            del reason
            return "empty"
        case "max_tokens":
            return "cut"
        case "end_turn" | "stop_sequence" | "tool_use":
            return "whole"
        case _:
            return "other"


def sendable(reply: Reply) -> list[Block]:
    """The content of a reply that can be sent back as an assistant turn; empty if it must not be.

    The provider refuses an assistant turn that ends in thinking. Thinking may only be left out as a whole.
    """
    content = reply.content
    if content and content[-1].get("type") in _THINKING:
        content = [block for block in content if block.get("type") not in _THINKING]
    return content


def refusal_of(reply: Reply) -> str:
    """Why the model refused, in a sentence, with the category that the provider gave."""
    category = reply.stop_details.get("category")
    explanation = reply.stop_details.get("explanation")
    sentence = "the model refused"
    sentence += f" (category {category})" if isinstance(category, str) and category else ""
    return f"{sentence}: {explanation}" if isinstance(explanation, str) and explanation else sentence
