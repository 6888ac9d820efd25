"""Dead letters: what was refused, kept whole, with the reason in its headers."""

import msgspec

from actors.bus.port import Bus, Stored
from observability import live, names
from observability.redaction import redacted
from protocol import streams, subjects
from protocol.errors import BusError

REASON = "Handoff-Reason"
SUBJECT = "Handoff-Subject"
STREAM = "Handoff-Stream"
SEQUENCE = "Handoff-Sequence"
REFUSED_BY = "Handoff-Refused-By"
DELIVERIES = "Handoff-Deliveries"
ARTIFACT = "Handoff-Artifact"

LARGEST = 1024 * 1024 - 16 * 1024
"""Beyond this the headers may push the letter over what a server takes: the body becomes an artifact."""


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
    """Put a dead letter back where it came from, and take it out of the dead letters."""
    if not letter.subject:
        raise BusError(f"dead letter {letter.number} does not say where it came from")
    await bus.publish(letter.subject, letter.data, headers={"Handoff-Redriven": str(letter.number)})
    await bus.delete(streams.DEAD, letter.number)


def _read(stored: Stored) -> DeadLetter:
    headers = stored.headers
    return DeadLetter(
        number=stored.seq,
        time=stored.time,
        reason=headers.get(REASON, ""),
        subject=headers.get(SUBJECT, ""),
        stream=headers.get(STREAM, ""),
        sequence=int(headers.get(SEQUENCE) or 0),
        refused_by=headers.get(REFUSED_BY, ""),
        deliveries=int(headers.get(DELIVERIES) or 0),
        artifact=headers.get(ARTIFACT, ""),
        data=stored.data,
    )
