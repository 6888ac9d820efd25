"""The age of single cards, read over a connection of its own. No stream is made or listed, and no run is read."""

from collections.abc import Sequence
from typing import Any

import nats.errors

from actors.bus.jetstream import wire
from actors.bus.jetstream.connection import Watch, reach
from actors.bus.jetstream.lean_client import LeanClient
from actors.settings import Settings

ASK_S = 5.0


async def card_ages(
    settings: Settings, cards: Sequence[tuple[str, str]], *, timeout_s: float | None = None
) -> list[float | None]:
    """How many seconds ago each card was stored; None for one that is not there. A card is its bucket and its key."""
    client = await reach(settings, "handoff health", Watch(), timeout_s)
    try:
        return [await _age(client, bucket, key) for bucket, key in cards]
    finally:
        await client.close()


async def _age(client: LeanClient, bucket: str, key: str) -> float | None:
    try:
        found = await client.request(f"$JS.API.DIRECT.GET.KV_{bucket}.$KV.{bucket}.{key}", timeout=ASK_S)
        if wire.status(found) or "KV-Operation" in (headers := found.headers or {}):
            return None
        # The clock of the server that stored the card: that of this machine may be wrong.
        now: dict[str, Any] = wire.json((await client.request(f"$JS.API.STREAM.INFO.KV_{bucket}", timeout=ASK_S)).data)
    except nats.errors.NoRespondersError:
        return None  # the bucket is not there
    return (wire.nanoseconds(now["ts"]) - wire.nanoseconds(headers["Nats-Time-Stamp"])) / 1e9
