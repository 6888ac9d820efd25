"""Logs: past facts with keys, one line each; coloured on a terminal, JSON otherwise."""

import logging
import sys
import traceback

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}
LONGEST_TRACE = 4000
SECRETS = ("key", "token", "password", "secret", "authorization", "credential")


def configure_logs(level: str, *, json: bool | None = None, **always: str) -> None:
    """Send all logs to standard error; `always` is bound to every line, such as the name of the actor."""
    as_json = not sys.stderr.isatty() if json is None else json
    number = LEVELS.get(level.lower(), logging.INFO)
    processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        redact,
    ]
    if as_json:
        processors += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        processors.append(structlog.dev.ConsoleRenderer())
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(number),
        # Not cached: a logger must not outlive the stream it was made for.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(**always)


def trace_of(error: BaseException) -> str:
    """Where an error came from, short enough for a log: the end of the trace says most."""
    text = "".join(traceback.format_exception(error))
    return text if len(text) <= LONGEST_TRACE else "… " + text[-LONGEST_TRACE:]


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Blank out values whose names say that they are secret."""
    for name in event:
        if name not in ("event", "level") and any(name.lower().endswith(secret) for secret in SECRETS):
            event[name] = "[redacted]"
    return event
