from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.bus.port import Stored
from actors.settings import Settings
from actors.token_feed import TokenFeed
from protocol import subjects


async def test_text_is_heard_as_it_is_written_and_half_a_character_is_a_question_mark() -> None:
    clock = VirtualClock()
    bus = MemoryBus(MemoryServer(Settings(), clock), "w")
    heard: list[Stored] = []
    subject = subjects.tokens("a" * 32, "t")
    async with bus.subscribe(subject, heard.append):
        async with TokenFeed(bus, clock, subject) as feed:
            feed.say("so ")
            feed.say("far")
            await clock.advance(1)
            assert [stored.data for stored in heard] == [b"so far"]
            feed.say(" \ud83d")
        await clock.advance(1)
    assert b"".join(stored.data for stored in heard) == b"so far ?"


class CountingClock(VirtualClock):
    sleeps = 0

    async def sleep(self, seconds: float) -> None:
        self.sleeps += 1
        await super().sleep(seconds)


async def test_a_feed_without_text_wakes_nobody() -> None:
    clock = CountingClock()
    bus = MemoryBus(MemoryServer(Settings(), clock), "w")
    async with TokenFeed(bus, clock, subjects.tokens("a" * 32, "t")):
        await clock.advance(10)
    assert clock.sleeps == 0
