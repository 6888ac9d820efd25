"""The codec: the only place where messages become bytes and bytes become messages.

Every possible failure of decoding comes out as UndecodableError: msgspec also raises UnicodeDecodeError and
RecursionError on hostile input.
"""

from functools import cache
from typing import Any, TypeVar

import msgspec

from protocol.controls import Control
from protocol.errors import UndecodableError
from protocol.events import Event
from protocol.messages import Message
from protocol.steps import Step

T = TypeVar("T", bound=Message)

_encoder = msgspec.json.Encoder()
_events = msgspec.json.Decoder(Event)
_steps = msgspec.json.Decoder(Step)
_controls = msgspec.json.Decoder(Control)


@cache
def _decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    return msgspec.json.Decoder(kind)


def encode(message: Message) -> bytes:
    """The message as JSON."""
    return _encoder.encode(message)


def writable(text: str) -> str:
    """The text as it can stand in a message: a lone half of a surrogate pair cannot, and becomes a question mark."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def decode(data: bytes, kind: type[T]) -> T:
    """The message of that kind in these bytes, or UndecodableError."""
    return _checked(_decoder(kind), data, kind.__name__)


def decode_event(data: bytes) -> Event:
    """The Event in these bytes, or UndecodableError."""
    return _checked(_events, data, "Event")


def decode_step(data: bytes) -> Step:
    """The Step in these bytes, or UndecodableError."""
    return _checked(_steps, data, "Step")


def decode_control(data: bytes) -> Control:
    """The Control in these bytes, or UndecodableError."""
    return _checked(_controls, data, "Control")


def _checked(decoder: msgspec.json.Decoder[Any], data: bytes, what: str) -> Any:
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UndecodableError(f"not a {what}: {error or type(error).__name__}") from error
