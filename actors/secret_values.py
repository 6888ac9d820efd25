"""The parts of addresses in the settings that no log may show."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

TOKEN_LENGTH = 16
"""A part of a webhook address from this length on is taken for a token."""


def bus_secrets(nats_url: str) -> Iterator[str]:
    """The password or token in each address of the bus."""
    for url in nats_url.split(","):
        user, _, password = url.partition("://")[2].rpartition("@")[0].partition(":")
        yield password or user


def webhook_secrets(url: str) -> list[str]:
    """The whole address, because it grants access by itself, and its long parts, which errors may show alone."""
    parts = urlsplit(url)
    if not parts.path.strip("/") and not parts.query:
        return []
    pieces = re.split(r"[/?&=]", f"{parts.path}?{parts.query}")
    return [url, *(piece for piece in pieces if len(piece) >= TOKEN_LENGTH)]
