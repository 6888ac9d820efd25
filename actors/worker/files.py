"""Files of a task that the model reads itself: images and PDFs among the artifacts of its handoff.

In a stored conversation a block of type `artifact` stands for the file, with its digest; the bytes take its place right
before a call. So a Step stays small, and every worker that takes the task over sends the same bytes.
"""

import base64
import hashlib
from collections.abc import Sequence

import msgspec

from actors.bus.port import Bus
from actors.model.port import Block, Call, Turn
from actors.model.profiles import Profile
from actors.worker.file_tokens import FILE, PDF, tokens_of_file
from protocol.errors import ArtifactError
from protocol.messages import Artifact

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MOST_REQUEST_BYTES = 32_000_000
"""The provider refuses a request of more than 32 MB."""
ENVELOPE_BYTES = 64_000
"""Room for the JSON around the content of a request."""


def is_file(artifact: Artifact) -> bool:
    """True for an artifact that a model could read as a file."""
    return artifact.media_type in IMAGES or artifact.media_type == PDF


def can_read(profile: Profile, artifact: Artifact) -> bool:
    """True if the model takes files of this kind."""
    return profile.pdfs if artifact.media_type == PDF else profile.images


class Files:
    """Reads the files of one task from the object store, each once."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._encoded: dict[str, str] = {}

    async def blocks(self, artifacts: Sequence[Artifact]) -> list[Block]:
        """The blocks that stand for these files in a stored conversation; ArtifactError if they cannot be sent."""
        _check_size(sum(_encoded_size(one.size) for one in artifacts))
        return [await self._block(one) for one in artifacts]

    async def resolved(self, call: Call) -> Call:
        """The call with the files in place of the blocks that stand for them."""
        if not any(_is_reference(block) for turn in call.turns for block in _blocks(turn)):
            return call
        turns = [await self._resolved(turn) for turn in call.turns]
        text = len(msgspec.json.encode([turn.content for turn in call.turns])) + len(call.system)
        sent = [str(block["digest"]) for turn in call.turns for block in _blocks(turn) if _is_reference(block)]
        _check_size(text + sum(len(self._encoded[digest]) for digest in sent))
        return msgspec.structs.replace(call, turns=turns)

    async def _block(self, artifact: Artifact) -> Block:
        data = await self._read(artifact.name, artifact.digest)
        return {
            "type": FILE,
            "name": artifact.name,
            "digest": artifact.digest,
            "media_type": artifact.media_type,
            "size": len(data),
            "tokens": tokens_of_file(data, artifact.media_type),
        }

    async def _resolved(self, turn: Turn) -> Turn:
        if isinstance(turn.content, str):
            return turn
        content = [await self._sent(block) if _is_reference(block) else block for block in turn.content]
        return Turn(role=turn.role, content=content)

    async def _sent(self, block: Block) -> Block:
        """The block of the request."""
        name, digest, media_type = str(block["name"]), str(block["digest"]), block["media_type"]
        if digest not in self._encoded:
            await self._read(name, digest)
        source = {"type": "base64", "media_type": media_type, "data": self._encoded[digest]}
        if media_type in IMAGES:
            return {"type": "image", "source": source}
        return {"type": "document", "source": source, "title": name, "citations": {"enabled": True}}

    async def _read(self, name: str, digest: str) -> bytes:
        data = await self._bus.get_artifact(name)
        if data is None:
            raise ArtifactError("artifact", f"The file {name} is no longer stored, so the model cannot read it.")
        found = "SHA-256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
        if found != digest:
            raise ArtifactError(
                "artifact", f"The file {name} was replaced: its digest is {found}, the task names {digest}."
            )
        _check_size(sum(map(len, self._encoded.values())) + _encoded_size(len(data)))
        self._encoded[digest] = base64.b64encode(data).decode()
        return data


def _blocks(turn: Turn) -> list[Block]:
    return [] if isinstance(turn.content, str) else turn.content


def _is_reference(block: Block) -> bool:
    return block.get("type") == FILE


def _encoded_size(size: int) -> int:
    return -(-size // 3) * 4


def _check_size(size: int) -> None:
    if size > MOST_REQUEST_BYTES - ENVELOPE_BYTES:
        raise ArtifactError(
            "request_too_large",
            f"The files and texts of the task make a request of {size / 1e6:.1f} MB; the model takes at most "
            f"{MOST_REQUEST_BYTES / 1e6:.0f} MB. Send fewer or smaller files; a file grows by a third on its way.",
        )
