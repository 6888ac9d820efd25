"""Exit codes: how a command says to a script what became of it."""

COMPLETE, FAILED, USAGE, UNREACHABLE, PARTIAL, CANCELLED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

OF_STATUS = {"complete": COMPLETE, "partial": PARTIAL, "failed": FAILED, "cancelled": CANCELLED}
"""By the status of an Answer."""
