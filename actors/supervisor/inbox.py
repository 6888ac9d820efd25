"""The inbox of one run: what was heard of it and not taken in yet."""

from actors.bus.port import Stored
from actors.record import Recorded
from protocol.controls import Control


class Inbox:
    """What a person says is both heard and read from the stream: it counts once, or it would answer the next plan."""

    def __init__(self) -> None:
        self._heard: list[Stored] = []
        self._controls: set[int] = set()

    def put(self, stored: Stored) -> None:
        """Something was stored."""
        self._heard.append(stored)

    def take(self) -> list[Stored]:
        """Everything that was put in since the last time."""
        heard, self._heard = self._heard, []
        return heard

    def is_news(self, entry: Recorded) -> bool:
        """Whether it may be taken in; all but controls may be so any number of times."""
        if not isinstance(entry.message, Control):
            return True
        known = entry.seq in self._controls
        self._controls.add(entry.seq)
        return not known
