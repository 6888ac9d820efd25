"""Signatures of thinking blocks: each binds its block to everything that stood before it.

The prefix is the tools, the system prompt and all earlier blocks, without cache marks and without thinking. A chain
binds the thinking before a block, because a client may drop thinking from the front. The server keeps no list of its
signatures: each holds what it binds, under a keyed hash, so a restarted server still recognises its blocks.
"""

import base64
import hashlib
import hmac
from collections.abc import Iterator

import msgspec

from actors.model_server.conversation import (
    THINKING,
    Block,
    Body,
    Turn,
    dict_of,
    list_of,
    plain,
    system_blocks,
    turns_of,
)

_KEY = b"a key of the stand-in; it protects nothing"
_DIGEST = 12
_MOST_BLOCKS = 8
_ID_HEX = 8


class Seal(msgspec.Struct, frozen=True, kw_only=True):
    """What the signature of one thinking block says."""

    profile: str
    prefix: str
    before: str
    text: str


class Met(msgspec.Struct, frozen=True, kw_only=True):
    """A thinking block of a request, with the prefix that it stands behind now."""

    place: str
    turn: int
    block: Block
    prefix: str


def sign(seal: Seal) -> str:
    """The signature for a seal."""
    told = msgspec.json.encode(seal)
    return base64.b64encode(told + _mac(told)).decode()


def read_signature(signature: str) -> Seal | None:
    """The seal in a signature; None if this server never wrote it."""
    try:
        whole = base64.b64decode(signature, validate=True)
        told, mac = whole[:-_DIGEST], whole[-_DIGEST:]
        return msgspec.json.decode(told, type=Seal) if hmac.compare_digest(_mac(told), mac) else None
    except ValueError:
        return None


def digest(text: str) -> str:
    """A short hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[: 2 * _DIGEST]


class Prefix:
    """The prefix of a conversation, hashed block by block."""

    def __init__(self, body: Body) -> None:
        self._hash = hashlib.sha256()
        for tool in map(dict_of, list_of(body.get("tools"))):
            # A deferred tool may be added later: the model has not seen it yet.
            if not tool.get("defer_loading"):
                self._add("tool", tool)
        for block in system_blocks(body):
            self._add("system", block)

    def add(self, role: str, at: int, block: Block) -> None:
        """Add one block of a message; thinking does not count."""
        if block.get("type") not in THINKING:
            self._add(f"{at} {role}", block)

    @property
    def digest(self) -> str:
        """The hash of everything so far."""
        return self._hash.copy().hexdigest()[: 2 * _DIGEST]

    def _add(self, place: str, block: Block) -> None:
        self._hash.update(msgspec.json.encode((place, plain(block)), order="deterministic"))


def thinking_in(body: Body) -> Iterator[Met]:
    """Every thinking block of a request, in order."""
    prefix = Prefix(body)
    for at, turn in enumerate(turns_of(body)):
        for place, block in zip(turn.places, turn.blocks, strict=True):
            if block.get("type") == "thinking":
                yield Met(place=place, turn=at, block=block, prefix=prefix.digest)
            prefix.add(turn.role, at, block)


def prefix_before(body: Body, turn: int) -> str:
    """The hash of everything before a turn."""
    prefix = Prefix(body)
    for at, one in enumerate(turns_of(body)[:turn]):
        for block in one.blocks:
            prefix.add(one.role, at, block)
    return prefix.digest


def tool_use_id(seed: str, prefix: str, blocks: int) -> str:
    """An id of a tool call that tells, to this server, how many thinking blocks stood before it and behind what."""
    name = hashlib.sha256(seed.encode()).hexdigest()[: 2 * _ID_HEX]
    return f"toolu_{name}{_id_mark(name, prefix, blocks)}"


def thinking_before(use: Block, prefix: str) -> int | None:
    """How many thinking blocks stood before a call; None if the call is not ours or was made behind another prefix."""
    told = str(use.get("id")).removeprefix("toolu_")
    name, mark = told[: 2 * _ID_HEX], told[2 * _ID_HEX :]
    return next((count for count in range(_MOST_BLOCKS + 1) if mark and mark == _id_mark(name, prefix, count)), None)


def latest_assistant(turns: list[Turn]) -> int | None:
    """The place of the last assistant turn."""
    return next((at for at in reversed(range(len(turns))) if turns[at].role == "assistant"), None)


def _id_mark(name: str, prefix: str, blocks: int) -> str:
    return _mac(f"{name} {prefix} {blocks}".encode()).hex()[: 2 * _ID_HEX]


def _mac(told: bytes) -> bytes:
    return hmac.digest(_KEY, told, "sha256")[:_DIGEST]
