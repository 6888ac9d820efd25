"""Reading: what the synthesizer is given, in portions where the results outgrow what one reading can hold.

Results that are too much are condensed in rounds: each portion becomes a shorter text, and these are the results of the
next round. The order is that of the plan, so that it does not matter in which order results arrived.
"""

import hashlib

import msgspec

from actors.run.answer import completed
from actors.run.state import RunState
from protocol.messages import Result

ROUNDS = 4


def to_read(state: RunState) -> list[Result]:
    """What the synthesizer reads: the results, or what they were condensed to."""
    results = completed(state)
    for _ in range(ROUNDS):
        groups = _groups(results, state.limits.reading)
        if len(groups) < 2 or _due(state, groups):
            return results
        results = [_condensed(state, group) for group in groups]
    return results


def portions(state: RunState) -> list[tuple[str, tuple[Result, ...]]]:
    """What is still to be condensed before one reading can hold it all; empty if nothing is."""
    results = to_read(state)
    groups = _groups(results, state.limits.reading)
    if len(groups) < 2:
        return []
    return [(_key(group), tuple(group)) for group in _due(state, groups)]


def _due(state: RunState, groups: list[list[Result]]) -> list[list[Result]]:
    """Those that would gain by being made shorter, and were not yet."""
    return [
        group for group in groups if (len(group) > 1 or _big(state, group)) and _key(group) not in state.texts.condensed
    ]


def _groups(results: list[Result], limit: int) -> list[list[Result]]:
    """Neighbours together, as many as fit."""
    groups: list[list[Result]] = []
    size = 0
    for result in results:
        if not groups or size + len(result.output) > limit:
            groups.append([])
            size = 0
        groups[-1].append(result)
        size += len(result.output)
    return groups


def _big(state: RunState, group: list[Result]) -> bool:
    return sum(len(result.output) for result in group) > state.limits.reading // 2


def _key(group: list[Result]) -> str:
    text = "\x00".join(f"{result.task}\x01{result.output}" for result in group)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _condensed(state: RunState, group: list[Result]) -> Result:
    key = _key(group)
    if key not in state.texts.condensed:
        return group[0]
    names = "+".join(result.task for result in group)
    return msgspec.structs.replace(group[0], task=names, output=state.texts.condensed[key])
