"""Faults on demand: when something is to go wrong, decided by whoever tests."""

from collections.abc import Callable

from actors.bus.memory.matching import matcher

Chance = Callable[[str], bool]
"""Asked with a subject each time it could happen: shall it go wrong now?"""


def never(_: str) -> bool:
    """Nothing goes wrong."""
    return False


def times(count: int, pattern: str = ">") -> Chance:
    """It goes wrong the first `count` times on a subject that matches."""
    matches = matcher(pattern)
    left = count

    def chance(subject: str) -> bool:
        nonlocal left
        if left <= 0 or not matches(subject):
            return False
        left -= 1
        return True

    return chance
