"""A dead letter goes back only to where the message in it was refused; what it says itself proves nothing."""

import asyncio

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.dead_letter import (
    DELIVERIES,
    SEQUENCE,
    STREAM,
    SUBJECT,
    DeadLetter,
    Refusal,
    bury,
    dead_letter,
    dead_letters,
    redrive,
)
from actors.settings import Settings
from protocol import streams, subjects
from protocol.errors import BusError, InvalidError
from protocol.ids import RunId
from protocol.subjects import TaskAddress

RUN = RunId("a" * 32)
HANDOFF = TaskAddress(RUN, "default", "writer", "t", 1).handoff


@pytest.fixture
async def bus() -> MemoryBus:
    return MemoryBus(MemoryServer(Settings(), VirtualClock()), "client")


async def forged(bus: MemoryBus, subject: str, data: bytes = b"{}", *, stream: str, sequence: int = 1) -> DeadLetter:
    """A letter as anyone may write it who can publish."""
    headers = {SUBJECT: subject, STREAM: stream, SEQUENCE: str(sequence)}
    return await found(bus, await bus.publish(subjects.dead(stream), data, headers=headers))


async def refused(bus: MemoryBus, subject: str, data: bytes) -> DeadLetter:
    """A letter about a stored message, as an actor writes it."""
    sequence = await bus.publish(subject, data)
    stored = await bus.get(streams.RUNS, sequence)
    assert stored
    await bury(bus, stored, Refusal(streams.RUNS, "unreadable"))
    return await found(bus, 1)


async def found(bus: MemoryBus, number: int) -> DeadLetter:
    letter = await dead_letter(bus, number)
    assert letter
    return letter


@pytest.mark.parametrize(
    ("subject", "stream"),
    [
        ("$JS.API.STREAM.PURGE.HANDOFF_RUNS", streams.RUNS),
        ("$JS.API.STREAM.PURGE.HANDOFF_RUNS", streams.REQUESTS),
        (f"handoff.run.{RUN}.log", streams.RUNS),
        (f"handoff.run.{RUN}.log", streams.REQUESTS),
        (TaskAddress(RUN, "default", "writer", "t", 1).result, streams.RUNS),
        ("handoff.request.default", streams.RUNS),
        ("handoff.request.default.more", streams.REQUESTS),
        ("handoff.request.*", streams.REQUESTS),
        ("handoff.request.", streams.REQUESTS),
        ("handoff.limits.claude", "KV_handoff_limits"),
        ("", streams.REQUESTS),
    ],
)
async def test_a_letter_goes_back_to_no_subject_but_that_of_a_request_or_of_a_stored_control(
    bus: MemoryBus, monkeypatch: pytest.MonkeyPatch, subject: str, stream: str
) -> None:
    letter = await forged(bus, subject, stream=stream)
    published: list[str] = []

    async def publish(subject: str, data: bytes, **_: object) -> int:
        published.append(subject)
        return 1

    monkeypatch.setattr(bus, "publish", publish)
    with pytest.raises(InvalidError):
        await redrive(bus, letter)
    assert published == []
    assert await dead_letter(bus, letter.number) == letter


async def test_a_request_goes_back_to_its_team(bus: MemoryBus) -> None:
    await redrive(bus, await forged(bus, "handoff.request.default", b"{", stream=streams.REQUESTS))
    (request,) = await bus.read(streams.REQUESTS, subjects.REQUESTS)
    assert (request.subject, request.data) == ("handoff.request.default", b"{")
    assert await dead_letter(bus, 1) is None


async def test_a_control_goes_back_if_it_is_the_one_that_is_stored(bus: MemoryBus) -> None:
    letter = await refused(bus, subjects.control(RUN), b"unreadable")
    await redrive(bus, letter)
    stored = await bus.read(streams.RUNS, subjects.control(RUN))
    assert [message.data for message in stored] == [b"unreadable"] * 2


@pytest.mark.parametrize("data", [b"readable", b""])
async def test_a_control_that_differs_from_the_stored_one_stays(bus: MemoryBus, data: bytes) -> None:
    stored = await refused(bus, subjects.control(RUN), b"unreadable")
    letter = await forged(bus, stored.subject, data, stream=streams.RUNS, sequence=stored.sequence)
    with pytest.raises(InvalidError):
        await redrive(bus, letter)
    assert len(await bus.read(streams.RUNS, subjects.control(RUN))) == 1


async def test_a_control_of_another_run_stays(bus: MemoryBus) -> None:
    stored = await refused(bus, subjects.control(RUN), b"unreadable")
    other = subjects.control("b" * 32)
    with pytest.raises(InvalidError):
        await redrive(bus, await forged(bus, other, stored.data, stream=streams.RUNS, sequence=stored.sequence))
    assert await bus.read(streams.RUNS, other) == []


async def test_a_handoff_stays_and_the_reason_says_how_to_ask_again(bus: MemoryBus) -> None:
    letter = await refused(bus, HANDOFF, b"{}")
    with pytest.raises(InvalidError) as refusal:
        await redrive(bus, letter)
    (fault,) = refusal.value.faults
    assert f"handoff show {RUN[:8]}" in fault
    assert "handoff ask" in fault
    assert len(await bus.read(streams.RUNS, HANDOFF)) == 1


async def test_a_stream_that_does_not_answer_ends_the_wait(bus: MemoryBus, monkeypatch: pytest.MonkeyPatch) -> None:
    letter = await forged(bus, "handoff.request.default", stream=streams.REQUESTS)
    monkeypatch.setattr("actors.dead_letter.PUBLISH_S", 0.05)

    async def publish(*_: object, **__: object) -> int:
        await asyncio.Event().wait()
        return 1

    monkeypatch.setattr(bus, "publish", publish)
    with pytest.raises(BusError):
        await redrive(bus, letter)


@pytest.mark.parametrize("number", ["many", "-1", "1.5", "\u0663", pytest.param("9" * 5000, id="long")])
async def test_a_letter_with_unreadable_numbers_hides_no_other_letter(bus: MemoryBus, number: str) -> None:
    headers = {SUBJECT: "handoff.request.default", STREAM: streams.REQUESTS, SEQUENCE: number, DELIVERIES: number}
    await bus.publish(subjects.dead(streams.REQUESTS), b"{}", headers=headers)
    await forged(bus, "handoff.request.default", stream=streams.REQUESTS, sequence=7)
    assert [(letter.sequence, letter.deliveries) for letter in await dead_letters(bus)] == [(0, 0), (7, 0)]
