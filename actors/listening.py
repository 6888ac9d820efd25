"""Listening: an application on a socket of its own, inside the running event loop, until the block is left."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette

_KEEP_ALIVE_S = 75


@asynccontextmanager
async def listening(app: Starlette, host: str, port: int) -> AsyncGenerator[str]:
    """Serve the application; the value is its base URL, with the port that was really taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family)
    server = uvicorn.Server(_config(app))
    server.config.load()
    # The parts of Server.serve() without its signal handlers: signals belong to whoever runs the loop.
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup(sockets=[listener])
    try:
        shown = f"[{host}]" if family == socket.AF_INET6 else host
        yield f"http://{shown}:{listener.getsockname()[1]}"
    finally:
        await server.shutdown(sockets=[listener])
        await asyncio.gather(*server.server_state.tasks, return_exceptions=True)


def _config(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=0,
    )
