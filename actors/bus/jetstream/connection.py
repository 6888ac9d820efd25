"""The connection: waits for the server, says so, and comes back for ever."""

import asyncio
import contextlib
import re
from collections.abc import Callable
from urllib.parse import urlsplit

import nats
import nats.errors
import structlog
from nats.aio.client import Client

from actors.bus.jetstream.bus import JetStreamBus
from actors.bus.jetstream.jobs import Jobs
from actors.bus.jetstream.lean_client import LeanClient
from actors.settings import Settings
from protocol.errors import BusError, DeniedError, UnreachableError

RETRY_S = 0.25
PUBLISH_DENIED = re.compile(r'permissions violation for publish to "([^"]+)"', re.IGNORECASE)

log = structlog.get_logger()


async def connect(
    settings: Settings,
    *,
    name: str = "handoff",
    timeout_s: float | None = None,
    waiting: Callable[[str], None] | None = None,
) -> JetStreamBus:
    """A bus at `settings.nats_url`; waits for it up to `timeout_s` (None: for ever) and tells `waiting` once."""
    watch = _Watch()
    client = await _reach(settings, name, watch, _Patience(timeout_s, waiting))
    bus = JetStreamBus(client, settings)
    try:
        await bus.start()
    except nats.errors.Error as error:
        await client.close()
        raise BusError(
            f"the server at {shown(settings.nats_url)} has no usable JetStream ({error or type(error).__name__}): "
            "start it with -js, and with rights for this user"
        ) from error
    watch.bus = bus
    return bus


def shown(url: str) -> str:
    """An address without its password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}:{parts.port or 4222}" if parts.hostname else url


class _Patience:
    """How long to wait for a server that is not there, and whom to tell."""

    def __init__(self, timeout_s: float | None, tell: Callable[[str], None] | None) -> None:
        self.ends = None if timeout_s is None else asyncio.get_running_loop().time() + timeout_s
        self._tell = tell

    def over(self) -> bool:
        return self.ends is not None and asyncio.get_running_loop().time() + RETRY_S > self.ends

    def tell(self, text: str) -> None:
        if self._tell:
            self._tell(text)
        self._tell = None


class _Watch:
    """What the connection tells of itself, turned into logs and calls."""

    def __init__(self) -> None:
        self.bus: JetStreamBus | None = None
        self._jobs = Jobs()

    async def error(self, error: Exception) -> None:
        if (found := PUBLISH_DENIED.search(str(error))) and self.bus:
            self.bus.denied(found[1], str(error))
        log.debug("bus.error", error=str(error) or type(error).__name__)

    async def disconnected(self) -> None:
        if self.bus and not self.bus.closing:
            log.warning("bus.lost")

    async def reconnected(self) -> None:
        log.info("bus.back")
        if self.bus:
            self._jobs.start(self.bus.reconnected())


async def _reach(settings: Settings, name: str, watch: _Watch, patience: _Patience) -> Client:
    while True:
        client = LeanClient()
        try:
            await client.connect(
                settings.nats_url.split(","),
                name=name,
                connect_timeout=2,
                allow_reconnect=True,
                max_reconnect_attempts=-1,
                reconnect_time_wait=0.1,  # pyright: ignore[reportArgumentType]  (a float works, and 1 s is long)
                ping_interval=10,
                skip_subject_validation=True,  # ids are checked where they come in; this is paid for every message
                user_credentials=settings.nats_creds or None,
                error_cb=watch.error,
                disconnected_cb=watch.disconnected,
                reconnected_cb=watch.reconnected,
            )
        except (OSError, TimeoutError, nats.errors.Error) as error:
            with contextlib.suppress(Exception):
                await client.close()
            if _is_refusal(error):
                raise DeniedError(f"{shown(settings.nats_url)} refused the credentials: {error}") from error
            if patience.over():
                raise UnreachableError(
                    f"no NATS server at {shown(settings.nats_url)}: start one (`handoff up`), or set NATS_URL"
                ) from error
            patience.tell(f"no NATS server at {shown(settings.nats_url)} yet: waiting")
            await asyncio.sleep(RETRY_S)
        else:
            return client


def _is_refusal(error: Exception) -> bool:
    return "authorization" in str(error).lower()
