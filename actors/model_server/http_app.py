"""The HTTP side of the offline model: the Messages API, its errors, and what may go wrong on purpose."""

import asyncio
from collections.abc import Iterable
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from actors.model_server import reply
from actors.model_server.api_error import KINDS, ApiError, error_body
from actors.model_server.checks.limits import input_tokens
from actors.model_server.format_requests import as_prose, as_text, role_of
from actors.model_server.intake import Incoming, admit, known_profile
from actors.model_server.model_info import model_info
from actors.model_server.offline import NAME
from actors.model_server.offline.request import Asked
from actors.model_server.offline.turn import Spoken
from actors.model_server.profiles import Profile
from actors.model_server.prompt_cache import PromptCache
from actors.model_server.reaction import Mishap, React
from actors.model_server.request_log import Entry, RequestLog
from actors.model_server.sse import error_event, events


def create_app(react: React, log: RequestLog, cache: PromptCache, profile: Profile | None = None) -> Starlette:
    """The application that checks every request and answers it with what `react` makes of it.

    The profile holds for every request; without one, the model that a request names tells its profile.
    """
    server = _Server(react, log, cache, profile)
    routes = [
        Route("/v1/messages", server.messages, methods=["POST"]),
        Route("/v1/messages/count_tokens", server.count, methods=["POST"]),
        Route("/v1/models/{model:path}", server.model, methods=["GET"]),
        Route("/", _health, methods=["GET", "HEAD"]),
    ]
    handlers = {ApiError: _refused, HTTPException: _refused, Exception: _broken}
    return Starlette(routes=routes, exception_handlers=handlers)


class _Server:
    """The routes of the Messages API."""

    def __init__(self, react: React, log: RequestLog, cache: PromptCache, profile: Profile | None) -> None:
        self._react = react
        self._log = log
        self._cache = cache
        self._profile = profile

    async def messages(self, request: Request) -> Response:
        """Answer a conversation."""
        raw = await request.body()
        try:
            incoming = admit(raw, request.headers, self._profile)
        except ApiError as error:
            return _error(error, self._log.refused(error.status, error.message))
        asked = incoming.asked
        entry = self._log.asked(asked, role_of(asked))
        reaction = self._react(asked)
        mishap = reaction.mishap
        if await _gone(request.receive, mishap.delay_s):
            self._log.ended(entry, "gone", 0)
            return _Nothing()
        if mishap.status:
            self._log.ended(entry, "answered", mishap.status)
            return _error(_made_to_fail(mishap), entry, mishap.error)
        try:
            message = self._write(reaction.spoken, incoming)
        except ApiError as error:
            self._log.ended(entry, "answered", error.status)
            return _error(error, entry)
        return _Answer(asked, message, mishap, (self._log, entry))

    async def count(self, request: Request) -> Response:
        """Count the tokens of a request, which gets the same checks as a conversation."""
        raw = await request.body()
        try:
            found = admit(raw, request.headers, self._profile, counting=True)
        except ApiError as error:
            return _error(error)
        return _json({"input_tokens": input_tokens(found.body, found.profile)})

    async def model(self, request: Request) -> Response:
        """Describe a model."""
        name = str(request.path_params["model"])
        if self._profile is not None and not self._profile.checks_requests:
            raise ApiError(404, "Not Found")
        return _json(model_info(name, self._profile or known_profile(name)))

    def _write(self, spoken: Spoken, incoming: Incoming) -> dict[str, Any]:
        counted = self._cache.count(incoming.body, incoming.profile)
        said = as_text(spoken, incoming.body) if incoming.profile.formats else as_prose(spoken, incoming.body)
        return reply.message(said, incoming, counted)


async def _health(_: Request) -> Response:
    return _json({"status": "ok", "model": NAME})


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


def _made_to_fail(mishap: Mishap) -> ApiError:
    headers = {} if mishap.retry_after_s is None else {"retry-after": f"{mishap.retry_after_s:g}"}
    kind = mishap.error or KINDS.get(mishap.status, "api_error")
    return ApiError(mishap.status, mishap.message or f"made to fail with {kind}", headers=headers)


def _error(error: ApiError, entry: Entry | None = None, kind: str = "") -> Response:
    number = _request_id(entry)
    body = error_body(kind or KINDS.get(error.status, "api_error"), error.message, number)
    return Response(body, error.status, {**error.headers, "request-id": number}, "application/json")


def _request_id(entry: Entry | None) -> str:
    return f"req_offline_{entry.n if entry else 0:08d}"


async def _refused(_: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return _error(ApiError(error.status_code, error.detail))
    return _error(error if isinstance(error, ApiError) else ApiError(500, str(error)))


async def _broken(_: Request, error: Exception) -> Response:
    return _error(ApiError(500, f"the offline model failed: {type(error).__name__}: {error}"))
