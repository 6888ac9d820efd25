"""The application behind the page: a list of runs, and each run as page, json or otlp. GET only.

What always holds: a host that was not allowed is refused, so that no foreign page can read through a browser; a bus
that does not answer is told within a few seconds.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from actors.bus.port import Bus
from actors.clock import Clock
from actors.record import read_whole_run
from actors.run_index import find_run, newest
from actors.web.listing import message_page, policy, runs_page
from observability.otlp_json import otlp_json
from observability.page import page_of
from observability.run_view import RunView, view_of
from observability.trace_json import trace_of
from protocol.errors import BusError, InvalidError

MOST = 100
PATIENCE_S = 5.0
LOCAL = ("127.0.0.1", "localhost")
GUARDS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

Answer = Callable[[Request], Awaitable[Response]]


def create_app(bus: Bus, clock: Clock, hosts: Sequence[str] = ()) -> Starlette:
    """The application; besides loopback it answers to these names."""

    async def runs(_: Request) -> Response:
        return _html(runs_page(await newest(bus, MOST), clock.now()))

    async def page(request: Request) -> Response:
        # The policy of this page is in the page itself: it allows its own script.
        return HTMLResponse(page_of(await _view(bus, request, content=True)), headers=GUARDS)

    async def as_json(request: Request) -> Response:
        view = await _view(bus, request, content=False)
        return Response(msgspec.json.encode(trace_of(view)), media_type="application/json", headers=GUARDS)

    async def as_otlp(request: Request) -> Response:
        view = await _view(bus, request, content=False)
        return Response(otlp_json(view.spans), media_type="application/json", headers=GUARDS)

    async def health(_: Request) -> Response:
        return PlainTextResponse("ok", headers=GUARDS)

    routes = [
        Route("/", _bounded(runs)),
        Route("/runs/{run}.json", _bounded(as_json)),
        Route("/runs/{run}.otlp", _bounded(as_otlp)),
        Route("/runs/{run}", _bounded(page)),
        Route("/health", health),
    ]
    allowed = [*LOCAL, *hosts]
    return Starlette(routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=allowed)])


def _bounded(answer: Answer) -> Answer:
    """The same, with words for what can go wrong, and not for ever: a read waits for as long as the bus is away."""

    async def call(request: Request) -> Response:
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await answer(request)
        except InvalidError as error:
            return _html(message_page("not found", str(error)), 404)
        except (BusError, TimeoutError) as error:
            reason = str(error) or f"nothing came back within {PATIENCE_S:g} s"
            return _html(message_page("the bus does not answer", reason), 503)

    return call


async def _view(bus: Bus, request: Request, *, content: bool) -> RunView:
    run = await find_run(bus, str(request.path_params["run"]))
    view = view_of(run, await read_whole_run(bus, run), content=content)
    if view is None:
        raise InvalidError([f"nobody has begun with run {run} yet: there is nothing to show"])
    return view


def _html(text: str, status: int = 200) -> Response:
    return HTMLResponse(text, status_code=status, headers=GUARDS | {"Content-Security-Policy": policy()})
