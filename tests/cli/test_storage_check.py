"""The storage line of `handoff doctor`, and what `handoff ask` says when the store is nearly full."""

import msgspec
import pytest

from actors.bus.memory import MemoryBus, MemoryServer
from actors.bus.memory.stream import Publication
from actors.bus.port import StoreState
from actors.cli.check import Check
from actors.cli.storage_check import ADVICE, busy_reason, check_storage
from actors.settings import Settings
from protocol import streams, subjects
from protocol.errors import BusError
from protocol.ids import new_run_id

KIB = 1024
LIMIT = 100 * KIB
SETTINGS = Settings(runs_bytes=LIMIT, artifacts_bytes=LIMIT, requests_bytes=LIMIT, index_bytes=LIMIT, dead_bytes=LIMIT)
SUBJECTS = {
    streams.RUNS: subjects.log(new_run_id()),
    streams.REQUESTS: subjects.request("default"),
    streams.INDEX: subjects.index("default", new_run_id()),
    streams.DEAD: subjects.dead(streams.RUNS),
}


def fill(server: MemoryServer, store: str, share: float) -> None:
    data = b"x" * int(share * LIMIT)
    if store == streams.OBJECTS:
        server.artifacts["a"] = data
    else:
        server.publish(Publication(subject=SUBJECTS[store], data=data))


async def checks(server: MemoryServer) -> tuple[Check, list[Check]]:
    summary, *warnings = await check_storage(MemoryBus(server))
    return summary, warnings


async def test_the_summary_shows_the_use_of_each_store_and_that_only_dead_letters_drop_the_oldest() -> None:
    server = MemoryServer(SETTINGS)
    fill(server, streams.RUNS, 0.5)
    summary, warnings = await checks(server)
    assert (summary.state, warnings) == ("ok", [])
    assert {name: use.limit for name, use in summary.stores.items()} == SETTINGS.store_limits
    assert 0.5 <= summary.stores[streams.RUNS].share < 0.51
    assert summary.stores[streams.RUNS].bytes > LIMIT / 2
    assert [name for name, use in summary.stores.items() if use.discards == "old"] == [streams.DEAD]
    assert all(name in summary.found for name in SETTINGS.store_limits)
    assert streams.DEAD in summary.advice
    assert b'"share":0.5' in msgspec.json.encode(summary)


@pytest.mark.parametrize("store", SETTINGS.store_limits)
async def test_a_store_at_80_percent_is_a_warning_that_says_what_to_do(store: str) -> None:
    server = MemoryServer(SETTINGS)
    fill(server, store, 0.78)
    assert (await checks(server))[1] == []
    server = MemoryServer(SETTINGS)
    fill(server, store, 0.81)
    (warning,) = (await checks(server))[1]
    assert (warning.name, warning.state, warning.advice) == ("storage", "warn", ADVICE[store])
    assert store in warning.found


@pytest.mark.parametrize(
    ("store", "busy"), [(streams.RUNS, True), (streams.OBJECTS, True), (streams.REQUESTS, False), (streams.DEAD, False)]
)
async def test_a_client_hears_that_supervisors_are_busy_if_runs_have_no_room(store: str, *, busy: bool) -> None:
    server = MemoryServer(SETTINGS)
    assert await busy_reason(MemoryBus(server)) == ""
    fill(server, store, 0.81)
    reason = await busy_reason(MemoryBus(server))
    assert reason.startswith("busy") == busy
    assert (store in reason) == busy


async def test_a_client_that_may_not_read_the_state_of_the_store_is_not_held_up() -> None:
    class NoInfo(MemoryBus):
        async def store_state(self, stream: str) -> StoreState:
            raise BusError(f"{stream}: no information")

    assert await busy_reason(NoInfo(MemoryServer(SETTINGS))) == ""
