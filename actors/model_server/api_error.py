"""The errors of the Messages API: their HTTP status, their type and their body."""

from collections.abc import Mapping
from typing import Any

import msgspec

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""The type of an error for each status."""


class ApiError(Exception):
    """The server answers a request with an error. `message` is the provider's own sentence where one is documented."""

    def __init__(self, status: int, message: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})


def error_body(kind: str, message: str, request_id: str) -> bytes:
    """The body of an error answer."""
    body: dict[str, Any] = {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id}
    return msgspec.json.encode(body)
