"""Watches how full the store is: purges finished runs in time, and tells when no new requests must be taken."""

from actors.bus.port import Bus
from actors.clock import Clock
from actors.storage import PURGE_SHARE, RUN_STORES, highest_share, read_stores, why_full
from actors.supervisor.run_purge import RunPurge
from observability.logger import get_logger

CHECK_S = 2.0
ROUND_S = 0.05
"""Pause between two rounds of a purge."""

log = get_logger()


class StorageWatch:
    """The store as one supervisor sees it. `why_full` is empty while there is room for new runs."""

    def __init__(self, bus: Bus, clock: Clock) -> None:
        self.why_full = ""
        self._bus = bus
        self._clock = clock
        self._purge = RunPurge(bus, clock)
        self._share = 0.0
        self._failure = ""

    async def run(self) -> None:
        """Watch the store, and make room as long as it is needed."""
        while True:
            more = await self.look()
            await self._clock.sleep(ROUND_S if more else CHECK_S)

    async def look(self) -> bool:
        """Read how full the store is, and purge a few runs if that is too much; whether there may be more."""
        more = False
        try:
            await self._read()
            more = await self._make_room()
        except* Exception as errors:  # noqa: BLE001  raised further, it would end the runs of this supervisor
            self._failed("; ".join(str(error) or type(error).__name__ for error in errors.exceptions))
        else:
            self._failure = ""
        return more

    async def _read(self) -> None:
        stores = await read_stores(self._bus, RUN_STORES)
        before, self.why_full = self.why_full, why_full(stores)
        self._share = highest_share(stores)
        if self.why_full and not before:
            log.warning("supervisor.store_full", stores=self.why_full, effect="no new requests are taken")
        elif before and not self.why_full:
            log.info("supervisor.store_has_room")

    async def _make_room(self) -> bool:
        if self._share <= PURGE_SHARE:
            self._purge.forget()
            return False
        return await self._purge.purge_some()

    def _failed(self, failure: str) -> None:
        """Log why the store could not be read or purged, once while the reason stays the same."""
        if failure != self._failure:
            self._failure = failure
            log.warning("supervisor.storage_failed", error=failure)
