import asyncio

import pytest

from actors.verdict import Drop, Postpone, Refuse, Retry, Verdict, verdict_on
from protocol.errors import (
    BusError,
    ConflictError,
    DeniedError,
    FencedError,
    InvalidError,
    ModelError,
    TooLargeError,
    UndecodableError,
    UnknownTypeError,
    UnreachableError,
)


@pytest.mark.parametrize(
    ("error", "count", "verdict"),
    [
        (FencedError("taken"), 1, Drop()),
        (UndecodableError("not a Request"), 1, Refuse("not a Request")),
        (UnknownTypeError("Step", "begun"), 1, Postpone(str(UnknownTypeError("Step", "begun")))),
        (InvalidError(["a", "b"]), 1, Refuse("a; b")),
        (TooLargeError("s", 10, 5), 1, Refuse("TooLargeError: 10 bytes for s; the limit is 5")),
        (UnreachableError("away"), 1, Retry(0.5)),
        (DeniedError("no rights"), 1, Postpone("no rights")),
        (BusError("full"), 2, Retry(1.0)),
        (ConflictError("s", 1), 3, Retry(2.0)),
        (ModelError("overloaded", "busy", retryable=True), 1, Retry(0.5)),
        (ModelError("refusal", "no", retryable=False), 1, Refuse("ModelError: no")),
        (ValueError("a bug"), 1, Retry(0.5)),
        (ValueError("a bug"), 100, Retry(30.0)),
        (asyncio.CancelledError(), 5, Retry(0.0)),
    ],
)
def test_an_error_means_this_for_its_delivery(error: BaseException, count: int, verdict: Verdict) -> None:
    assert verdict_on(error, count) == verdict
