"""The one door in and out: every way a handler can end, on the in-memory bus with a virtual clock."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.bus.memory.pull import MemoryDelivery
from actors.bus.memory.stream import Publication
from actors.bus.port import NO_HEADERS, Headers
from actors.dead_letter import LARGEST, dead_letters
from actors.lease import Lease
from actors.runner import Runner
from actors.settings import Settings
from actors.verdict import Ack, Drop, Refuse, Retry, Verdict
from protocol import streams, subjects
from protocol.errors import BusError, DeniedError, FencedError, UndecodableError

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


class FaultyBus(MemoryBus):
    """Refuses what a test says it refuses."""

    def __init__(self, server: MemoryServer) -> None:
        super().__init__(server, "faulty")
        self.denied = False
        self.no_artifacts = False
        self.buries: list[float] = []

    async def publish(
        self, subject: str, data: bytes, *, expect: int | None = None, headers: Headers = NO_HEADERS
    ) -> int:
        if subjects.is_dead(subject):
            self.buries.append(self._server.clock.monotonic())
            if self.denied:
                raise DeniedError("permissions violation for publish")
        return await super().publish(subject, data, expect=expect, headers=headers)

    async def put_artifact(self, name: str, data: bytes) -> str:
        if self.no_artifacts:
            raise BusError("the artifact store is away")
        return await super().put_artifact(name, data)


@pytest.fixture
async def faulty(stage: Stage) -> FaultyBus:
    stage.bus = FaultyBus(stage.server)
    return stage.bus


async def test_an_error_while_settling_leaves_the_other_deliveries_alone(stage: Stage, faulty: FaultyBus) -> None:
    faulty.denied = True
    finished: list[int] = []

    async def handler(lease: Lease) -> Verdict:
        if lease.delivery.message.data == b"hello":
            raise UndecodableError("not a Request")
        await stage.clock.sleep(5)
        finished.append(lease.delivery.count)
        return Ack()

    for _ in range(3):
        await stage.bus.publish(subjects.request("default"), b"healthy")
    running = stage.run(handler, slots=4)
    await stage.clock.advance(10)
    assert not running.done(), running
    assert (finished, stage.left()) == ([1, 1, 1], 1)
    await stage.ends(running)


async def test_what_cannot_be_settled_now_is_settled_when_it_comes_again(stage: Stage, faulty: FaultyBus) -> None:
    faulty.no_artifacts = True

    async def handler(_: Lease) -> Verdict:
        raise UndecodableError("too much of it")

    await stage.bus.delete(streams.REQUESTS, 1)
    stage.server.publish(Publication(subject=subjects.request("default"), data=b"x" * (LARGEST + 1)))
    running = stage.run(handler)
    await stage.clock.advance(1)
    assert not running.done(), running
    faulty.no_artifacts = False
    await stage.clock.advance(QUEUE.ack_wait.total_seconds())
    assert ([letter.reason for letter in await dead_letters(stage.bus)], stage.left()) == (["too much of it"], 0)
    await stage.ends(running)


async def test_what_is_denied_for_good_comes_again_ever_more_rarely(stage: Stage, faulty: FaultyBus) -> None:
    faulty.denied = True

    async def handler(_: Lease) -> Verdict:
        return Refuse("nobody can read this")

    running = stage.run(handler)
    await stage.clock.advance(3600)
    gaps = [after - before for before, after in itertools.pairwise(faulty.buries)]
    assert gaps == sorted(gaps)
    assert gaps[0] >= 1
    assert gaps[-1] >= 300
    assert len(faulty.buries) < 25
    faulty.denied = False
    await stage.clock.advance(301)
    assert (len(await dead_letters(stage.bus)), stage.left()) == (1, 0)
    await stage.ends(running)


async def test_an_operator_is_shown_what_is_denied_until_it_is_settled(stage: Stage, faulty: FaultyBus) -> None:
    async def handler(lease: Lease) -> Verdict:
        if lease.delivery.count < 3:
            raise DeniedError("no right to write results")
        return Ack()

    runner = Runner(stage.bus, stage.clock, QUEUE, 1, handler)
    running = asyncio.create_task(runner.run(stage.stop, grace_s=0.05))
    await stage.clock.advance(0.5)
    assert "no right to write results" in runner.trouble
    await stage.clock.advance(5)
    assert (runner.trouble, stage.left()) == ("", 0)
    await stage.ends(running)


async def test_a_message_that_is_postponed_is_not_handled_when_it_comes_early(stage: Stage) -> None:
    handled: list[float] = []

    async def handler(_: Lease) -> Verdict:
        handled.append(stage.clock.monotonic())
        raise DeniedError("no right to write results")

    running = stage.run(handler)
    await stage.clock.advance(20)
    before = list(handled)
    stage.server.restart()  # the server forgets the delay and delivers it at once
    await stage.clock.advance(5)
    assert handled == before
    await stage.clock.advance(30)
    assert len(handled) == len(before) + 1
    await stage.ends(running)


async def test_a_lease_that_cannot_be_renewed_leaves_the_others_alone(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished: list[bytes] = []
    renew = MemoryDelivery.in_progress

    async def in_progress(delivery: MemoryDelivery) -> bool:
        if delivery.message.data == b"hello":
            raise OSError("the connection broke while it was written to")
        return await renew(delivery)

    async def handler(lease: Lease) -> Verdict:
        await stage.clock.sleep(5)
        finished.append(lease.delivery.message.data)
        return Ack()

    monkeypatch.setattr(MemoryDelivery, "in_progress", in_progress)
    await stage.bus.publish(subjects.request("default"), b"healthy")
    running = stage.run(handler)
    await stage.clock.advance(20)
    assert not running.done(), running
    assert finished.count(b"healthy") == 1
    await stage.ends(running)


async def test_a_nak_that_fails_while_stopping_leaves_the_others_alone(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def retry(_: MemoryDelivery, after_s: float) -> None:
        raise OSError(f"the connection broke before the nak with {after_s} s")

    async def handler(_: Lease) -> Verdict:
        await stage.clock.sleep(1000)
        return Ack()

    monkeypatch.setattr(MemoryDelivery, "retry", retry)
    await stage.bus.publish(subjects.request("default"), b"more")
    running = stage.run(handler)
    await stage.clock.advance(0.1)
    await stage.ends(running)
    await stage.clock.advance(QUEUE.ack_wait.total_seconds())
    assert stage.left() == 2
