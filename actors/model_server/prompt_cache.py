"""The prompt cache of the stand-in: which beginning of a request it has read before, counted as the provider counts.

Only what stands before a mark (`cache_control`) is kept, if it is long enough, for five minutes or an hour after its
last use. The order is tools, system prompt, messages: a change in one of them loses everything behind it.
"""

import hashlib
from collections.abc import Iterable, Iterator

import msgspec

from actors.clock import Clock
from actors.model_server.checks.schemas import format_of
from actors.model_server.checks.thinking import effort_of
from actors.model_server.conversation import Block, Body, dict_of, list_of, plain, system_blocks, turns_of
from actors.model_server.profiles import Profile

KEPT_S = 300.0
KEPT_LONG_S = 3600.0
MOST_KEPT = 10_000
LOOKBACK_BLOCKS = 20


class Counted(msgspec.Struct, frozen=True):
    """How many tokens of a request were found in the cache, how many were put there, and how many of these for 1 h."""

    read: int = 0
    written: int = 0
    written_1h: int = 0


class Beginning(msgspec.Struct, frozen=True):
    """A beginning of a request: its key, its tokens, and how long to keep it if it ends with a mark, else 0."""

    key: str
    tokens: int
    kept_s: float


class PromptCache:
    """Remembers the beginnings of requests."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def count(self, body: Body, profile: Profile) -> Counted:
        """Look a request up by the rules of its model, and keep what it marks."""
        if not profile.cache_least_tokens or not profile.checks_requests:
            return Counted()
        start = msgspec.json.encode([body.get("model"), format_of(body)], order="deterministic").decode()
        found = list(_beginnings(start, _blocks(body, profile), profile.characters_per_token))
        return self._count(found, profile.cache_least_tokens)

    def _count(self, beginnings: list[Beginning], least: int) -> Counted:
        now = self._clock.monotonic()
        marked = [at for at, one in enumerate(beginnings) if one.kept_s and one.tokens >= least]
        read = last = last_long = 0
        keep: dict[str, float] = {}
        for at, one in enumerate(beginnings):
            if now < self._until.get(one.key, now) and any(at <= mark < at + LOOKBACK_BLOCKS for mark in marked):
                read = one.tokens
                keep[one.key] = max(one.kept_s, KEPT_S)
            if at in marked:
                last = one.tokens
                last_long = one.tokens if one.kept_s == KEPT_LONG_S else last_long
                keep[one.key] = one.kept_s
        for key, kept_s in keep.items():
            # Taken out first, so that the order is that of the last use.
            self._until[key] = max(self._until.pop(key, 0.0), now + kept_s)
        while len(self._until) > MOST_KEPT:
            del self._until[next(iter(self._until))]
        return Counted(read, max(0, last - read), max(0, last_long - read))


def _kept_s(mark: object) -> float:
    if mark is None:
        return 0.0
    return KEPT_LONG_S if dict_of(mark).get("ttl") == "1h" else KEPT_S


def _beginnings(start: str, pieces: Iterable[tuple[str, Block, float]], per_token: float) -> Iterator[Beginning]:
    """Every beginning of the request that ends with a block."""
    hashed = hashlib.sha256(start.encode())
    size = 0
    for place, block, kept_s in pieces:
        data = msgspec.json.encode((place, plain(block)), order="deterministic")
        hashed.update(data)
        size += len(data)
        yield Beginning(hashed.hexdigest(), int(size / per_token), kept_s)


def _blocks(body: Body, profile: Profile) -> Iterator[tuple[str, Block, float]]:
    """All blocks with their marks. The messages are lost if the choice of tools, the effort or the thinking changes."""
    for tool in map(dict_of, list_of(body.get("tools"))):
        yield "tool", tool, _kept_s(tool.get("cache_control"))
    for block in system_blocks(body):
        yield "system", block, _kept_s(block.get("cache_control"))
    settings = [body.get("tool_choice"), effort_of(body, profile), body.get("thinking")]
    said = [(f"{at} {turn.role}", block) for at, turn in enumerate(turns_of(body)) for block in turn.blocks]
    told = msgspec.json.encode(settings, order="deterministic").decode()
    for at, (place, block) in enumerate(said):
        inner = [dict_of(one) for one in list_of(block.get("content"))]
        marks = [one.get("cache_control") for one in [block, *inner]]
        whole = body.get("cache_control") if at == len(said) - 1 else None
        yield f"{told if not at else ''}{place}", block, max(map(_kept_s, [*marks, whole]))
