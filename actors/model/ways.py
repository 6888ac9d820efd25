"""The ways to a structured decision, best first: a format, a strict tool, JSON in the text.

The profile of a model names its first way. A server that refuses a way by the documented error is asked the next way
from then on. The memory is kept by address and model, for the life of the process.
"""

from collections.abc import Mapping
from typing import Literal

from actors.model.profiles import Profile
from protocol.errors import ModelError

Way = Literal["format", "tool", "text"]

_ORDER: tuple[Way, ...] = ("format", "tool", "text")
_TOO_COMPLEX = ("too complex for compilation", "schema is too complex")
_REFUSED: Mapping[Way, tuple[str, ...]] = {
    "format": (
        "output_config.format",
        "output_config: extra inputs",
        "output_format",
        "output format",
        "structured output",
        "json_schema",
    ),
    "tool": ("tools: extra inputs", ".strict", "strict tool", "does not support tool", "tools are not supported"),
    "text": (),
}
"""What a server says that does not know a way. The provider's documentation gives no exact words."""


class Ways:
    """Which way each model of each address is asked, and which models wrote prose every time."""

    def __init__(self) -> None:
        self._ways: dict[tuple[str, str], Way] = {}
        self._prose: set[tuple[str, str]] = set()

    def way(self, address: str, profile: Profile, model: str) -> Way:
        """The way to ask a model now."""
        known = self._ways.get((address, model))
        return known or ("format" if profile.formats else "tool")

    def refuse(self, address: str, model: str, way: Way) -> None:
        """The server refused this way: ask the next one from now on."""
        after = _ORDER[_ORDER.index(way) + 1 :]
        if after:
            self._ways[address, model] = after[0]

    def writes_prose(self, address: str, model: str) -> bool:
        """Whether the last decision of this model was prose each time it was asked."""
        return (address, model) in self._prose

    def note(self, address: str, model: str, *, prose: bool) -> None:
        """Remember whether a decision ended in prose."""
        (self._prose.add if prose else self._prose.discard)((address, model))


def is_refusal(error: ModelError, way: Way) -> bool:
    """Whether the server says that it does not know this way. A cut connection or a complex schema does not."""
    if error.kind != "invalid_request_error" or is_too_complex(error):
        return False
    return any(word in str(error).lower() for word in _REFUSED[way])


def is_too_complex(error: ModelError) -> bool:
    """Whether the provider could not compile the grammar of a schema."""
    return error.kind == "invalid_request_error" and any(word in str(error).lower() for word in _TOO_COMPLEX)
