"""Serving: the stand-in as a local server, answered by the offline rules or by a script."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from actors.clock import SystemClock
from actors.listening import listening
from actors.model_server.http_app import create_app
from actors.model_server.profiles import PROFILES, Profile
from actors.model_server.prompt_cache import PromptCache
from actors.model_server.request_log import RequestLog
from actors.model_server.scripted import Script, Scripted, read_script
from protocol.errors import InvalidError

LOOPBACK = "127.0.0.1"


@asynccontextmanager
async def offline_server(
    *,
    host: str = LOOPBACK,
    port: int = 0,
    script: Path | Script | None = None,
    log: Path | None = None,
    profile: str | Profile = "",
) -> AsyncGenerator[str]:
    """The offline model, for as long as the block lasts; the value is its base URL. Port 0 takes a free one.

    It checks every request as the model of the profile does; without a profile, as the model that the request names.
    """
    rules = await asyncio.to_thread(read_script, script) if isinstance(script, Path) else script or Script()
    forced = profile_named(profile) if isinstance(profile, str) else profile
    requests = RequestLog(log)
    try:
        async with listening(
            create_app(Scripted(rules).react, requests, PromptCache(SystemClock()), forced),
            host,
            port,
        ) as url:
            yield url
    finally:
        requests.close()


def profile_named(name: str) -> Profile | None:
    """The profile of that name, None without a name; InvalidError if there is none."""
    if name and name not in PROFILES:
        raise InvalidError([f"no model profile is named '{name}': choose one of {', '.join(PROFILES)}"])
    return PROFILES[name] if name else None


async def serve(*, host: str, port: int, script: Path | None, log: Path | None, ready: Callable[[str], None]) -> None:
    """Serve until cancelled; `ready` is told the base URL once the server listens."""
    async with offline_server(host=host, port=port, script=script, log=log) as url:
        ready(url)
        await asyncio.Event().wait()
