"""What only a real server can do to a bus: swallow answers, let requests expire, lose a consumer."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import msgspec
import pytest

from actors.bus.jetstream import JetStreamBus, connect, wire
from actors.bus.jetstream import pull as pulling
from actors.bus.port import Delivery
from actors.clock import SystemClock
from actors.lease import Lease
from actors.runner import Runner
from actors.verdict import Ack, Verdict
from protocol import streams, subjects
from protocol.errors import ConflictError
from protocol.ids import RunId, new_run_id
from protocol.streams import Queue
from protocol.subjects import TaskAddress
from tests.bus.world import PATIENCE_S, SETTINGS, truth
from tests.servers import NatsServer, Proxy

pytestmark = pytest.mark.process


@asynccontextmanager
async def client(url: str) -> AsyncGenerator[JetStreamBus]:
    """A bus for the time of a block."""
    bus = await connect(msgspec.structs.replace(SETTINGS, nats_url=url), timeout_s=PATIENCE_S)
    try:
        yield bus
    finally:
        await bus.close()


async def until(holds: Callable[[], bool | Awaitable[bool]]) -> None:
    """Wait for something to hold."""
    deadline = time.monotonic() + PATIENCE_S
    while not await truth(holds()):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


@pytest.fixture
def run() -> RunId:
    return new_run_id()


@pytest.fixture
async def proxy(nats_server: NatsServer) -> AsyncGenerator[Proxy]:
    async with Proxy(nats_server) as proxy:
        yield proxy


@pytest.fixture
async def near(nats_server: NatsServer) -> AsyncGenerator[JetStreamBus]:
    async with client(nats_server.url) as bus:
        yield bus


@pytest.fixture
async def far(proxy: Proxy) -> AsyncGenerator[JetStreamBus]:
    async with client(proxy.url) as bus:
        yield bus


def _queue(run: RunId) -> Queue:
    return streams.task_queue(f"t{run[:8]}", "worker", SETTINGS.ack_wait)


async def _hand_out(bus: JetStreamBus, run: RunId, count: int) -> None:
    for number in range(count):
        await bus.publish(TaskAddress(run, f"t{run[:8]}", "worker", f"n{number}", 1).handoff, b"")


class TestUnknownPublishes:
    async def test_a_compare_and_set_whose_answer_is_lost_is_recognised_as_ones_own(
        self, near: JetStreamBus, far: JetStreamBus, proxy: Proxy, run: RunId
    ) -> None:
        sent, seq = await self._swallowed(near, far, proxy, run, expect=0)
        proxy.cut()
        assert await asyncio.wait_for(sent, PATIENCE_S) == seq
        assert len(await near.read(streams.RUNS, subjects.log(run))) == 1

    @pytest.mark.parametrize("first", [b"", b"closed"], ids=["no breaker yet", "a breaker there"])
    async def test_a_breaker_write_whose_answer_is_lost_is_recognised_as_ones_own(
        self, near: JetStreamBus, far: JetStreamBus, proxy: Proxy, run: RunId, first: bytes
    ) -> None:
        subject = subjects.breaker(f"t{run[:8]}", "worker")
        before = await near.publish(subject, first) if first else 0
        proxy.deaf = True
        sent = await far.send(subject, b"open", expect=before)

        async def stored() -> bool:
            return [m.data for m in await near.last(streams.BREAKERS, [subject])] == [b"open"]

        await until(stored)
        proxy.cut()
        assert await asyncio.wait_for(sent, PATIENCE_S) == (await near.last(streams.BREAKERS, [subject]))[0].seq

    async def test_a_publish_whose_answer_is_lost_is_stored_once(
        self, near: JetStreamBus, far: JetStreamBus, proxy: Proxy, run: RunId
    ) -> None:
        sent, seq = await self._swallowed(near, far, proxy, run, expect=None)
        proxy.cut()
        assert await asyncio.wait_for(sent, PATIENCE_S) == seq
        assert len(await near.read(streams.RUNS, subjects.log(run))) == 1

    async def test_a_refusal_whose_answer_is_lost_is_still_a_refusal(
        self, near: JetStreamBus, far: JetStreamBus, proxy: Proxy, run: RunId
    ) -> None:
        await near.publish(subjects.log(run), b"other", expect=0)
        proxy.deaf = True
        sent = await far.send(subjects.log(run), b"mine", expect=0)
        proxy.cut()
        with pytest.raises(ConflictError):
            await asyncio.wait_for(sent, PATIENCE_S)

    async def _swallowed(
        self, near: JetStreamBus, far: JetStreamBus, proxy: Proxy, run: RunId, expect: int | None
    ) -> "tuple[asyncio.Future[int], int]":
        proxy.deaf = True
        sent = await far.send(subjects.log(run), b"mine", expect=expect)

        async def stored() -> bool:
            return bool(await near.read(streams.RUNS, subjects.log(run)))

        await until(stored)
        assert not sent.done()
        return sent, (await near.read(streams.RUNS, subjects.log(run)))[0].seq


class TestStandingPulls:
    async def test_a_pull_goes_on_when_its_requests_expire(
        self, near: JetStreamBus, run: RunId, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pulling, "MAX_EXPIRY_S", 0.1)
        held: list[Delivery] = []
        pull = await near.pull(_queue(run), 2, held.append)
        await asyncio.sleep(0.35)
        await _hand_out(near, run, 5)
        await until(lambda: len(held) == 2)
        await asyncio.sleep(0.25)
        assert len(held) == 2
        for number in range(5):
            await until(lambda number=number: len(held) > number)
            await held[number].ack()
            pull.release()
        await pull.stop()
        assert len(held) == 5

    async def test_a_pull_goes_on_when_its_queue_was_removed(self, near: JetStreamBus, run: RunId) -> None:
        held: list[Delivery] = []
        queue = _queue(run)
        await near.pull(queue, 2, held.append)

        async def waited_for() -> bool:
            return (await near.queues(queue.stream))[queue.name].waiting > 0

        await until(waited_for)
        await near.emit(f"$JS.API.CONSUMER.DELETE.{queue.stream}.{queue.name}", b"")
        await _hand_out(near, run, 1)
        await until(lambda: len(held) > 0)


class TestStoppingWhileTheServerHangs:
    """The server takes what is sent and answers nothing."""

    @pytest.fixture(autouse=True)
    def _short_flush(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(wire, "FLUSH_S", 0.2)

    async def test_work_under_way_has_its_grace_period(self, near: JetStreamBus, proxy: Proxy, run: RunId) -> None:
        began, stop = asyncio.Event(), asyncio.Event()
        finished: list[str] = []

        async def handle(lease: Lease) -> Verdict:
            began.set()
            await stop.wait()
            await asyncio.sleep(1.5)
            finished.append(lease.delivery.message.subject)
            return Ack()

        queue = _queue(run)
        await _hand_out(near, run, 1)
        async with client(proxy.url) as far:
            running = asyncio.create_task(Runner(far, SystemClock(), queue, 2, handle).run(stop, grace_s=30))
            await asyncio.wait_for(began.wait(), PATIENCE_S)
            proxy.deaf = True
            stop.set()
            await asyncio.wait_for(running, 30)
        assert len(finished) == 1

    async def test_what_arrives_after_the_stop_is_given_back(
        self, near: JetStreamBus, proxy: Proxy, run: RunId
    ) -> None:
        queue = msgspec.structs.replace(_queue(run), ack_wait=timedelta(seconds=60))
        held: list[Delivery] = []
        async with client(proxy.url) as far:
            pull = await far.pull(queue, 2, held.append)

            async def waited_for() -> bool:
                return (await near.queues(queue.stream))[queue.name].waiting > 0

            await until(waited_for)
            proxy.hold()
            assert list(await pull.stop()) == []
            await _hand_out(near, run, 1)

            async def handed_out() -> bool:
                return (await near.queues(queue.stream))[queue.name].unsettled == 1

            await until(handed_out)
            proxy.release()
            await near.pull(queue, 2, held.append)
            await until(lambda: len(held) == 1)


async def test_what_a_frozen_process_held_goes_to_another_one_after_a_single_ack_wait(
    near: JetStreamBus, far: JetStreamBus, proxy: Proxy, run: RunId
) -> None:
    queue, frozen, held = _queue(run), list[Delivery](), list[Delivery]()
    await far.pull(queue, 4, frozen.append)
    await _hand_out(near, run, 1)
    await until(lambda: len(frozen) == 1)
    proxy.hold()
    await near.pull(queue, 4, held.append)
    await until(lambda: len(held) == 1)
    proxy.release()
    assert held[0].count == 2, "the open pull of the frozen process took a redelivery"


async def test_a_cut_connection_does_not_let_in_more_than_there_are_slots(proxy: Proxy, near: JetStreamBus) -> None:
    queue = streams.request_queue(f"cut-{new_run_id()[:8]}", SETTINGS.ack_wait * 10)
    got: list[int] = []
    async with client(proxy.url) as far:
        pull = await far.pull(queue, 4, lambda delivery: got.append(delivery.message.seq))
        for _ in range(3):
            back = asyncio.Event()
            forget = far.on_reconnect(back.set)
            proxy.cut()
            await asyncio.wait_for(back.wait(), PATIENCE_S)
            forget()
        sent = [await near.publish(queue.filter, b"x") for _ in range(30)]

        async def accounted_for() -> bool:
            """The server counts for a queue a moment after it has stored."""
            state = (await near.queues(streams.REQUESTS))[queue.name]
            return state.unsettled == 4 and state.unsettled + state.pending == len(sent)

        await until(lambda: len(got) >= 4)
        await until(accounted_for)
        assert len(got) == 4, "what came beyond the slots was given back"
        await pull.stop()
