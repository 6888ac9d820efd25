"""Which failures count for the circuit breaker of a worker: its own, not those of the task or of the model provider."""

from protocol.messages import DEADLINE, Result

TASK_KINDS = frozenset(
    {"artifact", "budget", "cancelled", "context", "declined", "empty", "missed", "refusal", DEADLINE}
)
"""The task was at fault: another task would have gone well at the same worker."""

PROVIDER_KINDS = frozenset(
    {"configuration", "cut_off", "insufficient_quota", "request_too_large", "unreachable", "unreadable"}
)
"""The model provider refused or failed, or the key is wrong. That would open the breakers of all workers at once."""

PROVIDER_ENDING = "_error"
"""How providers end the kinds of their errors: `overloaded_error`. Errors of Python bear the name of a class."""


def is_own_fault(result: Result | None) -> bool:
    """Whether this result speaks against its worker. A failure without a reason does."""
    if result is None or result.status != "failed":
        return False
    kind = result.error.kind if result.error else ""
    return kind not in TASK_KINDS | PROVIDER_KINDS and not kind.endswith(PROVIDER_ENDING)
