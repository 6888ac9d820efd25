"""What a person gives a command to work with: texts and plans, from arguments, files or standard input."""

import sys
from pathlib import Path

from actors.cli.plan_text import parse_plan
from protocol.errors import InvalidError
from protocol.messages import Plan

STDIN = "-"


def read_text(argument: str) -> str:
    """The text of a request; `-` stands for standard input."""
    if argument != STDIN:
        if not _is_text(argument):
            raise InvalidError(["the request is not valid UTF-8"])
        return argument
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise InvalidError([f"what came on standard input is not UTF-8: {error.reason}"]) from error


def read_request(argument: str | None) -> str:
    """The text of a request. Without an argument it comes from standard input, unless that is a terminal."""
    if argument is None:
        argument = "" if sys.stdin is None or sys.stdin.isatty() else STDIN  # pyright: ignore[reportUnnecessaryComparison]
    return read_text(argument)


def read_plan(argument: str) -> Plan:
    """The plan in a file; `-` stands for standard input. InvalidError with everything that does not fit."""
    if argument == STDIN:
        return parse_plan(sys.stdin.buffer.read(), "the plan")
    try:
        return parse_plan(Path(argument).read_bytes(), argument)
    except OSError as error:
        raise InvalidError([f"plan {argument}: {error.strerror}"]) from error


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True
