"""About how many tokens a file has, without reading it as the model does.

An image counts 4,800 tokens, about the most that the 5.5 models use for one. A page of a PDF counts 3,000: the provider
says 1,500 to 3,000 for its text, and reads it as an image, too. Pages that a PDF hides in compressed parts are guessed:
one in 50,000 bytes.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from actors.model.port import Block

PDF = "application/pdf"
TOKENS_AN_IMAGE = 4_800
TOKENS_A_PAGE = 3_000
BYTES_A_PAGE = 50_000

FILE = "artifact"
"""The type of the block that stands for a file in a stored conversation."""

_PAGE = re.compile(rb"/Type\s*/Page(?![A-Za-z])")


class Size(msgspec.Struct, frozen=True):
    """The size of content: the characters of its text, and the estimated tokens of its files."""

    characters: int = 0
    file_tokens: int = 0

    def __add__(self, other: "Size") -> "Size":
        return Size(self.characters + other.characters, self.file_tokens + other.file_tokens)


def tokens_of_file(data: bytes, media_type: str) -> int:
    """The estimate for one file."""
    if media_type != PDF:
        return TOKENS_AN_IMAGE
    return TOKENS_A_PAGE * (len(_PAGE.findall(data)) or _pages_by_size(len(data)))


def size_of(content: object) -> Size:
    """The size of the content of a turn. The base64 of a file is no text."""
    if isinstance(content, Mapping):
        block = cast("Block", content)
        if block.get("type") == FILE:
            return Size(0, int(block.get("tokens", 0)))
        if block.get("type") == "base64":
            return Size(0, _encoded_tokens(block))
        return sum((size_of(value) for value in block.values()), Size(sum(map(len, block)) + len(block)))
    if isinstance(content, str):
        return Size(len(content))
    if isinstance(content, Sequence):
        return sum((size_of(one) for one in cast("Sequence[Any]", content)), Size())
    return Size(len(str(content)))


def _encoded_tokens(source: Block) -> int:
    """The estimate for a file that stands in a turn, such as a PDF that a tool of the provider fetched."""
    if source.get("media_type") != PDF:
        return TOKENS_AN_IMAGE
    return TOKENS_A_PAGE * _pages_by_size(len(str(source.get("data", ""))) * 3 // 4)


def _pages_by_size(size: int) -> int:
    return max(1, -(-size // BYTES_A_PAGE))
