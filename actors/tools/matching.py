"""Matching: which of the names a tool knows, or of the texts it has, a sentence speaks of.

A model may give a tool a name, a few words or its whole task; all of them should lead to the same thing.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

SHORTEST_OWN = 4
"""A part of a name that is shorter than this, such as a number, does not stand for the whole name."""

_WORD = re.compile(r"[^\W_]+")
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e|y|ies)$")
_FILLERS = (
    " a about after all also an and any are as at be been by can did do does each every find for from give had has have"
    " how i if in into is it its long make me more most much my name new no not of on or our out over per please say"
    " short should show so tell than that the their them then there these they this those to two under up us was we"
    " were what when where which who why will with work would you your "
)


def words(text: str) -> list[str]:
    """The words of a text that carry meaning, in lower case and without their endings."""
    return [_ENDING.sub("", word) for word in map(str.lower, _WORD.findall(text)) if f" {word} " not in _FILLERS]


def mentioned(text: str, names: Iterable[str]) -> list[str]:
    """The names a text speaks of, in the order given: by all their words, or by a word that no other name has."""
    parts = {name: set(words(name)) for name in names}
    owners = Counter(word for own in parts.values() for word in own)
    said = set(words(text))
    return [name for name, own in parts.items() if own and (own <= said or _by_own_word(own & said, owners))]


def nearest(text: str, among: Sequence[T], says: Callable[[T], str], limit: int = 5) -> list[T]:
    """What shares most with a text, the best first; a word that few of them have counts more."""
    parts = [set(words(says(one))) for one in among]
    owners = Counter(word for own in parts for word in own)
    said = set(words(text))
    scored = [(sum(1 / owners[word] for word in own & said), -at) for at, own in enumerate(parts)]
    return [among[-at] for score, at in sorted(scored, reverse=True)[:limit] if score]


def _by_own_word(shared: set[str], owners: Counter[str]) -> bool:
    return any(owners[word] == 1 and len(word) >= SHORTEST_OWN and not word.isdigit() for word in shared)
