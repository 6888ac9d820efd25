"""Artifacts: what is too big for a message, kept in the object store and passed by reference."""

import msgspec

from actors.bus.port import Bus
from protocol.messages import Answer, Artifact


async def keep_text(bus: Bus, name: str, text: str, room: int) -> tuple[str, Artifact]:
    """Keep a long text whole under a name; returns what of it fits into `room` bytes of JSON, and the reference."""
    data = text.encode()
    digest = await bus.put_artifact(name, data)
    note = f"\n\n[cut off here: the whole text, {len(data):,} bytes, is the artifact {name}, {digest}]"
    head = data[: max(0, room // 2 - len(note))].decode(errors="ignore")
    return head + note, Artifact(name=name, digest=digest, size=len(data))


async def whole_answer(bus: Bus, answer: Answer) -> Answer:
    """The answer with its text brought back whole where it was too long for a message."""
    name = f"{answer.run}.answer"
    if any(artifact.name == name for artifact in answer.artifacts):
        data = await bus.get_artifact(name)
        if data is not None:
            return msgspec.structs.replace(answer, text=data.decode(errors="replace"))
    return answer
