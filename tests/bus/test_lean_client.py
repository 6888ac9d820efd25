import asyncio
import gc
import weakref
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import cast

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st
from nats.aio.client import Client
from nats.aio.msg import Msg
from waiting import LIMIT_S

from actors.bus.jetstream.lean_client import LeanClient, Listener
from actors.bus.jetstream.wire import barrier
from tests.servers import NatsServer

lines = st.lists(st.text(alphabet="ab:\t\r\n é\x1c\x85-:", max_size=12) | st.just("Nats-Sequence: 12"), max_size=6)


@given(lines)
def test_headers_are_read_as_the_original_reads_them(parts: list[str]) -> None:
    raw = "\r\n".join(parts).encode()
    assert LeanClient._parse_header_lines(raw) == Client._parse_header_lines(raw)  # pyright: ignore[reportPrivateUsage]


@given(st.binary(max_size=40))
def test_any_bytes_are_read_as_the_original_reads_them(raw: bytes) -> None:
    assert LeanClient._parse_header_lines(raw) == Client._parse_header_lines(raw)  # pyright: ignore[reportPrivateUsage]


class Wire(LeanClient):
    """A client whose words are kept instead of sent."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[bytes] = []

    async def _send_command(self, cmd: bytes, priority: bool = False) -> None:
        self.said.append(bytes(cmd))

    async def written(self, kind: type[Client], headers: dict[str, str] | None) -> bytes:
        await kind._send_publish(self, "s.x", "r.1", b"data", 4, headers)  # pyright: ignore[reportPrivateUsage]
        return self.said.pop()


names = st.sampled_from(["Nats-Msg-Id", "traceparent", "X"])
values = st.text(alphabet="ab:-\té\n\r ", max_size=10).map(str.strip)


@given(st.none() | st.dictionaries(names, values))
async def test_headers_are_written_as_the_original_writes_them(headers: dict[str, str] | None) -> None:
    wire = Wire()
    assert await wire.written(LeanClient, headers and dict(headers)) == await wire.written(
        Client, headers and dict(headers)
    )


@pytest.fixture
async def client(nats_server: NatsServer) -> AsyncGenerator[LeanClient]:
    client = LeanClient()
    await client.connect(nats_server.url)  # pyright: ignore[reportUnknownMemberType]
    yield client
    await client.close()


async def test_messages_come_straight_and_in_order_however_they_were_written(client: LeanClient) -> None:
    got: list[bytes] = []
    done = asyncio.Event()

    async def heard(msg: Msg) -> None:
        got.append(msg.data)
        if len(got) == 3000:
            done.set()

    await client.listen("lean.order", heard)
    for number in range(3000):
        await client.publish("lean.order", b"%d" % number, headers={"n": "1"} if number % 3 else None)
        if number % 100 == 0:
            await asyncio.sleep(0.0005)  # a quiet moment: the next one is written at once, the others wait in line
    await asyncio.wait_for(done.wait(), LIMIT_S)
    assert got == [b"%d" % number for number in range(3000)]


async def test_a_listener_that_raises_is_reported_and_hears_the_next(nats_server: NatsServer) -> None:
    told: list[Exception] = []
    got: asyncio.Queue[bytes] = asyncio.Queue()

    async def report(error: Exception) -> None:
        told.append(error)

    async def heard(msg: Msg) -> None:
        got.put_nowait(msg.data)
        if msg.data == b"bad":
            raise ValueError("no")

    client = LeanClient()
    await client.connect(nats_server.url, error_cb=report)  # pyright: ignore[reportUnknownMemberType]
    await client.listen("lean.raise", heard)
    await client.publish("lean.raise", b"bad")
    await client.publish("lean.raise", b"good")
    assert [await asyncio.wait_for(got.get(), LIMIT_S) for _ in range(2)] == [b"bad", b"good"]
    assert [str(error) for error in told] == ["no"]
    await client.close()


async def test_a_listener_that_was_ended_hears_nothing_more(client: LeanClient) -> None:
    got: list[bytes] = []

    async def heard(msg: Msg) -> None:
        got.append(msg.data)

    subscription = await client.listen("lean.end", heard)
    await client.publish("lean.end", b"one")
    await barrier(client)
    await subscription.unsubscribe()
    await client.publish("lean.end", b"two")
    await barrier(client)
    assert got == [b"one"]


async def test_ended_subscriptions_leave_nothing_behind(client: LeanClient) -> None:
    listeners = [
        await _subscribed_and_ended(client, f"lean.leak.{number}", drain=number % 2 == 1) for number in range(200)
    ]
    await barrier(client)
    gc.collect()
    assert [listener for listener in listeners if listener() is not None] == []


async def _subscribed_and_ended(client: LeanClient, subject: str, *, drain: bool) -> weakref.ref[Listener]:
    async def heard(_: Msg) -> None:
        pass

    subscription = await client.listen(subject, heard)
    await (subscription.drain() if drain else subscription.unsubscribe())
    return weakref.ref(heard)


@pytest.mark.process
def test_it_can_be_closed_while_the_server_is_away_and_something_waits_to_be_sent(tmp_path: Path) -> None:
    async def live() -> None:
        lost = asyncio.Event()

        async def gone() -> None:
            lost.set()

        async with NatsServer(tmp_path) as server:
            client = LeanClient()
            await client.connect(server.url, disconnected_cb=gone)  # pyright: ignore[reportUnknownMemberType]
            await server.kill()
            await asyncio.wait_for(lost.wait(), LIMIT_S)
            await client.publish("lean.late", b"nobody hears this")
            await client.close()
            assert client.is_closed

    uvloop.run(live())  # the loop of the actors: asyncio's own lets a write to a closed socket pass


async def test_a_flush_that_is_cancelled_as_its_answer_comes_ends(client: LeanClient) -> None:
    flush = asyncio.create_task(client.flush())
    pongs = cast("list[asyncio.Future[bool]]", client._pongs)  # pyright: ignore[reportPrivateUsage,reportUnknownMemberType]
    while not pongs:
        await asyncio.sleep(0)
    pongs.pop().set_result(True)
    flush.cancel()
    with pytest.raises(asyncio.CancelledError):
        await flush


async def test_a_request_that_is_cancelled_as_its_answer_comes_ends(client: LeanClient) -> None:
    request = asyncio.create_task(client.request("nobody.is.there", timeout=5))
    while not (
        waiting := cast("dict[str, asyncio.Future[Msg]]", client._resp_map)  # pyright: ignore[reportPrivateUsage,reportUnknownMemberType]
    ):
        await asyncio.sleep(0)
    waiting.popitem()[1].set_result(Msg(_client=client))
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request


async def test_who_was_cancelled_before_may_still_flush_while_it_cleans_up(client: LeanClient) -> None:
    async def work() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await client.flush()
        return "cleaned up"

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    assert await task == "cleaned up"
