"""Why the process of a tool server ended, in one line for a person."""

import re
import signal
from collections.abc import Sequence

_ERROR = re.compile(
    r"(?i)\b\w*(?:error|exception|fatal|panic|critical)\b"
    r"|\b(?:cannot|can't|could not|failed|denied|refused|invalid|missing)\b"
    r"|\bnot (?:found|set|allowed|supported)\b|\bno such\b"
)
# A time may stand before the level.
_NOISE = re.compile(r"(?i)[\W\dTZ]*\b(?:debug|info|notice|warn|warning|trace)\b")


def exit_reason(exit_code: int | None, errors: str) -> str:
    """The exit code or signal, and the line of the standard error that most likely says why.

    None as exit code: the connection ended, and the process, if there is one, did not end by itself.
    """
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    line = _last_error(lines)
    if exit_code and exit_code > 0:
        line = line or _last_statement(lines)
    return f"{_ending(exit_code)}: {line}" if line else _ending(exit_code)


def _ending(exit_code: int | None) -> str:
    if exit_code is None:
        return "the connection broke off"
    if exit_code >= 0:
        return f"it ended with exit code {exit_code}"
    try:
        return f"it was ended by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"it was ended by signal {-exit_code}"


def _last_error(lines: Sequence[str]) -> str:
    return next((line for line in reversed(lines) if _ERROR.search(line) and not _NOISE.match(line)), "")


def _last_statement(lines: Sequence[str]) -> str:
    """The last line that is no log line below an error: many programs print a plain reason before they exit."""
    return next((line for line in reversed(lines) if not _NOISE.match(line)), "")
