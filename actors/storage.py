"""How full the store is, and at which shares supervisors make room and stop taking requests."""

from collections.abc import Iterable, Mapping

from actors.bus.port import Bus, StoreState
from protocol import streams

PURGE_SHARE = 0.7
"""Above this share of its limit, finished runs are purged."""

FULL_SHARE = 0.8
"""From this share of its limit on, supervisors take no new requests: the rest is for the runs under way."""

RUN_STORES = (streams.RUNS, streams.OBJECTS)
"""What runs fill: their messages, and their artifacts."""

STORES = (streams.RUNS, streams.OBJECTS, streams.REQUESTS, streams.INDEX, streams.DEAD)
"""Everything with a limit in the settings."""

GIB, MIB = 1024**3, 1024**2


async def read_stores(bus: Bus, names: Iterable[str] = STORES) -> dict[str, StoreState]:
    """How full these stores are."""
    return {name: await bus.store_state(name) for name in names}


def highest_share(stores: Mapping[str, StoreState]) -> float:
    """The share of the fullest store."""
    return max((state.share for state in stores.values()), default=0.0)


def described(name: str, state: StoreState) -> str:
    """One store in words, such as `HANDOFF_RUNS 3.3 of 4.0 GiB (83 %)`."""
    unit, label = (GIB, "GiB") if max(state.limit, state.bytes) >= GIB else (MIB, "MiB")
    if not state.limit:
        return f"{name} {state.bytes / unit:.1f} {label} (no limit)"
    return f"{name} {state.bytes / unit:.1f} of {state.limit / unit:.1f} {label} ({state.share:.0%})"


def why_full(stores: Mapping[str, StoreState]) -> str:
    """Which stores have so little room that no new requests are taken; empty if there is room."""
    return ", ".join(described(name, state) for name, state in stores.items() if state.share >= FULL_SHARE)
