"""The prompt cache of the offline model: which beginning of a request it has read before, as the real API counts it.

Only what stands before a mark (`cache_control`) is kept, if it is long enough, and for five minutes after its last use.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

from actors.clock import Clock
from actors.model_server.offline.request import Asked, Block

LEAST_TOKENS = 1024
KEPT_S = 300.0
MOST_KEPT = 10_000
CHARACTERS_PER_TOKEN = 4


class Counted(msgspec.Struct, frozen=True):
    """How many tokens of a request were found in the cache, and how many were put there."""

    read: int = 0
    written: int = 0


class PromptCache:
    """Remembers the beginnings of requests."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._used: dict[str, float] = {}

    def count(self, asked: Asked) -> Counted:
        """Look the request up, and keep what it marks."""
        now = self._clock.monotonic()
        read = last = 0
        found: list[str] = []
        for key, tokens, marked in _beginnings(asked):
            if now - self._used.get(key, -KEPT_S) < KEPT_S:
                read = tokens
                found.append(key)
            if marked and tokens >= LEAST_TOKENS:
                last = tokens
                found.append(key)
        for key in found:
            # Taken out first, so that the order is that of the last use.
            self._used.pop(key, None)
            self._used[key] = now
        while len(self._used) > MOST_KEPT:
            del self._used[next(iter(self._used))]
        return Counted(read, max(0, last - read))


def _beginnings(asked: Asked) -> Iterator[tuple[str, int, bool]]:
    """Every beginning of the request that ends with a block: a key for it, its tokens, and whether it is marked."""
    hashed = hashlib.sha256(asked.model.encode())
    size = 0
    for place, block in _blocks(asked):
        plain = {name: value for name, value in block.items() if name != "cache_control"}
        data = msgspec.json.encode((place, plain), order="deterministic")
        hashed.update(data)
        size += len(data)
        yield hashed.hexdigest(), size // CHARACTERS_PER_TOKEN, block.get("cache_control") is not None


def _blocks(asked: Asked) -> Iterator[tuple[str, Block]]:
    """All blocks in the order in which the API reads them: tools, system prompt, messages."""
    for tool in asked.tools:
        described: dict[str, Any] = msgspec.to_builtins(tool)
        yield "tool", described
    system = [{"type": "text", "text": asked.system}] if isinstance(asked.system, str) else asked.system
    for block in system:
        yield "system", block
    for at, message in enumerate(asked.messages):
        for block in message.blocks:
            yield f"{at} {message.role}", block
