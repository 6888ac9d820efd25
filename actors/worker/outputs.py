"""The output of a tool as the model sees it: whole if it is short, else its head and where the whole is kept."""

import msgspec

from actors.artifacts import keep_text
from actors.bus.port import Bus
from observability.logger import get_logger
from protocol.errors import BusError
from protocol.messages import Artifact

MOST_KEPT = 200_000_000
"""Characters: what is longer is not kept, so that one call cannot fill the store."""
ENVELOPE_BYTES = 4096
ESCAPED = 8
"""A character takes up to 6 bytes of JSON; with this there is room for the rest of the message, too."""

log = get_logger()


async def kept_within(bus: Bus, name: str, output: str, limit: int, message_bytes: int) -> tuple[str, Artifact | None]:
    """What of the output fits into `limit` characters and into a message; if it is not all, the whole is an artifact.

    If it cannot be kept, the head says so: what was found so far is worth more than the rest.
    """
    if len(output) <= limit and _fits(output, message_bytes - ENVELOPE_BYTES):
        return output, None
    room = min(limit, message_bytes // ESCAPED)
    reason = f"more than {MOST_KEPT:,} are not kept"
    if len(output) <= MOST_KEPT:
        try:
            return await keep_text(bus, name, output, 2 * room)
        except BusError as error:
            reason = f"they could not be kept: {error}"
    log.warning("artifact.not_kept", name=name, reason=reason)
    return f"{output[: room // 4]}\n\n[cut off here: {len(output):,} characters in all; {reason}]", None


def _fits(output: str, room: int) -> bool:
    return len(output) * (ESCAPED - 2) <= room or len(msgspec.json.encode(output)) <= room
