"""Logs: past facts with keys, one line each; coloured on a terminal, JSON otherwise. No secret gets into them."""

import logging
import sys
import traceback
from typing import cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from observability.current import here
from observability.redaction import BLANK, SECRET_NAMES, is_secret, redacted

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}
LONGEST_TRACE = 4000
SECRETS = SECRET_NAMES
AS_THEY_ARE = {"level", "timestamp", "exc_info", "run", "trace_id", "span_id"}


def configure_logs(level: str, *, json: bool | None = None, **always: str) -> None:
    """Send all logs to standard error; `always` is bound to every line, such as the name of the actor."""
    as_json = not sys.stderr.isatty() if json is None else json
    number = LEVELS.get(level.lower(), logging.INFO)
    processors: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        add_place,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if as_json:
        processors += [structlog.processors.format_exc_info, redact, structlog.processors.JSONRenderer()]
    else:
        # It writes exceptions itself (plainly: no values of variables), so the whole is looked at once more.
        people = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        processors += [redact, _trace_last, people, cast("Processor", _redact_line)]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(number),
        # Not cached: a logger must not outlive the stream it was made for.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(**always)
    _take_in_libraries(number)


def trace_of(error: BaseException) -> str:
    """Where an error came from, short enough for a log: the end of the trace says most."""
    text = "".join(traceback.format_exception(error))
    return text if len(text) <= LONGEST_TRACE else "… " + text[-LONGEST_TRACE:]


def _trace_last(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Put a trace below its line, as people read it, instead of among the keys."""
    if "trace" in event:
        event["exception"] = event.pop("trace")
    return event


def add_place(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Say which run, task and worker a line is about, and which span of the trace, where that is known."""
    place = here.get()
    if place is not None:
        event.setdefault("run", place.run)
        if place.task:
            event.setdefault("task", place.task)
            event.setdefault("worker", place.worker)
        event.setdefault("trace_id", place.run)
        event.setdefault("span_id", place.span)
    return event


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Blank out what is a secret, by its name or by its look, at any depth."""
    for name, value in event.items():
        if name not in AS_THEY_ARE:
            event[name] = BLANK if name != "event" and is_secret(name) else _clean(value)
    return event


def _clean(value: object) -> object:
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, dict):
        found = cast("dict[object, object]", value)
        return {name: BLANK if is_secret(str(name)) else _clean(inner) for name, inner in found.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(inner) for inner in cast("list[object]", value)]
    return redacted(str(value))


def _redact_line(_logger: WrappedLogger, _method: str, line: str) -> str:
    return redacted(line)


class _Forward(logging.Handler):
    """What libraries log by the standard library's means becomes a line like any other."""

    def emit(self, record: logging.LogRecord) -> None:
        # Levels of their own become the next lower one of ours.
        level = max((known for known in LEVELS.values() if known <= record.levelno), default=logging.DEBUG)
        try:
            text = record.getMessage()
        except (TypeError, ValueError):
            text = str(record.msg)  # what does not fit its own format is no reason to fail whoever said it
        structlog.get_logger().log(level, text, logger=record.name, exc_info=record.exc_info)


def _take_in_libraries(number: int) -> None:
    """Hear nats, anthropic, httpx and uvicorn: their troubles always, their chatter only when debugging.

    Never their own debugging: that writes out what was said.
    """
    root = logging.getLogger()
    root.handlers[:] = [handler for handler in root.handlers if not isinstance(handler, _Forward)]
    least = logging.INFO if number <= logging.DEBUG else max(number, logging.WARNING)
    # Both, because a library may have been told otherwise by a variable of its own (ANTHROPIC_LOG).
    root.addHandler(_Forward(least))
    root.setLevel(least)
