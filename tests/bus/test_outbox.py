"""The outbox of JetStream, with a server that answers when a test says so."""

import asyncio
from collections.abc import AsyncGenerator
from typing import NamedTuple

import msgspec
import pytest
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from actors.bus.jetstream import outbox as sending
from actors.bus.jetstream import wire
from actors.bus.jetstream.lean_client import LeanClient, Listener
from actors.bus.jetstream.outbox import Outbox
from actors.bus.port import NO_HEADERS, Stored
from protocol import subjects
from protocol.errors import ConflictError
from protocol.ids import RunId

LOG = subjects.log(RunId("ab" * 16))
PATIENCE_S = 20.0
"""Less than the minute in which `make mutants` wants a dropped message to be found."""

REFUSED = wire.PubAck(error=wire.ApiError(code=400, err_code=wire.WRONG_LAST_SEQUENCE))


class Sent(NamedTuple):
    """A message that went out."""

    data: bytes
    reply: str
    headers: dict[str, str]


class Client(LeanClient):
    """Keeps what goes out."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Sent] = []
        self.connected = True

    @property
    def is_connected(self) -> bool:
        return self.connected

    async def publish(
        self, subject: str, payload: bytes = b"", reply: str = "", headers: dict[str, str] | None = None
    ) -> None:
        self.sent.append(Sent(payload, reply, dict(headers or {})))

    async def listen(self, subject: str, heard: Listener) -> Subscription:
        self.heard = heard
        return Subscription(self, 1, subject)

    async def answer(self, sent: Sent, ack: wire.PubAck) -> None:
        await self.heard(Msg(self, subject=sent.reply, data=msgspec.json.encode(ack)))


class Stage:
    def __init__(self) -> None:
        self.client = Client()
        self.stored: Stored | None = None
        self.outbox = Outbox(self.client, self._last, self._restore)

    async def _last(self, subject: str) -> Stored | None:
        return self.stored

    async def _restore(self) -> None:
        raise AssertionError("no stream is missing")

    async def send(self, expect: int | None = None) -> "asyncio.Future[int]":
        return await self.outbox.send(LOG, b"x", expect, NO_HEADERS)

    async def sends(self, count: int) -> list[Sent]:
        """Wait until so many messages have gone out."""
        async with asyncio.timeout(PATIENCE_S):
            while len(self.client.sent) < count:
                await asyncio.sleep(0.001)
        return self.client.sent


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Stage]:
    monkeypatch.setattr(sending, "RESEND_S", 0.01)
    stage = Stage()
    await stage.outbox.start()
    yield stage
    await stage.outbox.close()


async def test_a_publish_without_an_answer_is_sent_again_until_it_has_one(stage: Stage) -> None:
    waiting = await stage.send()
    sent = await stage.sends(3)
    assert len({(one.data, one.reply, one.headers[wire.MESSAGE_ID]) for one in sent}) == 1, "the server knows it again"
    assert not waiting.done()
    await stage.client.answer(sent[0], wire.PubAck(stream="s", seq=7))
    async with asyncio.timeout(PATIENCE_S):
        assert await waiting == 7


async def test_what_could_not_go_out_goes_out_when_the_connection_is_back(stage: Stage) -> None:
    stage.client.connected = False
    waiting = await stage.send()
    stage.client.connected = True
    await stage.outbox.resend()
    (sent, *_) = await stage.sends(1)
    await stage.client.answer(sent, wire.PubAck(stream="s", seq=7))
    async with asyncio.timeout(PATIENCE_S):
        assert await waiting == 7


@pytest.mark.parametrize("expect", [0, 3])
@pytest.mark.parametrize("own", [True, False], ids=["one's own message", "another message"])
async def test_a_message_sent_twice_and_refused_is_stored_only_if_it_stands_there_itself(
    stage: Stage, expect: int, own: bool
) -> None:
    waiting = await stage.send(expect)
    sent = await stage.sends(2)
    nonce = sent[0].headers.get(wire.NONCE, "") if own else "another"
    data = b"x" if own or expect else b"y"  # behind a message only the nonce counts: the content may be the same
    stage.stored = Stored(subject=LOG, data=data, seq=9, time_ns=1, headers={wire.NONCE: nonce})
    await stage.client.answer(sent[0], REFUSED)
    async with asyncio.timeout(PATIENCE_S):
        if own:
            assert await waiting == 9
        else:
            with pytest.raises(ConflictError):
                await waiting


async def test_a_message_sent_once_and_refused_is_a_conflict(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "RESEND_S", 1000.0)
    waiting = await stage.send(3)
    (sent,) = await stage.sends(1)
    stage.stored = Stored(subject=LOG, data=b"x", seq=9, time_ns=1, headers=sent.headers)
    await stage.client.answer(sent, REFUSED)
    with pytest.raises(ConflictError):
        await waiting
