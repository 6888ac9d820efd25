"""What the launcher tells of the processes it looks after."""

import signal
from collections.abc import Callable
from typing import Literal

Kind = Literal["started", "died", "restarted", "failed", "gave_up", "stopped"]
"""`died` is followed by `restarted`, or by `failed` for each try that did not work; after `gave_up` nothing follows."""

OnEvent = Callable[[Kind, str, int, str], None]
"""Called with the kind, the name of the process, its pid (0 if it has none) and, where there is one, the reason."""


def nobody(kind: Kind, name: str, pid: int, detail: str) -> None:
    """Listen to nothing."""


def ending(code: int) -> str:
    """How a process ended, by its exit code."""
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
