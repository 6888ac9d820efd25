"""Trace context: the run is the trace, and it travels in message headers."""

import re
import sys

_HEADER = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")


def traceparent(run: str, span: str) -> str:
    """The W3C header for a message of a run, sent under a span."""
    return f"00-{run}-{span}-01"


def parse(header: str) -> tuple[str, str] | None:
    """The trace and the span that a W3C header names; None if it is not one."""
    found = _HEADER.fullmatch(header.strip())
    if found is None or found[1] == "0" * 32 or found[2] == "0" * 16:
        return None
    return found[1], found[2]


def current_traceparent() -> dict[str, str]:
    """The header for what is sent from within a span of the program around us; none if it has no spans.

    Who traces has imported the library: it need not be imported to find that out.
    """
    library = sys.modules.get("opentelemetry.trace")
    if library is None:
        return {}
    found = library.get_current_span().get_span_context()
    return {"traceparent": f"00-{found.trace_id:032x}-{found.span_id:016x}-01"} if found.is_valid else {}


def parent_span(header: str) -> str | None:
    """The span that a W3C header names; None if it is not one."""
    found = parse(header)
    return found[1] if found else None
