"""The logger of every module: silent inside the program of a user, until that program asks for logs.

    from observability.logger import get_logger

    log = get_logger()

Where structlog is configured (by `configure_logs` in our own processes, or by the host program), it writes the lines.
Else the standard library does, under the name "handoff": a program that did not configure `logging` sees nothing.
"""

import logging
from typing import Any

import structlog

from observability.redaction import redacted

NAME = "handoff"
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}

logging.getLogger(NAME).addHandler(logging.NullHandler())


class Logger:
    """Logs past facts with keys: `log.warning("bus.lost", url=…)`."""

    __slots__ = ("_plain", "_structured")

    def __init__(self) -> None:
        self._plain = logging.getLogger(NAME)
        self._structured = structlog.get_logger()

    def debug(self, event: str, **keys: object) -> None:
        """Log a detail that matters only while debugging."""
        self._log("debug", event, keys)

    def info(self, event: str, **keys: object) -> None:
        """Log a fact of normal operation."""
        self._log("info", event, keys)

    def warning(self, event: str, **keys: object) -> None:
        """Log a fault that the actor can live with."""
        self._log("warning", event, keys)

    def error(self, event: str, **keys: object) -> None:
        """Log a fault that costs a run, a task or a process."""
        self._log("error", event, keys)

    def _log(self, level: str, event: str, keys: dict[str, Any]) -> None:
        if structlog.is_configured():
            getattr(self._structured, level)(event, **keys)
        elif self._plain.isEnabledFor(number := LEVELS[level]):
            error = keys.pop("exc_info", None)
            line = " ".join([event, *(f"{name}={value!r}" for name, value in keys.items())])
            self._plain.log(number, "%s", redacted(line), exc_info=error, stacklevel=3)


def get_logger() -> Logger:
    """The logger for a module."""
    return Logger()
