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
    delta = {name: message.get(name) for name in ("stop_reason", "stop_sequence", "stop_details")}
    yield event("message_delta", delta=delta, usage=_cumulative(usage))
    yield event("message_stop")


def _block_events(index: int, block: dict[str, Any]) -> Iterator[bytes]:
    if block["type"] == "thinking":
        yield from _thinking_events(index, block)
        return
    if block["type"].endswith("_tool_result"):
        yield event("content_block_start", index=index, content_block=block)
        yield event("content_block_stop", index=index)
        return
    if block["type"] in ("tool_use", "server_tool_use"):
        kind, field, whole = "input_json_delta", "partial_json", msgspec.json.encode(block["input"]).decode()
        yield event("content_block_start", index=index, content_block={**block, "input": {}})
    else:
        kind, field, whole = "text_delta", "text", cast("str", block["text"])
        yield event("content_block_start", index=index, content_block={**block, "text": ""})
    for at in range(0, len(whole), PIECE):
        piece = {"type": kind, field: whole[at : at + PIECE]}
        yield event("content_block_delta", index=index, delta=piece)
    yield event("content_block_stop", index=index)


def _thinking_events(index: int, block: dict[str, Any]) -> Iterator[bytes]:
    """Thinking that is not shown has no delta but that of its signature."""
    yield event("content_block_start", index=index, content_block={**block, "thinking": "", "signature": ""})
    whole = cast("str", block["thinking"])
    for at in range(0, len(whole), PIECE):
        yield event(
            "content_block_delta", index=index, delta={"type": "thinking_delta", "thinking": whole[at : at + PIECE]}
        )
    yield event("content_block_delta", index=index, delta={"type": "signature_delta", "signature": block["signature"]})
    yield event("content_block_stop", index=index)


def _cumulative(usage: dict[str, Any]) -> dict[str, Any]:
    """The counts that the last event repeats."""
    names = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return {name: usage[name] for name in (*names, "output_tokens_details") if name in usage}
