"""The HTTP side of the offline model: the Messages API, its errors, and what may go wrong on purpose."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from actors.model_server.offline import NAME
from actors.model_server.offline.request import Asked, RequestError, read_request
from actors.model_server.offline.turn import Spoken, input_tokens, message
from actors.model_server.prompt_cache import PromptCache
from actors.model_server.request_log import Entry, RequestLog
from actors.model_server.sse import error_event, events

_LARGEST_BODY = 32 * 1024 * 1024
_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class Mishap(msgspec.Struct, frozen=True, kw_only=True):
    """What goes wrong with an answer, on purpose; nothing by default."""

    delay_s: float = 0.0
    status: int = 0
    error: str = ""
    message: str = ""
    retry_after_s: float | None = None
    cut: Literal["", "end", "drop"] = ""
    stall_s: float = 0.0
    error_event: str = ""


class Reaction(msgspec.Struct, frozen=True, kw_only=True):
    """What the server does about a request: what it says, and what goes wrong."""

    spoken: Spoken
    mishap: Mishap = Mishap()


React = Callable[[Asked], Reaction]


def create_app(react: React, log: RequestLog, cache: PromptCache) -> Starlette:
    """The application that answers every request with what `react` makes of it."""

    async def messages(request: Request) -> Response:
        body = await request.body()
        try:
            asked = _checked(body)
        except HTTPException as error:
            return _error(error.status_code, error.detail, entry=log.refused(error.status_code, error.detail))
        entry = log.asked(asked)
        reaction = react(asked)
        mishap = reaction.mishap
        if await _gone(request.receive, mishap.delay_s):
            log.ended(entry, "gone", 0)
            return _Nothing()
        if mishap.status:
            log.ended(entry, "answered", mishap.status)
            return _error(mishap.status, mishap.message, entry=entry, mishap=mishap)
        return _Answer(asked, message(reaction.spoken, asked, cache.count(asked)), mishap, (log, entry))

    async def count(request: Request) -> Response:
        try:
            asked = _checked(await request.body(), counting=True)
        except HTTPException as error:
            return _error(error.status_code, error.detail)
        return _json({"input_tokens": input_tokens(asked)})

    async def health(_: Request) -> Response:
        return _json({"status": "ok", "model": NAME})

    routes = [
        Route("/v1/messages", messages, methods=["POST"]),
        Route("/v1/messages/count_tokens", count, methods=["POST"]),
        Route("/", health, methods=["GET", "HEAD"]),
    ]
    return Starlette(routes=routes, exception_handlers={HTTPException: _refused, Exception: _broken})


def _checked(body: bytes, *, counting: bool = False) -> Asked:
    if len(body) > _LARGEST_BODY:
        raise HTTPException(413, "Request exceeds the maximum size")
    try:
        return read_request(body, counting=counting)
    except RequestError as error:
        raise HTTPException(400, str(error)) from error


async def _gone(receive: Receive, seconds: float) -> bool:
    """Let time pass; whether the client left meanwhile."""
    if seconds <= 0:
        return False
    try:
        async with asyncio.timeout(seconds):
            while (await receive())["type"] != "http.disconnect":
                pass
            return True
    except TimeoutError:
        return False


class _Answer(Response):
    """A message on its way to the client, whole or as a stream, with its mishaps."""

    def __init__(self, asked: Asked, message: dict[str, Any], mishap: Mishap, noted: tuple[RequestLog, Entry]) -> None:
        self._pieces = list(events(message)) if asked.stream else _halves(msgspec.json.encode(message))
        self._mishap = mishap
        self._log, self._entry = noted
        kind = "text/event-stream" if asked.stream else "application/json"
        headers = {"content-type": kind, "request-id": _request_id(self._entry)}
        if not asked.stream:
            headers["content-length"] = str(sum(map(len, self._pieces)))
        super().__init__(headers=headers)
        # An empty body makes the base class announce a length of 0, which is not what follows.
        self.raw_headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        mishap, half = self._mishap, len(self._pieces) // 2
        cut = mishap.cut or ("end" if mishap.error_event else "")
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await _send_all(send, self._pieces[:half])
        if await _gone(receive, mishap.stall_s):
            self._log.ended(self._entry, "gone", 200)
            return
        if mishap.error_event:
            await _send_all(send, [error_event(mishap.error_event, mishap.message or "made to fail")])
        if not cut:
            await _send_all(send, self._pieces[half:])
        # Noted before the last byte leaves, so that whoever has read the answer finds it in the log.
        self._log.ended(self._entry, "cut" if cut else "answered", 200)
        if cut != "drop":
            await send({"type": "http.response.body", "body": b"", "more_body": False})


class _Nothing(Response):
    """No answer at all, for a client that has left."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say nothing."""


async def _send_all(send: Send, pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        await send({"type": "http.response.body", "body": piece, "more_body": True})


def _halves(data: bytes) -> list[bytes]:
    return [data[: len(data) // 2], data[len(data) // 2 :]]


def _json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(value), status, headers, "application/json")


def _error(status: int, text: str, *, entry: Entry | None = None, mishap: Mishap | None = None) -> Response:
    kind = (mishap.error if mishap else "") or _KINDS.get(status, "api_error")
    headers = {"request-id": _request_id(entry)}
    if mishap and mishap.retry_after_s is not None:
        headers["retry-after"] = f"{mishap.retry_after_s:g}"
    error = {"type": kind, "message": text or f"made to fail with {kind}"}
    return _json({"type": "error", "error": error, "request_id": headers["request-id"]}, status, headers)


def _request_id(entry: Entry | None) -> str:
    return f"req_offline_{entry.n if entry else 0:08d}"


async def _refused(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _error(status, str(getattr(error, "detail", error)))


async def _broken(_: Request, error: Exception) -> Response:
    return _error(500, f"the offline model failed: {type(error).__name__}: {error}")
