"""Posting JSON to a webhook: one request, no redirects, told clearly if it was not taken.

The address comes from whoever runs the workers, never from a model, so it may be an internal one.
"""

from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from protocol.errors import ToolError

TIME_S = 10.0


def post(url: str, key: str, body: bytes) -> None:
    """Post the body; `key` goes along as Idempotency-Key, so that the receiver can tell a repeat."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ToolError("the webhook is not an http or https address: set webhook_url to one")
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=TIME_S)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    try:
        connection.request("POST", target, body, headers)
        status = connection.getresponse().status
    except (HTTPException, OSError, ValueError) as error:
        # The address may hold a secret, so only the host is named.
        raise ToolError(f"the webhook at {parts.hostname} did not answer: {error or type(error).__name__}") from error
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise ToolError(f"the webhook at {parts.hostname} answered {status}: the message was not taken")
