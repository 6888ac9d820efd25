"""A run is found by its id, by the first digits of it, or as the last one."""

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.run_index import find_run
from actors.settings import Settings
from protocol import codec, subjects
from protocol.errors import InvalidError
from protocol.events import Started
from protocol.messages import Request, RunEntry

FIRST, SECOND, WAITING = "abcd" + "1" * 28, "abce" + "2" * 28, "dead" + "3" * 28


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def bus(clock: VirtualClock) -> MemoryBus:
    bus = MemoryBus(MemoryServer(Settings(), clock), "client")
    for number, run in enumerate((FIRST, SECOND), 1):
        await started(bus, run, at=number)
        await clock.advance(1.0)
    return bus


async def started(bus: MemoryBus, run: str, at: float = 1.0) -> None:
    event = Started(epoch=1, supervisor="s", request=Request(id=run, text="t", team="default"))
    await bus.publish(subjects.log(run), codec.encode(event))
    entry = RunEntry(run=run, team="default", status="running", started=at)
    await bus.publish(subjects.index("default", run), codec.encode(entry))


async def test_four_digits_are_enough(bus: MemoryBus) -> None:
    assert await find_run(bus, "abcd") == FIRST
    assert await find_run(bus, "ABCE") == SECOND
    assert await find_run(bus, FIRST) == FIRST


@pytest.mark.parametrize("given", ["abc", "wxyz", "", "latest", "a" * 33])
async def test_anything_else_is_refused_with_what_would_do(bus: MemoryBus, given: str) -> None:
    with pytest.raises(InvalidError, match="last"):
        await find_run(bus, given)


async def test_digits_of_two_runs_are_refused(bus: MemoryBus) -> None:
    await started(bus, "abcd" + "4" * 28)
    with pytest.raises(InvalidError, match="2 runs"):
        await find_run(bus, "abcd")


async def test_last_is_the_run_that_was_asked_last_whatever_happened_since(bus: MemoryBus, clock: VirtualClock) -> None:
    assert await find_run(bus, "last") == SECOND
    await started(bus, FIRST)
    assert await find_run(bus, " Last ") == SECOND
    await clock.advance(1.0)
    await bus.publish(subjects.request("default"), codec.encode(Request(id=WAITING, text="t")))
    assert await find_run(bus, "last") == WAITING


async def test_without_a_run_there_is_no_last_one() -> None:
    bus = MemoryBus(MemoryServer(Settings(), VirtualClock()), "client")
    with pytest.raises(InvalidError, match="no run"):
        await find_run(bus, "last")
