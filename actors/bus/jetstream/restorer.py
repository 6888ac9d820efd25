"""Makes streams and buckets again that were deleted while this process was connected."""

import asyncio

import nats.errors

from actors.bus.jetstream.assets import Assets
from observability.logger import get_logger
from protocol.errors import HandoffError

REST_S = 0.5
"""Pause after a failed attempt."""

log = get_logger()


class Restorer:
    """Asked by whatever finds "no responders". Callers at the same time share one attempt."""

    def __init__(self, assets: Assets) -> None:
        self._assets = assets
        self._attempt = asyncio.Lock()
        self._reported = ""

    async def restore(self) -> None:
        """Make again what is missing. A failure is logged once; the caller tries its own request again in any case."""
        shared = self._attempt.locked()
        async with self._attempt:
            if not shared:
                await self._restore()

    async def _restore(self) -> None:
        try:
            if names := await self._assets.missing():
                await self._assets.assure()
                log.warning("bus.store_restored", missing=names)
            self._reported = ""
        except (HandoffError, nats.errors.Error) as error:
            reason = str(error) or type(error).__name__
            if reason != self._reported:
                log.warning("bus.restore_failed", error=reason)
            self._reported = reason
            await asyncio.sleep(REST_S)
