"""API keys of the stand-in: any key is good, but a few names play an account that the provider refuses."""

from collections.abc import Mapping

from actors.model_server.api_error import ApiError

_RATE_LIMIT = {
    "anthropic-ratelimit-requests-limit": "50",
    "anthropic-ratelimit-requests-remaining": "0",
    "anthropic-ratelimit-requests-reset": "2026-11-01T00:00:01Z",
}

ACCOUNTS: dict[str, tuple[int, str, Mapping[str, str]]] = {
    "wrong-key": (401, "invalid x-api-key", {}),
    "no-credit": (402, "Your credit balance is too low to access the Claude API.", {}),
    "no-access": (403, "Your API key does not have permission to use the specified resource.", {}),
    "rate-limited": (
        429,
        "This request would exceed your organization's rate limit.",
        {"retry-after": "1", **_RATE_LIMIT},
    ),
    "spend-cap": (429, "You have reached your specified API usage limits.", {}),
    "overloaded": (529, "Overloaded", {}),
}
"""What the server answers to each of these keys: status, message, headers. A spend cap has no `retry-after`."""


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise ApiError for a request without a key or version, or with a key of a refused account."""
    bearer = headers.get("authorization", "").removeprefix("Bearer").strip()
    key = headers.get("x-api-key", "") or bearer
    if not key:
        raise ApiError(401, "x-api-key header is required")
    if "anthropic-version" not in headers:
        raise ApiError(400, "anthropic-version: header is required")
    if found := ACCOUNTS.get(key):
        status, message, extra = found
        raise ApiError(status, message, headers=extra)
