"""The breakers of a team while they are read from the bus."""

import asyncio
from collections.abc import Sequence

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.bus.memory.virtual import settle
from actors.bus.port import Stored
from actors.settings import Settings
from actors.supervisor.breakers import Breakers
from protocol import codec, streams, subjects
from protocol.errors import UnreachableError
from protocol.messages import Breaker


class SlowReads(MemoryBus):
    """A bus on which the answer to a read waits until `let_through` is set, or is an error if `broken`."""

    def __init__(self, server: MemoryServer) -> None:
        super().__init__(server)
        self.let_through = asyncio.Event()
        self.let_through.set()
        self.broken = False

    async def last(self, stream: str, subjects: Sequence[str]) -> list[Stored]:
        found = await super().last(stream, subjects)
        await self.let_through.wait()
        if self.broken:
            raise UnreachableError("away")
        return found


class Team:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(Settings(), self.clock)
        self.bus = SlowReads(self.server)
        self.breakers = Breakers(self.bus, self.clock, "default", after=1, cool_s=30.0)

    async def open_breaker(self, worker: str) -> None:
        breaker = Breaker(state="open", failures=3, since=self.clock.now())
        await self.bus.publish(subjects.breaker("default", worker), codec.encode(breaker))


@pytest.fixture
async def team() -> Team:
    team = Team()
    await team.open_breaker("weak")
    assert await team.breakers.shunned() == {"weak"}
    await team.clock.advance(2)
    return team


async def test_an_open_breaker_admits_nothing_while_the_breakers_are_read(team: Team) -> None:
    team.bus.let_through.clear()
    reading = asyncio.create_task(team.breakers.shunned())
    await settle()
    assert team.breakers.is_known("weak")
    assert team.breakers.levels == {"weak": 2.0}
    admitted = asyncio.create_task(team.breakers.admit("weak"))
    await settle()
    team.bus.let_through.set()
    assert not await admitted
    assert await reading == {"weak"}


async def test_a_failed_read_keeps_the_breakers_that_were_known(team: Team) -> None:
    team.bus.broken = True
    with pytest.raises(UnreachableError):
        await team.breakers.shunned()
    assert team.breakers.is_known("weak")
    team.bus.broken = False
    assert await team.breakers.shunned() == {"weak"}


async def test_a_read_that_was_under_way_does_not_undo_a_write(team: Team) -> None:
    team.bus.let_through.clear()
    reading = asyncio.create_task(team.breakers.shunned())
    await settle()
    failing = asyncio.create_task(team.breakers.failed("slow"))
    await settle()
    team.bus.let_through.set()
    await asyncio.gather(reading, failing)
    assert await team.breakers.shunned() == {"weak", "slow"}
    assert not await team.breakers.admit("slow")
    assert len(team.server.stream(streams.BREAKERS).read(subjects.breakers("default"))) == 2


async def test_of_two_tasks_that_want_to_be_the_probe_at_once_one_is_admitted(team: Team) -> None:
    await team.clock.advance(60)
    admitted = await asyncio.gather(team.breakers.admit("weak"), team.breakers.admit("weak"))
    assert sorted(admitted) == [False, True]
