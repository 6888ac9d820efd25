"""A reaction: what the stand-in says to a request, and what goes wrong with the answer on purpose."""

from collections.abc import Callable
from typing import Literal

import msgspec

from actors.model_server.offline.request import Asked
from actors.model_server.offline.turn import Spoken


class Mishap(msgspec.Struct, frozen=True, kw_only=True):
    """What goes wrong with an answer, on purpose; nothing by default."""

    delay_s: float = 0.0
    status: int = 0
    error: str = ""
    message: str = ""
    retry_after_s: float | None = None
    cut: Literal["", "end", "drop"] = ""
    stall_s: float = 0.0
    error_event: str = ""


class Reaction(msgspec.Struct, frozen=True, kw_only=True):
    """What the server does about a request: what it says, and what goes wrong."""

    spoken: Spoken
    mishap: Mishap = Mishap()


React = Callable[[Asked], Reaction]
