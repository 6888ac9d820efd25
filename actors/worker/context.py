"""The context of the model: what is sent must fit into it. Tool results give way, the oldest first.

A cut is decided once and stored as a Step before anything is sent, so that every later request of the task, also one of
a worker that takes over, begins with the same bytes.
"""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from actors.model.port import Call
from actors.worker.allowance import asked_tokens, characters_a_token
from actors.worker.moves import cut_note, reply_of
from protocol.steps import ContextCut, CutResult, ModelCalled, Step, ToolCalled

NEAR = 0.5
"""Text in some languages has twice as many tokens as the estimate says."""
TARGETS = (0.8, 0.6, 0.4)
"""How much of the room is used after a cut; less than all, so that the next turns fit as well."""
HEAD = 200
"""How many characters of an old tool result are kept."""

Build = Callable[[Sequence[Step]], Call]
"""Makes the next call of the task from its Steps."""

FITS = ContextCut(results=())


class _ReadResult(msgspec.Struct, frozen=True, kw_only=True):
    """A tool result of `size` characters, of which the model reads `read`."""

    turn: int
    call: str
    size: int
    read: int

    def cut_to(self, keep: int) -> CutResult:
        return CutResult(turn=self.turn, call=self.call, keep=keep, note=cut_note(keep, self.size))


async def cut_to_fit(
    steps: Sequence[Step], build: Build, limit: int, count: Callable[[Call], Awaitable[int]]
) -> ContextCut | None:
    """The cut after which the next call fits: `FITS` if it fits as it is, None if no cut helps.

    The provider is asked to count only near the limit.
    """
    call = build(steps)
    room = limit - min(call.max_tokens, limit // 2)
    if asked_tokens(call) <= room * NEAR:
        return FITS
    tokens = await count(call)
    if tokens <= room:
        return FITS
    for target in TARGETS:
        excess = asked_tokens(call) * characters_a_token(call) * (1 - room * target / tokens)
        cut = ContextCut(results=tuple(_chosen(steps, int(excess) + 1)))
        if cut.results and await count(build([*steps, cut])) <= room:
            return cut
    return None


def _chosen(steps: Sequence[Step], excess: int) -> list[CutResult]:
    """Which tool results lose how much: the heads of old ones stay, those of the last turn are levelled."""
    old, last = _uncut(steps)
    chosen: list[CutResult] = []
    for result in old:
        if excess > 0 and result.read > 2 * HEAD:
            chosen.append(result.cut_to(HEAD))
            excess -= result.read - HEAD
    if excess > 0:
        level = _level([result.read for result in last], excess)
        chosen += [result.cut_to(level) for result in last if result.read > max(level, 2 * HEAD)]
    return chosen


def _level(sizes: Sequence[int], excess: int) -> int:
    """The length to which the longest texts are cut so that together they lose `excess`; at least HEAD."""
    longest = sorted(sizes, reverse=True)
    for number, size in enumerate(longest, 1):
        following = longest[number] if number < len(longest) else 0
        # With the `number` longest cut to the length of the next one, this much is saved.
        if sum(longest[:number]) - number * following >= excess:
            return max(HEAD, (sum(longest[:number]) - excess) // number)
        if size <= HEAD:
            break
    return HEAD


def _uncut(steps: Sequence[Step]) -> tuple[list[_ReadResult], list[_ReadResult]]:
    """The tool results as the model reads them now: those of old turns, and those of the last one."""
    keeps = {(cut.turn, cut.call): cut.keep for step in steps if isinstance(step, ContextCut) for cut in step.results}
    found: list[_ReadResult] = []
    number = 0
    calls: set[str] = set()
    for step in steps:
        if isinstance(step, ModelCalled):
            number += 1
            calls = {use["id"] for use in reply_of(step).tool_uses}
        elif isinstance(step, ToolCalled) and step.call in calls:
            size = len(step.output)
            read = min(size, keeps.get((number, step.call), size))
            found.append(_ReadResult(turn=number, call=step.call, size=size, read=read))
    return [one for one in found if one.turn < number], [one for one in found if one.turn == number]
