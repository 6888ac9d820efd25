"""What an agent does next: a pure function of the steps it has taken.

So a worker that takes over in the middle goes on exactly where the last one stopped: a stored turn of the model is
never asked for again, and a stored tool call is never made again.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from actors.model.port import Block, Reply, Turn
from actors.worker.takings import losses_since_progress
from protocol.messages import Usage
from protocol.steps import ModelCalled, Step, ToolCalled

_blocks = msgspec.json.Decoder(list[Block])

GO_ON = "Go on exactly where you stopped."
MOST_LOSSES = 2
"""A tool call during which the worker was lost this often is not made again."""
CUT_OFF = "not run: this call was cut off before its end. Make it again, with less in it or in several calls."
_LAST_WORDS = frozenset({"refusal", "model_context_window_exceeded"})
"""Why the model stopped for good, whatever else is in the turn."""


class AskModel(msgspec.Struct, frozen=True):
    """Send these turns to the model."""

    turns: list[Turn]


class CallTools(msgspec.Struct, frozen=True):
    """Make these tool calls (blocks of type tool_use)."""

    uses: list[Block]


class Done(msgspec.Struct, frozen=True):
    """The model has given its last word."""

    text: str
    stop_reason: str | None


Move = AskModel | CallTools | Done


def next_move(prompt: str, steps: Sequence[Step]) -> Move:
    """What is to be done after these steps."""
    turns = [Turn(role="user", content=prompt)]
    said: list[str] = []
    for at, step in enumerate(steps):
        if not isinstance(step, ModelCalled):
            continue
        reply, results = reply_of(step), _results(steps, at)
        if step.stop_reason in _LAST_WORDS:
            return Done("".join([*said, reply.text]), step.stop_reason)
        if reply.content:
            # Nothing at all may not be sent back.
            turns.append(Turn(role="assistant", content=reply.content))
        results |= _cut_off(reply)
        missing = [use for use in reply.tool_uses if use["id"] not in results]
        if missing:
            # After a loss one at a time, so that it shows which of them it is that the worker does not survive.
            return CallTools(missing[:1] if losses_since_progress(steps) else missing)
        if reply.tool_uses:
            turns.append(Turn(role="user", content=[_result_block(results[use["id"]]) for use in reply.tool_uses]))
            said.clear()
        elif step.stop_reason == "max_tokens":
            said.append(reply.text)
            turns.append(Turn(role="user", content=GO_ON))
        elif step.stop_reason == "pause_turn":
            said.append(reply.text)
        else:
            return Done("".join([*said, reply.text]), step.stop_reason)
    return AskModel(turns)


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
    """Which turn of the model asks for this call, and which of the calls in it it is; both from 1.

    It is the same after any number of losses: what follows a turn does not change the turn.
    """
    last = next(step for step in reversed(steps) if isinstance(step, ModelCalled))
    calls = [use["id"] for use in reply_of(last).tool_uses]
    return turns_taken(steps), calls.index(call) + 1


def arguments_of(use: Block) -> Any:
    """What a call was given, checked by nobody yet: a model may send anything, not only an object."""
    given = use.get("input")
    return {} if given is None else given


def _cut_off(reply: Reply) -> dict[str, ToolCalled]:
    """The last call of a turn that ran out of tokens: half of its arguments may be missing, so it is not made."""
    last = reply.content[-1] if reply.content else {}
    if reply.stop_reason != "max_tokens" or last.get("type") != "tool_use":
        return {}
    return {last["id"]: ToolCalled(call=last["id"], tool=last["name"], output=CUT_OFF, failed=True)}


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


def last_words(steps: Sequence[Step]) -> str:
    """The last text of the model: all there is of a task that was broken off."""
    texts = [reply_of(step).text for step in steps if isinstance(step, ModelCalled)]
    return next((text for text in reversed(texts) if text.strip()), "")


def turns_taken(steps: Sequence[Step]) -> int:
    """How often the model has been asked."""
    return sum(isinstance(step, ModelCalled) for step in steps)


def _result_block(step: ToolCalled) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": step.call, "content": step.output or "(no output)"}
    return block | {"is_error": True} if step.failed else block
