"""The server's time: learnt from what the server has stored, whatever the wall clock of the process shows."""

import pytest

from actors.bus.memory import ProcessClock
from actors.bus.port import Bus
from protocol import streams, subjects
from tests.bus.world import Hands, World

HOUR_S = 3600.0


class TimeContract:
    @pytest.mark.parametrize("wrong_by_s", [-HOUR_S, HOUR_S])
    @pytest.mark.parametrize("how", ["read", "last", "get", "cards", "delivery", "republished"])
    async def test_one_message_tells_the_time_to_a_process_with_wrong_clocks(
        self, world: World, how: str, wrong_by_s: float
    ) -> None:
        clock = ProcessClock(world.clock, wrong_by_s)
        writer, bus = await world.client(), await world.client("wrong", clock)
        clock.uncounted_s = 600.0  # the machine was suspended after it connected
        stored_at = await _receive(world, writer, bus, how)
        assert 0 <= bus.now() - stored_at < 30

    async def test_the_time_goes_on_with_the_clock(self, world: World) -> None:
        bus = await world.client()
        await bus.publish(world.log, b"one")
        await bus.read(streams.RUNS, world.log)
        began, time = world.now(), bus.now()
        await world.passes(1.5)
        assert bus.now() - time == pytest.approx(world.now() - began, abs=0.1)

    async def test_an_old_message_does_not_set_the_time_back(self, world: World) -> None:
        bus = await world.client()
        await bus.publish(world.log, b"old")
        await world.passes(1.5)
        await bus.publish(world.log, b"new")
        (old, new) = await bus.read(streams.RUNS, world.log)
        await bus.get(streams.RUNS, old.seq)
        assert bus.now() >= new.time > old.time + 1


async def _receive(world: World, writer: Bus, bus: Bus, how: str) -> float:
    """Let `bus` receive one message in that way, which `writer` stores; returns when it was stored."""
    hands, heard = Hands(world), Hands(world)
    key = subjects.card(world.team, "worker", "one")
    if how == "delivery":
        await bus.pull(world.queue(), 1, hands.take)
    async with bus.subscribe(subjects.stored(world.log), lambda stored: heard.times.append(stored.time)):
        seq = await writer.publish(world.task() if how == "delivery" else world.log, b"one", expect=0)
        await writer.put_card(key, b"card")
        match how:
            case "read":
                return (await bus.read(streams.RUNS, world.log))[0].time
            case "last":
                return (await bus.last(streams.RUNS, [world.log]))[0].time
            case "get":
                found = await bus.get(streams.RUNS, seq)
                assert found is not None
                return found.time
            case "cards":
                return (await bus.cards(f"{world.team}."))[key].time
            case "delivery":
                return (await hands.has(1))[0].message.time
            case _:
                await world.until(lambda: bool(heard.times))
                return heard.times[0]
