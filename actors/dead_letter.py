"""Dead letters: what was refused, kept whole, with the reason in its headers."""

import asyncio

import msgspec

from actors.bus.port import Bus, Stored
from observability import live, names
from observability.redaction import redacted
from protocol import streams, subjects
from protocol.errors import BusError, InvalidError

REASON = "Handoff-Reason"
SUBJECT = "Handoff-Subject"
STREAM = "Handoff-Stream"
SEQUENCE = "Handoff-Sequence"
REFUSED_BY = "Handoff-Refused-By"
DELIVERIES = "Handoff-Deliveries"
ARTIFACT = "Handoff-Artifact"

LARGEST = 1024 * 1024 - 16 * 1024
"""Beyond this the headers may push the letter over what a server takes: the body becomes an artifact."""

MOST_DIGITS = 19
"""Longer numbers are none of the server's sequences, which have 64 bits."""

PUBLISH_S = 10.0
"""How long a redrive waits for the stream to store the message."""


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True):
    """A refused message. `number` is its place among the dead letters."""

    number: int
    time: float
    reason: str
    subject: str
    stream: str
    sequence: int
    refused_by: str
    deliveries: int
    artifact: str
    data: bytes


class Refusal(msgspec.Struct, frozen=True):
    """Why a message of a stream was refused, by whom, and after how many deliveries."""

    stream: str
    reason: str
    by: str = ""
    deliveries: int = 1


async def bury(bus: Bus, message: Stored, refusal: Refusal) -> None:
    """Keep a refused message; returns once it is stored."""
    stream, artifact, body = refusal.stream, "", message.data
    if len(body) > LARGEST:
        artifact, body = f"dead-{stream}-{message.seq}", b""
        await bus.put_artifact(artifact, message.data)
    headers = {
        "Nats-Msg-Id": f"dead-{stream}-{message.seq}-{message.time_ns}",
        REASON: redacted(" ".join(refusal.reason.split()))[:2000],
        SUBJECT: message.subject,
        STREAM: stream,
        SEQUENCE: str(message.seq),
        REFUSED_BY: refusal.by,
        DELIVERIES: str(refusal.deliveries),
        ARTIFACT: artifact,
    }
    await bus.publish(subjects.dead(stream), body, headers=headers)
    live.count(names.DEAD_LETTERS[0], **{names.STREAM: stream})


async def dead_letters(bus: Bus) -> list[DeadLetter]:
    """All dead letters, the oldest first."""
    return [_read(stored) for stored in await bus.read(streams.DEAD, subjects.DEAD)]


async def dead_letter(bus: Bus, number: int) -> DeadLetter | None:
    """One dead letter, its body brought back if it was too big for a message."""
    stored = await bus.get(streams.DEAD, number)
    if stored is None:
        return None
    letter = _read(stored)
    if letter.artifact:
        letter = msgspec.structs.replace(letter, data=await bus.get_artifact(letter.artifact) or b"")
    return letter


async def redrive(bus: Bus, letter: DeadLetter) -> None:
    """Publish a dead letter's message again and delete the letter; InvalidError if it must not be published.

    Anyone who can publish can write a dead letter, so its headers prove nothing: a request goes to the queue of a team
    (its original left the work queue when it was refused), a Control only if the stream holds that very message.
    """
    if fault := await _fault(bus, letter):
        raise InvalidError([f"dead letter {letter.number} {fault}"])
    try:
        async with asyncio.timeout(PUBLISH_S):
            await bus.publish(letter.subject, letter.data, headers={"Handoff-Redriven": str(letter.number)})
    except TimeoutError:
        raise BusError(
            f"no stream stored {letter.subject} within {PUBLISH_S:.0f} s: see `handoff doctor`; "
            f"dead letter {letter.number} is kept"
        ) from None
    await bus.delete(streams.DEAD, letter.number)


async def _fault(bus: Bus, letter: DeadLetter) -> str | None:
    """Why the message must not be published again; None if it may be."""
    if letter.stream == streams.REQUESTS and subjects.is_request(letter.subject):
        return None
    if letter.stream == streams.RUNS and subjects.is_control(letter.subject):
        stored = await bus.get(streams.RUNS, letter.sequence) if letter.sequence > 0 else None
        if stored and (stored.subject, stored.data) == (letter.subject, letter.data):
            return None
        return f"is not the Control that {streams.RUNS} holds at sequence {letter.sequence}: it stays"
    if letter.stream == streams.RUNS and subjects.is_handoff(letter.subject):
        run = subjects.run_of(letter.subject)[:8]
        return (
            "is a Handoff: its task has a stored Result (failed), so it stays. Ask again instead: "
            f"`handoff show {run}` has the request, `handoff ask` takes it"
        )
    return f"came from {letter.subject[:200] or 'an unknown subject'}: only requests and Controls can be put back"


def _read(stored: Stored) -> DeadLetter:
    headers = stored.headers
    return DeadLetter(
        number=stored.seq,
        time=stored.time,
        reason=headers.get(REASON, ""),
        subject=headers.get(SUBJECT, ""),
        stream=headers.get(STREAM, ""),
        sequence=_number(headers.get(SEQUENCE)),
        refused_by=headers.get(REFUSED_BY, ""),
        deliveries=_number(headers.get(DELIVERIES)),
        artifact=headers.get(ARTIFACT, ""),
        data=stored.data,
    )


def _number(header: str | None) -> int:
    """The number in a header, 0 for a header that holds none: anyone may have written it."""
    return int(header) if header and header.isascii() and header.isdecimal() and len(header) <= MOST_DIGITS else 0
