"""The stream: a message as the server-sent events that the Messages API makes of it."""

from collections.abc import Iterator
from typing import Any, cast

import msgspec

PIECE = 24
"""Characters in one delta."""


def event(kind: str, **fields: Any) -> bytes:
    """One server-sent event; the SDK reads the `event:` line and ignores events without one."""
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), msgspec.json.encode({"type": kind, **fields}))


def error_event(kind: str, text: str) -> bytes:
    """An error in the middle of a stream."""
    return event("error", error={"type": kind, "message": text})


def events(message: dict[str, Any]) -> Iterator[bytes]:
    """All events of a message, in order."""
    usage: dict[str, Any] = message["usage"]
    start: dict[str, Any] = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield event("message_start", message=start)
    yield event("ping")
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": message["stop_sequence"]}
    yield event("message_delta", delta=delta, usage={"output_tokens": usage["output_tokens"]})
    yield event("message_stop")


def _block_events(index: int, block: dict[str, Any]) -> Iterator[bytes]:
    if block["type"] == "tool_use":
        kind, field, whole = "input_json_delta", "partial_json", msgspec.json.encode(block["input"]).decode()
        yield event("content_block_start", index=index, content_block={**block, "input": {}})
    else:
        kind, field, whole = "text_delta", "text", cast("str", block["text"])
        yield event("content_block_start", index=index, content_block={**block, "text": ""})
    for at in range(0, len(whole), PIECE):
        piece = {"type": kind, field: whole[at : at + PIECE]}
        yield event("content_block_delta", index=index, delta=piece)
    yield event("content_block_stop", index=index)
