"""The one door in and out: every way a handler can end, on the in-memory bus with a virtual clock."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.dead_letter import dead_letters
from actors.lease import Lease
from actors.runner import Runner
from actors.settings import Settings
from actors.verdict import Ack, Drop, Refuse, Retry, Verdict
from protocol import streams, subjects
from protocol.errors import FencedError, UndecodableError

QUEUE = streams.request_queue("default", timedelta(seconds=3))


class Stage:
    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.server = MemoryServer(Settings(ack_wait_s=3.0), self.clock)
        self.bus = MemoryBus(self.server, "runner")
        self.counts: list[int] = []
        self.stop = asyncio.Event()

    def run(self, handler: Callable[[Lease], Awaitable[Verdict]], slots: int = 2) -> "asyncio.Task[None]":
        async def counted(lease: Lease) -> Verdict:
            self.counts.append(lease.delivery.count)
            return await handler(lease)

        runner = Runner(self.bus, self.clock, QUEUE, slots, counted)
        return asyncio.create_task(runner.run(self.stop, grace_s=0.05))

    async def ends(self, running: "asyncio.Task[None]") -> None:
        self.stop.set()
        await running

    def left(self) -> int:
        return len(self.server.stream(streams.REQUESTS).read(subjects.REQUESTS, 0))


@pytest.fixture
async def stage() -> Stage:
    stage = Stage()
    await stage.bus.publish(subjects.request("default"), b"hello")
    return stage


async def test_an_ack_is_the_end_of_it(stage: Stage) -> None:
    async def handler(_: Lease) -> Verdict:
        return Ack(sure=True)

    running = stage.run(handler)
    await stage.clock.advance(10)
    assert (stage.counts, stage.left()) == ([1], 0)
    await stage.ends(running)


async def test_a_retry_comes_back_after_its_time(stage: Stage) -> None:
    async def handler(lease: Lease) -> Verdict:
        return Retry(2.0) if lease.delivery.count == 1 else Ack()

    running = stage.run(handler)
    await stage.clock.advance(1.5)
    assert stage.counts == [1]
    await stage.clock.advance(1)
    assert (stage.counts, stage.left()) == ([1, 2], 0)
    await stage.ends(running)


async def test_a_refused_message_is_kept_whole_with_the_reason(stage: Stage) -> None:
    async def handler(_: Lease) -> Verdict:
        return Refuse("nobody can read this")

    running = stage.run(handler)
    await stage.clock.advance(1)
    (letter,) = await dead_letters(stage.bus)
    assert (letter.data, letter.reason, letter.subject) == (b"hello", "nobody can read this", "handoff.request.default")
    assert stage.left() == 0
    await stage.ends(running)


async def test_an_undecodable_message_is_refused(stage: Stage) -> None:
    async def handler(_: Lease) -> Verdict:
        raise UndecodableError("not a Request")

    running = stage.run(handler)
    await stage.clock.advance(1)
    assert [letter.reason for letter in await dead_letters(stage.bus)] == ["not a Request"]
    await stage.ends(running)


@pytest.mark.parametrize("how", ["verdict", "error"])
async def test_a_lost_delivery_is_not_settled_and_no_longer_kept_alive(stage: Stage, how: str) -> None:
    async def handler(lease: Lease) -> Verdict:
        if lease.delivery.count > 1:
            return Ack()
        if how == "error":
            raise FencedError("somebody else has it")
        return Drop()

    running = stage.run(handler)
    await stage.clock.advance(2.5)
    assert stage.counts == [1]
    await stage.clock.advance(1)
    assert stage.counts == [1, 2]
    await stage.ends(running)


async def test_work_that_takes_long_is_kept_alive(stage: Stage) -> None:
    async def handler(_: Lease) -> Verdict:
        await stage.clock.sleep(30)
        return Ack()

    running = stage.run(handler)
    await stage.clock.advance(31)
    assert (stage.counts, stage.left()) == ([1], 0)
    await stage.ends(running)


async def test_a_bug_in_a_handler_costs_neither_the_message_nor_the_runner(stage: Stage) -> None:
    async def handler(lease: Lease) -> Verdict:
        if lease.delivery.count == 1:
            raise ZeroDivisionError("a bug")
        return Ack()

    running = stage.run(handler)
    await stage.clock.advance(1)
    assert (stage.counts, stage.left()) == ([1, 2], 0)
    await stage.ends(running)


async def test_what_is_under_way_is_given_back_at_once_when_the_grace_is_over(stage: Stage) -> None:
    async def handler(_: Lease) -> Verdict:
        await stage.clock.sleep(1000)
        return Ack()

    running = stage.run(handler)
    await stage.clock.advance(0.1)
    other = MemoryBus(stage.server, "other")
    got: list[int] = []
    await other.pull(QUEUE, 1, lambda delivery: got.append(delivery.count))
    await stage.ends(running)
    await stage.clock.advance(0.1)
    assert got == [2], "another process has it without waiting for the ack wait"


async def test_never_more_is_under_way_than_there_are_slots(stage: Stage) -> None:
    under_way, most = 0, 0

    async def handler(_: Lease) -> Verdict:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await stage.clock.sleep(0.5)
        under_way -= 1
        return Ack()

    for _ in range(9):
        await stage.bus.publish(subjects.request("default"), b"more")
    running = stage.run(handler, slots=3)
    await stage.clock.advance(10)
    assert (most, len(stage.counts), stage.left()) == (3, 10, 0)
    await stage.ends(running)


async def test_a_lease_that_was_silent_too_long_is_not_kept_alive(stage: Stage) -> None:
    leases: list[Lease] = []

    async def handler(lease: Lease) -> Verdict:
        leases.append(lease)
        await stage.clock.sleep(1)
        return Ack()

    running = stage.run(handler)
    await stage.clock.advance(0.1)
    (lease,) = leases
    assert lease.fresh
    assert not lease.certain, "a tenth of a second is too old to pay on"
    lease._beaten_at -= 10  # pyright: ignore[reportPrivateUsage]  the process stood still for ten seconds
    lease._proved_at -= 10  # pyright: ignore[reportPrivateUsage]
    assert lease.lapsed
    assert not lease.fresh
    lease.proved(lease.sent())
    assert lease.fresh
    await stage.ends(running)
