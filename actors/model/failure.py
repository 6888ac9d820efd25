"""Failures: what an error of the provider means for us, and how long to wait before trying again."""

import email.utils
from collections.abc import Mapping

from observability.redaction import redacted
from protocol.errors import ModelError

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_PASSING_KINDS = frozenset({"rate_limit_error", "overloaded_error", "api_error", "timeout_error"})
_PASSING = frozenset({408, 429})

TOO_LONG = "prompt is too long"
"""How the provider says, in the message of a bad request, that the context does not hold it."""

NO_CREDIT = "credit balance is too low"
"""How the provider says, in the message of a bad request, that the account has no credit."""

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 16.0

ACCOUNT_KINDS = frozenset({"authentication_error", "billing_error", "permission_error", "not_found_error"})
"""Key, credit, access or model name is wrong: nothing helps but a person."""

_SENTENCES = {
    "authentication_error": "The model provider refuses the key: {why}. Set ANTHROPIC_API_KEY to a valid key, or unset "
    "it to use the offline model.",
    "billing_error": "The account of the key cannot pay: {why}. Add credit, or raise the spend limit.",
    "permission_error": "The key has no access to {model}: {why}. Choose another model in the settings.",
    "not_found_error": "The provider has no model {model}: {why}. Choose another model in the settings.",
    "unreachable": "The model cannot be reached: {why}. Check ANTHROPIC_BASE_URL and that the server runs.",
}
_DOCTOR = " `handoff doctor` checks key and address."

NO_HEADERS: Mapping[str, str] = {}


def status_failure(
    status: int, kind: str | None, message: str, headers: Mapping[str, str] = NO_HEADERS, *, now: float = 0.0
) -> ModelError:
    """The failure behind an HTTP status; inside a stream the status is 200 and only the kind tells."""
    if status == 400 and TOO_LONG in message.lower():
        kind = "context"
    elif status == 400 and NO_CREDIT in message.lower():
        kind = "billing_error"
    told = headers.get("x-should-retry")
    passing = status in _PASSING or status >= 500 or (status < 400 and kind in _PASSING_KINDS)
    return ModelError(
        kind or _KINDS.get(status, "api_error"),
        message,
        retryable=told == "true" if told in ("true", "false") else passing,
        retry_after_s=retry_after(headers, now),
    )


def account_sentence(error: ModelError, model: str) -> str:
    """What to tell a person about an error that only a person can mend."""
    why = redacted(str(error)).rstrip(".")
    sentence = _SENTENCES.get(error.kind)
    return sentence.format(why=why, model=model) + _DOCTOR if sentence else why


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """How long the provider asks us to wait, in seconds or until a date; None if it does not say."""
    asked = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(asked)) if asked else None
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(asked).timestamp() - now)
    except ValueError:
        return None


def wait_s(failures: int, asked_s: float | None, luck: float) -> float:
    """How long to wait after so many failures: as the provider asks, else twice as long each time, with jitter."""
    if asked_s is not None:
        return asked_s
    longest = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(failures - 1, 30))
    # Between half and all of it, so that calls that failed together do not come back together.
    return longest * (0.5 + luck / 2)
