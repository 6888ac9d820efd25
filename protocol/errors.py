"""The one tree of errors.

    HandoffError
    ├── UndecodableError        these bytes are not the message they should be
    │   └── UnknownTypeError    a message of a type that this version does not know: a newer version wrote it
    ├── InvalidError            it can be read, but it must not be acted on; lists every fault at once
    │   └── UnknownRunError     there is no run with this id on this bus
    ├── BusError
    │   ├── UnreachableError    no server answers
    │   │   └── UnservedError   the server answers, but no supervisor of the team is alive
    │   ├── ConflictError       compare-and-set refused: the subject moved on, or was written already
    │   ├── TooLargeError       over the size limit of a message
    │   ├── FullError           the stream or the server has no room for the message
    │   └── DeniedError         the credentials do not allow it
    ├── ArtifactError           a file of a task is missing, was replaced, or is too big for the model
    ├── FencedError             somebody else has taken over this run or this task: stop, settle nothing
    ├── ModelError              the provider refused, failed, or answered nonsense
    ├── ToolError               a tool could not do what it was asked; the model is told
    └── DeclinedError           a worker says "not my kind of work" or "the premise is false"

An error says whether trying again can help (`retryable`); what to do about a message is decided elsewhere.
"""

from collections.abc import Sequence


class HandoffError(Exception):
    """Something went wrong in a way that we can name."""

    retryable: bool = False


class UndecodableError(HandoffError):
    """These bytes are not the message they should be."""


class UnknownTypeError(UndecodableError):
    """A well-formed message whose `type` this version does not know: a newer version wrote it."""

    def __init__(self, what: str, type_name: str) -> None:
        super().__init__(f"{what} of the unknown type {type_name!r}: a newer version wrote it")
        self.type_name = type_name


class InvalidError(HandoffError):
    """It can be read, but it must not be acted on; `faults` lists every reason."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


class UnknownRunError(InvalidError):
    """There is no run with this id on this bus, so no answer will come."""

    def __init__(self, run: str, why: str = "") -> None:
        super().__init__([f"there is no run {run} on this bus{why}: see `handoff runs` and `handoff dead`"])
        self.run = run


class BusError(HandoffError):
    """The bus did not do what was asked; it may do so later."""

    retryable = True


class UnreachableError(BusError):
    """No server answers at the address."""


class UnservedError(UnreachableError):
    """No supervisor of the team is alive; the request was not stored."""

    def __init__(self, team: str, where: str, served: Sequence[str] = ()) -> None:
        others = f" (teams that have one: {', '.join(served)})" if served else ""
        super().__init__(
            f"no supervisor of team {team!r} is running on {where}{others}, so the request was not sent: "
            f"start one with `handoff up --team {team}` or `handoff supervisor --team {team}`"
        )
        self.team = team


class ConflictError(BusError):
    """Compare-and-set refused: the subject is not at the expected sequence."""

    def __init__(self, subject: str, expected: int) -> None:
        super().__init__(f"{subject} is not at sequence {expected}")
        self.subject = subject
        self.expected = expected


class TooLargeError(BusError):
    """The message is over the size limit."""

    retryable = False

    def __init__(self, subject: str, size: int, limit: int) -> None:
        super().__init__(f"{size:,} bytes for {subject}; the limit is {limit:,}")
        self.subject = subject
        self.size = size
        self.limit = limit


class FullError(BusError):
    """The stream, or the server, has no room for the message: nothing was stored."""

    def __init__(self, subject: str, stream: str) -> None:
        super().__init__(
            f"The store is full: {stream} has no room for {subject}, so nothing was stored. `handoff doctor` shows "
            "how full each store is and what to do."
        )
        self.subject = subject
        self.stream = stream


class DeniedError(BusError):
    """The credentials in use do not allow this."""


class ArtifactError(HandoffError):
    """A file of a task cannot be given to the model; `kind` is that of the fault in the Result."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class FencedError(HandoffError):
    """Somebody else has taken over: stop, and settle nothing."""


class ModelError(HandoffError):
    """The provider refused, failed, or answered nonsense; `kind` is its own word for it."""

    def __init__(self, kind: str, message: str, *, retryable: bool, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable
        self.retry_after_s = retry_after_s


class ToolError(HandoffError):
    """A tool could not do what it was asked; the text is meant for the model that asked."""


class DeclinedError(HandoffError):
    """A worker says "not my kind of work" or "the premise is false": a reason to plan anew, not a failure."""
