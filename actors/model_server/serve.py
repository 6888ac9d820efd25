"""Serving: the stand-in as a local server, answered by the offline rules or by a script."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from actors.clock import SystemClock
from actors.listening import listening
from actors.model_server.http_app import create_app
from actors.model_server.intake import Policy
from actors.model_server.profiles import PROFILES, Profile
from actors.model_server.prompt_cache import PromptCache
from actors.model_server.request_log import RequestLog
from actors.model_server.scripted import Script, Scripted, read_script
from protocol.errors import InvalidError

LOOPBACK = "127.0.0.1"
STRICT = False
"""Whether a server is strict if its caller does not say. It becomes True once our client sends no refused request."""


@asynccontextmanager
async def offline_server(
    *,
    host: str = LOOPBACK,
    port: int = 0,
    script: Path | Script | None = None,
    log: Path | None = None,
    policy: Policy | None = None,
) -> AsyncGenerator[str]:
    """The offline model, for as long as the block lasts; the value is its base URL. Port 0 takes a free one.

    The policy says how strict it is: see `strict`. Without one, `STRICT` decides.
    """
    rules = await asyncio.to_thread(read_script, script) if isinstance(script, Path) else script or Script()
    requests = RequestLog(log)
    try:
        async with listening(
            create_app(Scripted(rules).react, requests, PromptCache(SystemClock()), policy or Policy(strict=STRICT)),
            host,
            port,
        ) as url:
            yield url
    finally:
        requests.close()


def strict(profile: str | Profile = "") -> Policy:
    """The policy of a server that checks every request, by one profile or by the model that each request names."""
    if not isinstance(profile, str):
        return Policy(strict=True, profile=profile)
    if profile and profile not in PROFILES:
        raise InvalidError([f"no model profile is named '{profile}': choose one of {', '.join(PROFILES)}"])
    return Policy(strict=True, profile=PROFILES[profile] if profile else None)


async def serve(*, host: str, port: int, script: Path | None, log: Path | None, ready: Callable[[str], None]) -> None:
    """Serve until cancelled; `ready` is told the base URL once the server listens."""
    async with offline_server(host=host, port=port, script=script, log=log) as url:
        ready(url)
        await asyncio.Event().wait()
