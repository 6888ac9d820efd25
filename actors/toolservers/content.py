"""Content: what a tool server gave back, as text for a model. What is not text is named, not dumped."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec

Block = Mapping[str, Any]

NOTHING = "(no output)"


def text_of(blocks: Iterable[Block], structured: object = None) -> str:
    """All text of the blocks, in order; what was given only as an object is told as JSON."""
    parts = [part for block in blocks if (part := _told(block))]
    if not parts and structured is not None:
        return msgspec.json.encode(structured).decode()
    return "\n".join(parts) or NOTHING


def _told(block: Block) -> str:
    match block.get("type"):
        case "text":
            return str(block.get("text") or "")
        case "image" | "audio" as kind:
            return f"[{kind}, {_media(block)}, {_size(block.get('data'))}: not shown]"
        case "resource_link":
            return f"[resource {_named(block)}: not read]"
        case "resource":
            return _resource(cast("Block", block.get("resource") or {}))
        case kind:
            return f"[{kind}: not shown]"


def _resource(resource: Block) -> str:
    if isinstance(text := resource.get("text"), str):
        return f"[resource {_named(resource)}]\n{text}"
    return f"[resource {_named(resource)}, {_media(resource)}, {_size(resource.get('blob'))}: not shown]"


def _named(block: Block) -> str:
    name, uri = str(block.get("name") or ""), str(block.get("uri") or "")
    return f"{name} {uri}".strip()[:500] or "without a name"


def _media(block: Block) -> str:
    return str(block.get("mimeType") or "of an unknown kind")[:100]


def _size(data: object) -> str:
    """How much it is in bytes, from its base64 text."""
    return f"about {len(data) * 3 // 4:,} bytes" if isinstance(data, str) else "empty"
