"""How long a tool server stays down before it is started again."""

FIRST_S = 0.2
LONGEST_FAILED_S = 30.0
LONGEST_CRASHED_S = 2.0
STABLE_S = 30.0
"""A server that was usable for so long is stable: its next crash counts as the first one."""


class RestartDelay:
    """The delay grows with failed starts up to 30 s, and with crashes of a usable server up to 2 s.

    The first crash is followed by a restart at once. Later crashes wait less than a call waits for its server, so the
    tools of a server that crashes often stay usable in between.
    """

    def __init__(self) -> None:
        self._failed_starts = 0
        self._crashes = 0

    def next(self, *, usable: bool, lived_s: float) -> float:
        """The delay after a life of the server; `usable` says whether it listed its tools in this life."""
        if not usable:
            self._failed_starts += 1
            return _doubled(self._failed_starts - 1, LONGEST_FAILED_S)
        self._failed_starts = 0
        self._crashes = 1 if lived_s >= STABLE_S else self._crashes + 1
        return 0.0 if self._crashes == 1 else _doubled(self._crashes - 2, LONGEST_CRASHED_S)


def _doubled(times: int, longest_s: float) -> float:
    return min(FIRST_S * 2.0 ** min(times, 10), longest_s)
