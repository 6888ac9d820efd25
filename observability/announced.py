"""Announced calls: the ids of calls to a model that are about to be made, known before the SDK makes their spans."""

from contextvars import ContextVar
from typing import NamedTuple

from observability import span_ids


class Renamed(NamedTuple):
    """A call below `parent` that goes by another id from now on."""

    parent: str
    old: str
    new: str


class Calls:
    """Calls under one span, in one turn of a task or one epoch of a run; the record numbers them alike.

    A call that is made again because it failed is a span of its own, which the record does not have: the last one
    counts, and has the id that the record gives it.
    """

    __slots__ = ("_is_out", "_made", "_parent", "_turn", "_vain")

    def __init__(self, parent: str, turn: int) -> None:
        self._parent = parent
        self._turn = turn
        self._made = 0
        self._vain = 0
        self._is_out = False

    def next_id(self) -> str:
        """The id of the next call."""
        self._made += 1
        self._is_out = True
        return span_ids.chat(self._parent, self._turn, self._made - 1)

    def again(self) -> Renamed | None:
        """The last call was in vain, and the next one takes its place; None if there was none."""
        if not self._is_out:
            return None
        self._is_out = False
        self._made -= 1
        self._vain += 1
        old = span_ids.chat(self._parent, self._turn, self._made)
        return Renamed(self._parent, old, span_ids.vain_chat(self._parent, self._turn, self._made, self._vain))


announced: ContextVar[Calls | None] = ContextVar("announced", default=None)
