"""The connection: waits for the server, says so, and comes back for ever."""

import asyncio
import re
from collections.abc import Callable
from urllib.parse import urlsplit

import nats
import nats.errors
from nats.js.errors import APIError

from actors.bus.jetstream.bus import JetStreamBus
from actors.bus.jetstream.jobs import Jobs
from actors.bus.jetstream.lean_client import LeanClient
from actors.clock import Clock, SystemClock
from actors.settings import Settings
from observability.logger import get_logger
from protocol.errors import BusError, DeniedError, UnreachableError

TELL_S = 1.0
PUBLISH_DENIED = re.compile(r'permissions violation for publish to "([^"]+)"', re.IGNORECASE)

log = get_logger()


async def connect(
    settings: Settings,
    *,
    name: str = "handoff",
    timeout_s: float | None = None,
    waiting: Callable[[str], None] | None = None,
    clock: Clock | None = None,
) -> JetStreamBus:
    """A bus at `settings.nats_url`; waits for it up to `timeout_s` (None: for ever) and tells `waiting` once."""
    watch = Watch()
    late = None
    if waiting:
        text = f"no NATS server can be used at {shown(settings.nats_url)} yet: waiting"
        late = asyncio.get_running_loop().call_later(TELL_S, waiting, text)
    try:
        client = await reach(settings, name, watch, timeout_s)
    finally:
        if late:
            late.cancel()
    bus = JetStreamBus(client, settings, clock or SystemClock())
    try:
        await bus.start()
    except nats.errors.Error as error:
        await client.close()
        raise BusError(
            f"the server at {shown(settings.nats_url)} has no usable JetStream ({_reason(error)}): "
            "start it with -js, and with rights for this user"
        ) from error
    watch.bus = bus
    return bus


def _reason(error: nats.errors.Error) -> str:
    if isinstance(error, APIError):
        return error.description or "its API does not answer"
    return str(error) or type(error).__name__


def shown(urls: str) -> str:
    """An address without its password, or several with commas."""
    return ",".join(map(_shown, urls.split(",")))


def _shown(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}:{parts.port or 4222}" if parts.hostname else url


class Watch:
    """What the connection tells of itself, turned into logs and calls."""

    def __init__(self) -> None:
        self.bus: JetStreamBus | None = None
        self.refused = asyncio.Event()
        self._jobs = Jobs()

    async def error(self, error: Exception) -> None:
        """The server or the library reports an error: note a refusal of credentials or of a publish."""
        if (found := PUBLISH_DENIED.search(str(error))) and self.bus:
            self.bus.denied(found[1], str(error))
        if "authorization" in str(error).lower():
            self.refused.set()
        log.debug("bus.error", error=str(error) or type(error).__name__)

    async def disconnected(self) -> None:
        """The connection is gone: log it, unless we close it."""
        if self.bus and not self.bus.closing:
            log.warning("bus.lost")

    async def reconnected(self) -> None:
        """The connection is back: let the bus restore what it needs."""
        log.info("bus.back")
        if self.bus:
            self._jobs.start(self.bus.reconnected())


async def reach(settings: Settings, name: str, watch: Watch, timeout_s: float | None) -> LeanClient:
    """The library tries a first connection for ever: what is asked of it here is bounded, and refusals are heard."""
    client = LeanClient()
    connecting = asyncio.create_task(
        client.connect(
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
    )
    refused = asyncio.create_task(watch.refused.wait())
    where = shown(settings.nats_url)
    try:
        await asyncio.wait({connecting, refused}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if connecting.done():
            await connecting
            return client
        if refused.done():
            raise DeniedError(f"{where} refused the credentials: set NATS_CREDS, or put user:password@ into NATS_URL")
        raise UnreachableError(f"no NATS server can be used at {where}: start one (`handoff up`), or set NATS_URL")
    except (OSError, nats.errors.Error) as error:
        raise UnreachableError(f"{where} cannot be used: {error or type(error).__name__}") from error
    finally:
        refused.cancel()
        if not connecting.done():
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)
            await client.close()
