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


class OfferedTool(Message, frozen=True, kw_only=True):
    """A tool as the model was offered it; `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: msgspec.Raw


class Begun(Message, frozen=True, kw_only=True, tag="begun", tag_field="type"):
    """The beginning of a conversation with a model: everything that stands before its first turn.

    A worker that takes the task over sends these bytes, whatever its own prompts and tools are: a model refuses its own
    earlier thinking behind a changed beginning. `prompt` is the content of the first user message. `server_tools` are
    the tools that run at the provider, each as the request offers it.
    """

    system: str
    prompt: msgspec.Raw
    tools: tuple[OfferedTool, ...] = ()
    model: str = ""
    effort: str = ""
    system_digest: str = ""
    tools_digest: str = ""
    server_tools: tuple[msgspec.Raw, ...] = ()


class ModelCalled(Message, frozen=True, kw_only=True, tag="model_called", tag_field="type"):
    """One turn of the model, its content exactly as the provider gave it. `asked` is the name it was asked by.

    `then` is the user message that the worker adds behind this turn, such as a request to go on; empty if it adds none.
    `container` names where code of the model ran at the provider; until `container_expires`, a Unix time, the next call
    names it again.
    """

    model: str
    content: msgspec.Raw
    stop_reason: str | None
    usage: Usage = Usage()
    asked: str = ""
    then: str = ""
    container: str = ""
    container_expires: float = 0.0


class ToolCalled(Message, frozen=True, kw_only=True, tag="tool_called", tag_field="type"):
    """One call of a tool, answering the `call` of the same id in the turn before; `artifact` is its whole output."""

    call: str
    tool: str
    output: str
    failed: bool = False
    seconds: float = 0.0
    artifact: Artifact | None = None


class CutResult(Message, frozen=True, kw_only=True):
    """A tool result of which the model reads only the first `keep` characters from now on.

    `turn` is the number, from 1, of the model's turn that made the `call`. The model reads the line `note` behind
    these characters.
    """

    turn: int
    call: str
    keep: int
    note: str = ""


class ContextCut(Message, frozen=True, kw_only=True, tag="context_cut", tag_field="type"):
    """The conversation outgrew the context of the model: these tool results are cut.

    Thinking that the model did after the first of them, up to this Step, is no longer sent: it is bound to the whole
    text.
    """

    results: tuple[CutResult, ...]


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


Step = Taken | GivenBack | Begun | ModelCalled | ToolCalled | ContextCut | ConfirmAsked | Confirmed
