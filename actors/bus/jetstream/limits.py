"""Byte limits of the streams: those of the settings, less where the server has less room.

A server reserves the limit of each stream and refuses a stream for which it has no room left. It does not say how much
room there is, so all limits are halved until they fit. A stream that has a limit keeps it, unless `resize` is set.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from actors.bus.jetstream import wire
from actors.bus.jetstream.lean_client import LeanClient
from observability.logger import get_logger
from protocol.errors import BusError

SMALLEST_SHARE = 1 / 1024
USABLE = 0.7
"""How full a stream may be at most when it gets a smaller limit: it must not be full at once."""

API_S = 5.0

_encode = msgspec.json.Encoder().encode

log = get_logger()


class NoRoomError(BusError):
    """The server has not enough storage left for the limit of a stream."""


@dataclass(frozen=True)
class Limits:
    """The limits of one attempt. `made` collects the streams that got theirs in an earlier attempt of the same call."""

    wanted: Mapping[str, int]
    resize: bool = False
    made: set[str] = field(default_factory=set[str])

    def of(self, stream: str) -> int:
        """The limit of a stream; -1 is none."""
        return self.wanted.get(stream, -1)


async def within_room(
    wanted: Mapping[str, int], attempt: Callable[[Limits], Awaitable[None]], *, resize: bool = False
) -> None:
    """Call `attempt` with smaller and smaller limits until the server has room for all streams."""
    made: set[str] = set()
    share = 1.0
    while True:
        try:
            await attempt(Limits({name: int(size * share) for name, size in wanted.items()}, resize, made))
        except NoRoomError as error:
            share /= 2
            if share < SMALLEST_SHARE:
                raise BusError(
                    f"The server has no storage left for the streams ({error}). Free disk space, or raise the server's "
                    "max_file_store or the storage limit of the account."
                ) from error
        else:
            if share < 1.0:
                log.warning("bus.store_limits_reduced", share=share)
            return


async def limit_stream(client: LeanClient, stream: str, limits: Limits, discard: str = "") -> None:
    """Give a stream that exists its limit, if it has none yet or may be resized; the rest of it stays as it is."""
    answer = await ask_api(client, f"$JS.API.STREAM.INFO.{stream}", {})
    config, used = answer["config"], int(answer["state"]["bytes"])
    now, wanted = int(config.get("max_bytes", -1)), limits.of(stream)
    if wanted <= 0 or not (now <= 0 or limits.resize or stream in limits.made):
        return
    if now <= 0:
        wanted = max(wanted, int(used / USABLE))
    elif wanted < now and used > wanted * USABLE:
        return
    changed = config | {"max_bytes": wanted} | ({"discard": discard} if discard else {})
    if changed == config:
        return
    await ask_api(client, f"$JS.API.STREAM.UPDATE.{stream}", changed)
    log.info("bus.store_limit_set", stream=stream, bytes=wanted)


async def ask_api(client: LeanClient, subject: str, body: dict[str, Any]) -> dict[str, Any]:
    """The answer of the JetStream API; BusError if it is an error."""
    answer = wire.json((await client.request(subject, _encode(body), timeout=API_S)).data)
    if error := answer.get("error"):
        kind = NoRoomError if error.get("err_code") in wire.NO_ROOM else BusError
        raise kind(f"{subject}: {error.get('description')}")
    return answer
