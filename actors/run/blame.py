"""Which failures count for the circuit breaker of a worker: its own, not those of the task or of the model provider."""

from protocol.messages import DEADLINE, Result

TASK_KINDS = frozenset(
    {"artifact", "budget", "cancelled", "context", "declined", "empty", "missed", "refusal", DEADLINE}
)
"""The task was at fault: another task would have gone well at the same worker."""

PROVIDER_KINDS = frozenset(
    {
        "api_error",
        "authentication_error",
        "billing_error",
        "cut_off",
        "invalid_request_error",
        "not_found_error",
        "overloaded_error",
        "permission_error",
        "rate_limit_error",
        "request_too_large",
        "timeout_error",
        "unreachable",
        "unreadable",
    }
)
"""The model provider refused or failed, or the key is wrong. That would open the breakers of all workers at once."""


def is_own_fault(result: Result | None) -> bool:
    """Whether this result speaks against its worker. A failure without a reason does."""
    if result is None or result.status != "failed":
        return False
    return result.error is None or result.error.kind not in TASK_KINDS | PROVIDER_KINDS
