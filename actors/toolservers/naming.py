"""Naming: `<server>_<tool>`, made valid, and unlike every other name of the worker."""

import hashlib
import re
from collections.abc import Collection

LONGEST = 64
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")
_MARK = 6


def public_name(server: str, tool: str, taken: Collection[str]) -> str:
    """What a model calls the tool of a server.

    A name that had to be changed or is taken ends in a mark made of the original, so that two never become one and
    the same tool has the same name in every process.
    """
    plain = f"{server}_{tool}"
    clean = _NOT_ALLOWED.sub("_", plain)
    if clean == plain and len(clean) <= LONGEST and clean not in taken:
        return clean
    mark = hashlib.sha256(f"{server}/{tool}".encode()).hexdigest()[:_MARK]
    return f"{clean[: LONGEST - _MARK - 1]}_{mark}"
