"""The storage line of `handoff doctor`: how full each store is, and what to do where one is nearly full."""

from datetime import timedelta

from actors.bus.port import Bus, StoreState
from actors.cli.check import Check, StoreUse
from actors.storage import FULL_SHARE, RUN_STORES, described, read_stores, why_full
from protocol import streams
from protocol.errors import BusError

NAME = "storage"

_NO_NEW_RUNS = (
    f"from {FULL_SHARE:.0%} on supervisors take no new requests. Finished runs are purged an hour after their "
    "end; if that does not suffice, "
)
ADVICE = {
    streams.RUNS: _NO_NEW_RUNS + "raise HANDOFF_RUNS_BYTES and restart a supervisor",
    streams.OBJECTS: _NO_NEW_RUNS + "raise HANDOFF_ARTIFACTS_BYTES and restart a supervisor",
    streams.REQUESTS: "a full one refuses requests: start more supervisors, or raise HANDOFF_REQUESTS_BYTES",
    streams.INDEX: "a full one lists no new runs: raise HANDOFF_INDEX_BYTES and restart a supervisor",
    streams.DEAD: "a full one drops its oldest letters: look at them with `handoff dead`",
}


async def check_storage(bus: Bus) -> list[Check]:
    """One line about all stores, and a warning for each that is nearly full."""
    stores = await read_stores(bus)
    return [_summary(stores), *(_warning(name, state) for name, state in stores.items() if state.share >= FULL_SHARE)]


def _summary(stores: dict[str, StoreState]) -> Check:
    old = {stream.name for stream in streams.streams(timedelta(0)) if stream.discard == "old"}
    return Check(
        name=NAME,
        state="ok",
        found="; ".join(described(name, state) for name, state in stores.items()),
        advice=f"only {', '.join(sorted(old))} drops its oldest when full, the others refuse what is new",
        stores={
            name: StoreUse(
                bytes=state.bytes, limit=state.limit, share=state.share, discards="old" if name in old else "new"
            )
            for name, state in stores.items()
        },
    )


def _warning(name: str, state: StoreState) -> Check:
    return Check(name=NAME, state="warn", found=described(name, state), advice=ADVICE[name])


async def busy_reason(bus: Bus) -> str:
    """Why supervisors take no new requests at the moment; empty if they do, or if that cannot be read."""
    try:
        full = why_full(await read_stores(bus, RUN_STORES))
    except BusError:  # a client may lack the right to ask, and can send its request all the same
        return ""
    if not full:
        return ""
    return (
        f"busy: the store is nearly full ({full}), so supervisors take no new requests for now. This one waits until "
        "there is room; `handoff doctor` says what to do"
    )
