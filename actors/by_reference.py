"""Events and Steps that are too big for a message: kept as artifacts, with a reference in their place.

The name of the artifact contains the digest of its content. So two processes that write under one name write the same,
and a process that has lost its task cannot replace what its successor refers to.
"""

import asyncio
import base64
import hashlib
from collections.abc import Iterable

import msgspec

from actors.bus.port import Bus, Stored
from observability.logger import get_logger
from protocol import codec, subjects
from protocol.errors import BusError, DeniedError, TooLargeError
from protocol.events import Event, Finished
from protocol.messages import Artifact
from protocol.references import ByReference
from protocol.steps import Step

TRIES = 10
PAUSE_S = 1.0

log = get_logger()


async def send(bus: Bus, subject: str, message: Event | Step, expect: int) -> "asyncio.Future[int]":
    """Hand an Event or Step to the bus by compare-and-set, by reference if it is too big for a message.

    `finished` is never sent by reference: TooLargeError. Its reader must find the answer in the log itself.
    """
    data = codec.encode(message)
    try:
        return await bus.send(subject, data, expect=expect)
    except TooLargeError:
        if isinstance(message, Finished):
            raise
    name = f"{subjects.artifact_prefix(subject)}.{hashlib.sha256(data).hexdigest()[:32]}"
    digest = await _keep(bus, name, data)
    artifact = Artifact(name=name, digest=digest, size=len(data), media_type="application/json")
    reference = ByReference(of=str(message.__struct_config__.tag), artifact=artifact)
    return await bus.send(subject, codec.encode(reference), expect=expect)


async def whole(bus: Bus, stored: Iterable[Stored]) -> list[Stored]:
    """The messages, with the Events and Steps that were sent by reference in place of their references.

    A reference whose artifact is missing or has other content stays as it is: its type is unknown to every decoder.
    """
    return [await _loaded(bus, one, reference) if (reference := _reference(one)) else one for one in stored]


def _reference(stored: Stored) -> ByReference | None:
    return codec.decode_reference(stored.data) if subjects.kind_of(stored.subject) in ("log", "step") else None


async def _loaded(bus: Bus, stored: Stored, reference: ByReference) -> Stored:
    artifact = reference.artifact
    data = await bus.get_artifact(artifact.name)
    if data is None or _digest(data) != artifact.digest:
        log.error("artifact.missing", name=artifact.name, subject=stored.subject, seq=stored.seq)
        return stored
    return msgspec.structs.replace(stored, data=data)


async def _keep(bus: Bus, name: str, data: bytes) -> str:
    """Store the artifact; a model call was paid for it, so a store that is away for a moment is tried again."""
    for left in reversed(range(TRIES)):
        try:
            return await bus.put_artifact(name, data)
        except (DeniedError, TooLargeError):
            raise
        except BusError as error:
            if not left:
                raise
            log.warning("artifact.not_stored", name=name, tries_left=left, error=str(error))
            await asyncio.sleep(PAUSE_S)
    raise AssertionError("the last try returns or raises")


def _digest(data: bytes) -> str:
    return "SHA-256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
