"""The context of the model: what is asked must fit into it. What has to give way is the oldest of what tools gave.

The steps keep everything; only what the model reads again is shortened, and the same way after a change of hands.
"""

from collections.abc import Awaitable, Callable

import msgspec

from actors.model.port import Block, Call, Turn
from actors.worker.allowance import CHARACTERS_A_TOKEN, asked_tokens

NEAR = 0.5
"""Text in some languages has twice as many tokens as the estimate says."""
TARGETS = (0.8, 0.6, 0.4)
"""How much of the room is used after shortening; less than all, so that the next turns fit as well."""
HEAD = 200


async def fitted(call: Call, limit: int, count: Callable[[Call], Awaitable[int]]) -> Call | None:
    """The call, shortened if its context does not hold it; None if no shortening helps. Counts only when it is near."""
    room = limit - min(call.max_tokens, limit // 2)
    if asked_tokens(call) <= room * NEAR:
        return call
    tokens = await count(call)
    if tokens <= room:
        return call
    for target in TARGETS:
        shorter = shortened(call, 1 - room * target / tokens)
        if shorter != call and await count(shorter) <= room:
            return shorter
    return None


def shortened(call: Call, part: float) -> Call:
    """The call without that part of its text: the oldest tool results go first, those of the last turn last."""
    excess = int(asked_tokens(call) * CHARACTERS_A_TOKEN * part) + 1
    turns = list(call.turns)
    for at, turn in enumerate(turns[:-1]):
        turns[at], saved = _heads(turn, excess)
        excess -= saved
    if excess > 0 and turns:
        turns[-1] = _trimmed(turns[-1], excess)
    return msgspec.structs.replace(call, turns=turns)


def _heads(turn: Turn, excess: int) -> tuple[Turn, int]:
    """The turn with only the heads of its tool results, as many as need be, and what that saved."""
    saved = 0
    blocks: list[Block] = []
    for block in _blocks(turn):
        text = _result(block)
        if saved < excess and len(text) > 2 * HEAD:
            head = _cut(text, HEAD)
            saved += len(text) - len(head)
            blocks.append(block | {"content": head})
        else:
            blocks.append(block)
    return (Turn(role=turn.role, content=blocks) if saved else turn), saved


def _trimmed(turn: Turn, excess: int) -> Turn:
    """The turn with every tool result shorter by the same part: the model has not read them yet."""
    total = sum(len(_result(block)) for block in _blocks(turn))
    if not total:
        return turn
    kept = max(0.0, 1 - excess / total)
    blocks = [
        block | {"content": _cut(text, max(HEAD, int(len(text) * kept)))}
        if len(text := _result(block)) > 2 * HEAD
        else block
        for block in _blocks(turn)
    ]
    return Turn(role=turn.role, content=blocks)


def _blocks(turn: Turn) -> list[Block]:
    return [] if isinstance(turn.content, str) else turn.content


def _result(block: Block) -> str:
    """The text of a tool result; empty for any other block."""
    content = block.get("content") if block.get("type") == "tool_result" else ""
    return content if isinstance(content, str) else ""


def _cut(text: str, length: int) -> str:
    note = f"the first {length:,} of {len(text):,} characters; call the tool again for the rest"
    return f"{text[:length]}\n[shortened to fit the context: {note}]"
