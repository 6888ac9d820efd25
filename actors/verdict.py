"""Verdicts: what becomes of a delivery, as data."""

import msgspec

from protocol.errors import DeniedError, FencedError, HandoffError, InvalidError, UndecodableError, UnknownTypeError

RETRY_S = 0.5
RETRY_CEILING_S = 30.0


class Ack(msgspec.Struct, frozen=True):
    """Finished. With `sure`, the server must have noted it before the slot is free."""

    sure: bool = False


class Retry(msgspec.Struct, frozen=True):
    """Give it back, to be delivered again after that time."""

    after_s: float


class Postpone(msgspec.Struct, frozen=True):
    """This process cannot handle it: give it back with a delay that doubles each time, and show why to the operator."""

    reason: str


class Refuse(msgspec.Struct, frozen=True):
    """It will never work: keep it among the dead letters, with the reason."""

    reason: str


class Drop(msgspec.Struct, frozen=True):
    """It belongs to somebody else now: settle nothing."""


Verdict = Ack | Retry | Postpone | Refuse | Drop


def verdict_on(error: BaseException, count: int) -> Verdict:
    """What an error in the handling of a delivery means for that delivery, at its count-th time."""
    match error:
        case FencedError():
            return Drop()
        case UnknownTypeError() | DeniedError():
            return Postpone(str(error))
        case UndecodableError() | InvalidError():
            return Refuse(str(error))
        case HandoffError() if not error.retryable:
            return Refuse(f"{type(error).__name__}: {error}")
        case Exception():
            return Retry(min(RETRY_CEILING_S, RETRY_S * 2 ** min(count - 1, 10)))
        case _:
            return Retry(0.0)  # we are being stopped: somebody else may have it at once
