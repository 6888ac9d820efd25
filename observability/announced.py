"""Announced calls: the ids of calls to a model that are about to be made, known before the SDK makes their spans."""

from contextvars import ContextVar

from observability import span_ids


class Calls:
    """Calls under one span, in one turn of a task or one epoch of a run; the record numbers them alike."""

    __slots__ = ("_made", "_parent", "_turn")

    def __init__(self, parent: str, turn: int) -> None:
        self._parent = parent
        self._turn = turn
        self._made = 0

    def next_id(self) -> str:
        """The id of the next call. One that is made again because it failed is another span."""
        self._made += 1
        return span_ids.chat(self._parent, self._turn, self._made - 1)


announced: ContextVar[Calls | None] = ContextVar("announced", default=None)
