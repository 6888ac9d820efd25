"""How a command fails: as words for a person, and with `--json` as data for a program."""

from collections.abc import Sequence
from typing import Any

from actors.cli.exit_code import FAILED, INTERRUPTED, UNREACHABLE, USAGE
from protocol.errors import DeniedError, HandoffError, InvalidError, UnreachableError

KINDS = {FAILED: "failed", USAGE: "invalid", UNREACHABLE: "unreachable", INTERRUPTED: "interrupted"}
"""By the exit code of a command that says no more."""


class CommandError(HandoffError):
    """A command comes to nothing: `messages` says why, a sentence each."""

    def __init__(self, messages: Sequence[str], exit_code: int = FAILED) -> None:
        super().__init__("; ".join(messages))
        self.messages = tuple(messages)
        self.exit_code = exit_code


def code_of(error: BaseException) -> int | None:
    """The exit code for an error that has words of its own; None for an unexpected one."""
    match error:
        case CommandError(exit_code=code):
            return code
        case InvalidError():
            return USAGE
        case UnreachableError() | DeniedError():
            return UNREACHABLE
        case HandoffError() | BrokenPipeError():
            return FAILED
        case OSError() if error.strerror:
            return FAILED
        case _:
            return None


def kind_of(error: BaseException, code: int) -> str:
    """What kind of failure it is, for a program."""
    return "denied" if isinstance(error, DeniedError) else KINDS.get(code, "failed")


def as_data(kind: str, code: int, messages: Sequence[str]) -> dict[str, Any]:
    """A failure as the JSON that stands on standard output."""
    return {"error": {"kind": kind, "exit_code": code, "messages": list(messages)}}
