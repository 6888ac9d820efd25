"""The protocol version of a bus: kept in the metadata of the stream that holds the runs."""

from collections.abc import Mapping

import nats.errors

from actors.bus.jetstream.lean_client import LeanClient
from actors.bus.jetstream.limits import ask_api
from observability.logger import get_logger
from protocol import streams
from protocol.errors import BusError, InvalidError

NONE = (0, 0)
"""The version of a stream that was made before there were versions."""

log = get_logger()


def require_known_version(stream: str, metadata: Mapping[str, str]) -> None:
    """InvalidError if a stream names a major version that is newer than ours, or one that cannot be read."""
    told = metadata.get(streams.VERSION_KEY, "")
    version = _parsed(told)
    if version is None:
        advice = f"set {streams.VERSION_KEY} in its metadata to {streams.VERSION}"
        raise InvalidError([f"stream {stream} names a protocol version that is none, {told[:40]!r}: {advice}"])
    if version[0] > _own()[0]:
        advice = "update Handoff here, or use another bus"
        raise InvalidError(
            [f"this bus speaks version {told[:40]} of the protocol, this Handoff version {streams.VERSION}: {advice}"]
        )


async def write_version(client: LeanClient, stream: str) -> None:
    """Name our version in the metadata of a stream that has none or an older one; the rest of it stays as it is.

    Credentials that may not change streams are no error: another process names the version.
    """
    try:
        config = (await ask_api(client, f"$JS.API.STREAM.INFO.{stream}", {}))["config"]
        metadata: dict[str, str] = config.get("metadata") or {}
        if (_parsed(metadata.get(streams.VERSION_KEY, "")) or NONE) >= _own():
            return
        changed = config | {"metadata": metadata | {streams.VERSION_KEY: streams.VERSION}}
        await ask_api(client, f"$JS.API.STREAM.UPDATE.{stream}", changed)
    except (BusError, nats.errors.Error) as error:
        log.debug("bus.version_not_written", stream=stream, error=str(error) or type(error).__name__)


def _own() -> tuple[int, int]:
    return _parsed(streams.VERSION) or NONE


def _parsed(version: str) -> tuple[int, int] | None:
    """Major and minor; NONE for no version at all, None for what is no version."""
    if not version:
        return NONE
    major, _, minor = version.partition(".")
    if not all(part.isascii() and part.isdecimal() and len(part) < 6 for part in (major, minor or "0")):
        return None
    return int(major), int(minor or "0")
