"""When a failed call of a model is tried again, and after how long.

| failure | tried again |
|---|---|
| not retryable | never |
| `unreachable`, and this process never reached the address | never: the address is wrong, or no server runs |
| `unreachable` later, `overloaded_error`, `cut_off`, `rate_limit_error` with `retry-after` | until the patience ends |
| `rate_limit_error` without `retry-after` | for 60 s: a spend limit answers like this, and does not pass |
| anything else | a fixed number of times |
"""

from collections.abc import Callable

from actors.model.failure import wait_s
from protocol.errors import ModelError

SPEND_LIMIT_S = 60.0
SPEND_LIMIT = (
    "The model provider refuses calls and does not say for how long. That is how it answers when the spend limit of "
    "the account is reached: raise the limit in the provider's console, or wait until it is reset."
)
WAITED_OUT = frozenset({"overloaded_error", "cut_off", "rate_limit_error", "unreachable"})
"""Failures that pass by themselves; only the patience of the call limits how long they are waited for."""


class RetryPolicy:
    """Decides about the failures of one call. `patience_s` is how long the call may wait in all."""

    def __init__(self, *, retries: int, patience_s: float, luck: Callable[[], float]) -> None:
        self._retries = retries
        self._patience_s = patience_s
        self._luck = luck
        self._failures = 0
        self._unexplained = 0
        self._limited_since: float | None = None

    def wait_after(self, error: ModelError, elapsed_s: float, *, reached: bool) -> float:
        """Seconds to wait before the next attempt; raises ModelError if there must be none.

        `elapsed_s` is the time since the call began; `reached` is True if this process got an answer from the address.
        """
        self._failures += 1
        if not error.retryable:
            raise error
        if error.kind == "unreachable" and not reached:
            raise ModelError(error.kind, str(error), retryable=False) from error
        self._check_spend_limit(error, elapsed_s)
        if error.kind not in WAITED_OUT:
            self._unexplained += 1
            if self._unexplained > self._retries:
                raise error
        seconds = wait_s(self._failures, error.retry_after_s, self._luck())
        left = self._patience_s - elapsed_s
        if seconds > left:
            raise ModelError(
                error.kind,
                f"{error} (the next attempt is due in {seconds:.0f} s, the call may wait {max(0.0, left):.0f} s more)",
                retryable=True,
                retry_after_s=error.retry_after_s,
            ) from error
        return seconds

    def _check_spend_limit(self, error: ModelError, elapsed_s: float) -> None:
        """Raise once the provider has refused for a minute without saying how long to wait."""
        if error.kind != "rate_limit_error" or error.retry_after_s is not None:
            self._limited_since = None
            return
        if self._limited_since is None:
            self._limited_since = elapsed_s
        if elapsed_s - self._limited_since >= SPEND_LIMIT_S:
            raise ModelError("billing_error", f"{SPEND_LIMIT} ({error})", retryable=False) from error
