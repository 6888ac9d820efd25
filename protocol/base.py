"""The base of all messages."""

from typing import Any

import msgspec


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """Anything with a place in the protocol."""

    def to_dict(self) -> dict[str, Any]:
        """The message as plain dicts, lists, strings and numbers: what `json.dumps` or a web framework takes."""
        return msgspec.to_builtins(self, enc_hook=_from_raw)


def _from_raw(value: object) -> object:
    if isinstance(value, msgspec.Raw):
        return msgspec.json.decode(value)
    raise NotImplementedError(f"{type(value).__name__} has no place in a message")
