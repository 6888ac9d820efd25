"""A mutant: one deliberate bug, and the tests that must find it."""

from pathlib import Path

import msgspec


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """A bug that replaces `old`, which occurs exactly once in `file`. `name` says in plain words what goes wrong.

    At least one of `tests` (arguments of pytest, the fastest first) must fail while the bug is there.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


class MutantError(Exception):
    """The text that a mutant replaces is not in its file exactly once: the mutant must be adapted to the code."""


def mutated(mutant: Mutant, root: Path) -> str:
    """The source of the mutant's file with the bug in it."""
    source = (root / mutant.file).read_text()
    found = source.count(mutant.old)
    if found != 1:
        raise MutantError(f"'{mutant.name}': its text occurs {found} times in {mutant.file}, not once")
    return source.replace(mutant.old, mutant.new)
