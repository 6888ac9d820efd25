"""Replies of scripted models: text, and decisions by the format that a call asks for."""

from collections.abc import Mapping
from typing import Any

import msgspec

from actors.model.port import Reply
from protocol.messages import Usage


def wrote(text: str, stop_reason: str = "end_turn", **more: Any) -> Reply:
    """A reply with this text."""
    return Reply(
        model="m",
        content=[{"type": "text", "text": text}] if text else [],
        stop_reason=stop_reason,
        usage=Usage(model_calls=1),
        **more,
    )


def decided(value: Mapping[str, Any]) -> Reply:
    """A reply with this object as JSON, as a format asks for it."""
    return wrote(msgspec.json.encode(value).decode())
