"""Ids: which strings may stand in a subject, and how an id is made where none was given."""

import hashlib
import re
import secrets
from typing import NewType

RunId = NewType("RunId", str)
"""32 lower-case hex digits, not all zero: the id of the run and of its OpenTelemetry trace."""

Token = NewType("Token", str)
"""One part of a subject: the id of a task, a worker, a team or an instance."""

ID_RULE = "1 to 32 characters of A-Z a-z 0-9 _ -"
RUN_RULE = "32 lower-case hex digits, not all zero"

_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,32}")
_RUN = re.compile(r"[0-9a-f]{32}")


def is_token(text: str) -> bool:
    """Whether the text can stand in a subject as one part of it."""
    return _TOKEN.fullmatch(text) is not None


def is_run_id(text: str) -> bool:
    """Whether the text can be the id of a run."""
    return _RUN.fullmatch(text) is not None and text != "0" * 32


def token_fault(what: str, text: str) -> str | None:
    """What is wrong with an id, for a person; None if nothing is."""
    return None if is_token(text) else f"{what} {text[:64]!r} is not a valid id: use {ID_RULE}"


def new_run_id() -> RunId:
    """A fresh id for a run: random in every bit, because samplers choose traces by them."""
    return RunId(secrets.token_hex(16))


def derived_run_id(stream: str, sequence: int, stored_ns: int) -> RunId:
    """The id of a request that brought none: the same for every redelivery, another after the stream was made anew."""
    return RunId(hashlib.sha256(f"{stream}/{sequence}/{stored_ns}".encode()).hexdigest()[:32])


def span_id(*parts: str | int) -> str:
    """A span id that everybody derives alike from what the span stands for, as 16 hex digits."""
    return hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()[:16]
