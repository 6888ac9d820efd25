"""Trace context: the run is the trace, and it travels in message headers."""


def traceparent(run: str, span: str) -> str:
    """The W3C header for a message of a run, sent under a span."""
    return f"00-{run}-{span}-01"


def parent_span(header: str) -> str | None:
    """The span that a W3C header names; None if it is not one."""
    parts = header.split("-")
    return parts[2] if len(parts) == 4 and len(parts[2]) == 16 else None
