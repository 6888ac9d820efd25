"""Steps: what a worker did inside one task, so that another instance can go on from there."""

import msgspec

from protocol.messages import Artifact, Message, Usage


class Taken(Message, frozen=True, kw_only=True, tag="taken", tag_field="type"):
    """An instance took a handoff that had been given out before; earlier holders are out."""

    instance: str
    delivery: int = 0


class GivenBack(Message, frozen=True, kw_only=True, tag="given_back", tag_field="type"):
    """The instance that has the task gives it back on purpose; the next `taken` does not count as a loss."""

    instance: str
    reason: str = ""


class ModelCalled(Message, frozen=True, kw_only=True, tag="model_called", tag_field="type"):
    """One turn of the model, its content exactly as the provider gave it. `asked` is the name it was asked by."""

    model: str
    content: msgspec.Raw
    stop_reason: str | None
    usage: Usage = Usage()
    asked: str = ""


class ToolCalled(Message, frozen=True, kw_only=True, tag="tool_called", tag_field="type"):
    """One call of a tool, answering the `call` of the same id in the turn before; `artifact` is its whole output."""

    call: str
    tool: str
    output: str
    failed: bool = False
    seconds: float = 0.0
    artifact: Artifact | None = None


class ConfirmAsked(Message, frozen=True, kw_only=True, tag="confirm_asked", tag_field="type"):
    """A call of a tool waits for a person until `deadline` (a Unix time); it would run with exactly these arguments."""

    call: str
    tool: str
    arguments: msgspec.Raw
    deadline: float


class Confirmed(Message, frozen=True, kw_only=True, tag="confirmed", tag_field="type"):
    """What became of the question: whether the call may run, who said so, and why not. Nobody said so if it expired."""

    call: str
    tool: str
    granted: bool
    by: str = ""
    comment: str = ""


Step = Taken | GivenBack | ModelCalled | ToolCalled | ConfirmAsked | Confirmed
