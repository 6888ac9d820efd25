"""What an agent does next: a pure function of the Steps of its task.

A worker that takes a task over continues exactly where the last one stopped: the conversation is rebuilt from stored
bytes only, a stored turn of the model is never asked for again, and a stored tool call is never made again.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from actors.model.port import Block, Reply, Turn, is_server_block
from actors.worker.takings import losses_since_progress
from protocol.messages import Usage
from protocol.steps import Begun, ContextCut, CutResult, ModelCalled, Step, ToolCalled

_blocks = msgspec.json.Decoder(list[Block])
_content = msgspec.json.Decoder(str | list[Block])

GO_ON = "Go on exactly where you stopped."
WRITE_TEXT = "Your last reply holds no text. Write your result as text now."
MAX_LOSSES = 2
"""A tool call during which the worker was lost this often is not made again."""
MAX_EMPTY = 2
"""After this many replies in a row without text and tool calls, the next one ends the task."""
CUT_OFF = "not run: this call was cut off before its end. Make it again, with less in it or in several calls."
NO_OUTPUT = "(no output)"
EMPTY = "empty"
"""The end of a task whose model replies with thinking only, again and again."""
_FINAL = frozenset({"refusal", "model_context_window_exceeded"})
"""Why the model stopped for good, whatever else is in the turn."""
_THINKING = frozenset({"thinking", "redacted_thinking"})


class AskModel(msgspec.Struct, frozen=True):
    """Send these turns to the model. `empty` is how many replies in a row held neither text nor a tool call."""

    turns: list[Turn]
    empty: int = 0


class CallTools(msgspec.Struct, frozen=True):
    """Make these tool calls (blocks of type tool_use). The one whose id is `cut_off` is incomplete."""

    uses: list[Block]
    cut_off: str = ""


class Done(msgspec.Struct, frozen=True):
    """The model has given its last text."""

    text: str
    stop_reason: str | None


Move = AskModel | CallTools | Done


def beginning(steps: Sequence[Step]) -> Begun | None:
    """The stored beginning of the conversation, if there is one yet."""
    return next((step for step in steps if isinstance(step, Begun)), None)


def next_move(begun: Begun, steps: Sequence[Step]) -> Move:
    """What is to be done after these steps."""
    turns = [Turn(role="user", content=_content.decode(begun.prompt))]
    texts: list[str] = []
    cuts, stripped = _cuts(steps), _stripped(steps)
    number = empty = 0
    for at, step in enumerate(steps):
        if not isinstance(step, ModelCalled):
            continue
        number += 1
        reply, results = reply_of(step), _results(steps, at)
        if step.stop_reason in _FINAL:
            return Done("".join([*texts, reply.text]), step.stop_reason)
        if content := _sendable(reply, without_thinking=number in stripped):
            turns.append(Turn(role="assistant", content=content))
        if missing := [use for use in reply.tool_uses if use["id"] not in results]:
            # After a loss one at a time, so that it shows which of them it is that the worker does not survive.
            return CallTools(missing[:1] if losses_since_progress(steps) else missing, _cut_off(reply))
        empty = empty + 1 if _is_empty(reply) else 0
        if reply.tool_uses:
            blocks = [_result_block(results[use["id"]], cuts.get((number, use["id"]))) for use in reply.tool_uses]
            turns.append(Turn(role="user", content=blocks))
            texts.clear()
        elif empty > MAX_EMPTY:
            return Done("".join(texts), EMPTY)
        elif step.stop_reason in ("max_tokens", "pause_turn") or empty:
            texts.append(reply.text)
            if then := step.then or _then_of_old(reply):
                turns.append(Turn(role="user", content=then))
        else:
            return Done("".join([*texts, reply.text]), step.stop_reason)
    return AskModel(turns, empty)


def follow_up(reply: Reply) -> str:
    """The user message that the worker adds behind a reply; it is stored with the reply. Empty if it adds none."""
    if reply.tool_uses or reply.stop_reason in _FINAL | {"pause_turn"}:
        return ""
    if reply.stop_reason == "max_tokens":
        # After a reply of thinking only the same is asked again, with more room: there is nothing to go on from.
        return GO_ON if _sendable(reply) else ""
    return WRITE_TEXT if _is_empty(reply) else ""


def _is_empty(reply: Reply) -> bool:
    """True for a reply of thinking only, or of nothing."""
    return not reply.tool_uses and not reply.text.strip() and reply.stop_reason != "pause_turn"


def _then_of_old(reply: Reply) -> str:
    """The same for Steps of versions that did not store it."""
    return GO_ON if reply.stop_reason == "max_tokens" and reply.text.strip() else ""


def _sendable(reply: Reply, *, without_thinking: bool = False) -> list[Block]:
    """A turn of the model as it may be sent back: the provider refuses one that ends in thinking, or holds nothing.

    It also refuses a call of one of its own tools without the result, which a turn lacks that ran out of tokens.
    """
    content = reply.content
    if reply.stop_reason == "max_tokens":
        answered = {block.get("tool_use_id") for block in content if is_server_block(block)}
        content = [one for one in content if one.get("type") != "server_tool_use" or one.get("id") in answered]
    if without_thinking:
        return [block for block in content if block.get("type") not in _THINKING]
    end = len(content)
    while end and content[end - 1].get("type") in _THINKING:
        end -= 1
    return content[:end]


def _cuts(steps: Sequence[Step]) -> dict[tuple[int, str], CutResult]:
    """The shortest cut of each tool result that was cut, by turn and call."""
    found: dict[tuple[int, str], CutResult] = {}
    for step in steps:
        if isinstance(step, ContextCut):
            for cut in step.results:
                earlier = found.get((cut.turn, cut.call), cut)
                found[cut.turn, cut.call] = cut if cut.keep <= earlier.keep else earlier
    return found


def _stripped(steps: Sequence[Step]) -> set[int]:
    """The turns of the model whose thinking is bound to text that was cut afterwards."""
    found: set[int] = set()
    number = 0
    for step in steps:
        number += isinstance(step, ModelCalled)
        if isinstance(step, ContextCut) and step.results:
            found.update(range(min(cut.turn for cut in step.results) + 1, number + 1))
    return found


def _results(steps: Sequence[Step], at: int) -> dict[str, ToolCalled]:
    """The tool calls that answer one turn: those before the next. Some servers use an id again in a later turn."""
    found: dict[str, ToolCalled] = {}
    for step in steps[at + 1 :]:
        if isinstance(step, ModelCalled):
            break
        if isinstance(step, ToolCalled):
            found[step.call] = step
    return found


def call_place(steps: Sequence[Step], call: str) -> tuple[int, int]:
    """Which turn of the model makes this call, and which of the calls in it it is; both from 1.

    It is the same after any number of losses: what follows a turn does not change the turn.
    """
    last = next(step for step in reversed(steps) if isinstance(step, ModelCalled))
    calls = [use["id"] for use in reply_of(last).tool_uses]
    return turns_taken(steps), calls.index(call) + 1


def arguments_of(use: Block) -> Any:
    """The arguments of a call, not checked yet: a model may send anything, not only an object."""
    given = use.get("input")
    return {} if given is None else given


def _cut_off(reply: Reply) -> str:
    """The last call of a turn that ran out of tokens: half of its arguments may be missing, so it is not made."""
    last = reply.content[-1] if reply.content else {}
    return str(last["id"]) if reply.stop_reason == "max_tokens" and last.get("type") == "tool_use" else ""


def reply_of(step: ModelCalled) -> Reply:
    """The turn of the model that a step keeps."""
    return Reply(model=step.model, content=_blocks.decode(step.content), stop_reason=step.stop_reason, usage=step.usage)


def spent(steps: Sequence[Step]) -> Usage:
    """What these steps cost."""
    total = Usage()
    for step in steps:
        if isinstance(step, ModelCalled):
            total += step.usage
        elif isinstance(step, ToolCalled):
            total += Usage(tool_calls=1, seconds=step.seconds)
    return total


def container_at(steps: Sequence[Step], now: float) -> str:
    """The container of the provider in which code of this task ran last, while it exists; else empty."""
    called = [step for step in steps if isinstance(step, ModelCalled) and step.container]
    return called[-1].container if called and called[-1].container_expires > now else ""


def last_usage(steps: Sequence[Step]) -> Usage:
    """What the last call of the model used; nothing if there was none."""
    return next((step.usage for step in reversed(steps) if isinstance(step, ModelCalled)), Usage())


def last_words(steps: Sequence[Step]) -> str:
    """The last text of the model: all there is of a task that was broken off."""
    texts = [reply_of(step).text for step in steps if isinstance(step, ModelCalled)]
    return next((text for text in reversed(texts) if text.strip()), "")


def turns_taken(steps: Sequence[Step]) -> int:
    """How often the model has been asked."""
    return sum(isinstance(step, ModelCalled) for step in steps)


def cut_note(keep: int, size: int) -> str:
    """The line behind a tool result that was cut. It is stored with the cut, and replayed as it was stored."""
    return f"[the first {keep:,} of {size:,} characters]"


def _result_block(step: ToolCalled, cut: CutResult | None) -> Block:
    output = step.output or NO_OUTPUT
    if cut is not None and cut.keep < len(output):
        output = f"{output[: cut.keep]}\n{cut.note or cut_note(cut.keep, len(output))}"
    block: Block = {"type": "tool_result", "tool_use_id": step.call, "content": output}
    return block | {"is_error": True} if step.failed else block
