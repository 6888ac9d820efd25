"""References: what stands in a stream for a message that is too big for it."""

from protocol.messages import Artifact, Message


class ByReference(Message, frozen=True, kw_only=True, tag="by_reference", tag_field="type"):
    """Stands for an Event or Step that is too big for a message. `of` is its type; the artifact holds its JSON."""

    of: str
    artifact: Artifact
