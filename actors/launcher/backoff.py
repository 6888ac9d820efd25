"""How long to wait before a process is started again."""

FIRST_S = 0.2
LONGEST_S = 5.0
SETTLED_S = 30.0


class Backoff:
    """Waits that double from `first_s` to `longest_s`, and begin anew after a life of `settled_s`."""

    def __init__(self, first_s: float = FIRST_S, longest_s: float = LONGEST_S, settled_s: float = SETTLED_S) -> None:
        self._first_s, self._longest_s, self._settled_s = first_s, longest_s, settled_s
        self._next_s = first_s

    def after(self, lived_s: float) -> float:
        """The wait after a life of that length."""
        if lived_s >= self._settled_s:
            self._next_s = self._first_s
        wait_s = self._next_s
        self._next_s = min(wait_s * 2, self._longest_s)
        return wait_s
