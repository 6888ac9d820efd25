"""The output of a tool as the model sees it: whole if it is short, else its head and where the whole is kept."""

import msgspec
import structlog

from actors.artifacts import keep_text
from actors.bus.port import Bus
from protocol.errors import BusError
from protocol.messages import Artifact

ENVELOPE_BYTES = 4096
ESCAPED = 8
"""A character takes up to 6 bytes of JSON; with this there is room for the rest of the message, too."""

log = structlog.get_logger()


async def fitted(bus: Bus, name: str, output: str, limit: int, message_bytes: int) -> tuple[str, Artifact | None]:
    """What of the output fits into `limit` characters and into a message; if it is not all, the whole is an artifact.

    If it cannot be kept, the head says so: what was found so far is worth more than the rest.
    """
    if len(output) <= limit and _fits(output, message_bytes - ENVELOPE_BYTES):
        return output, None
    room = min(limit, message_bytes // ESCAPED)
    try:
        return await keep_text(bus, name, output, 2 * room)
    except BusError as error:
        log.warning("artifact.not_kept", name=name, error=str(error))
        return f"{output[: room // 4]}\n\n[cut off here: {len(output):,} characters in all, and {error}]", None


def _fits(output: str, room: int) -> bool:
    return len(output) * (ESCAPED - 2) <= room or len(msgspec.json.encode(output)) <= room
