"""The codec: the only place where messages become bytes and bytes become messages.

Every possible failure of decoding comes out as UndecodableError: msgspec also raises UnicodeDecodeError and
RecursionError on hostile input. A null in a field that has a default and takes no null is read as this default.
"""

from functools import cache
from typing import Any, TypeVar, get_args

import msgspec

from protocol.controls import Control
from protocol.errors import UndecodableError, UnknownTypeError
from protocol.events import Event
from protocol.messages import Message
from protocol.null_fields import without_nulls
from protocol.references import ByReference
from protocol.steps import Step

T = TypeVar("T", bound=Message)


class _Tagged(msgspec.Struct):
    """Any message that carries its type, whatever else stands in it."""

    type: str


_encoder = msgspec.json.Encoder()
_events = msgspec.json.Decoder(Event)
_steps = msgspec.json.Decoder(Step)
_controls = msgspec.json.Decoder(Control)
_references = msgspec.json.Decoder(ByReference)
_tagged = msgspec.json.Decoder(_Tagged)

_REFERENCE = b'"by_reference"'
REFERENCE_BYTES = 4096
"""A reference is short: no more of a message is searched for its type."""


def _tags(union: object) -> frozenset[str]:
    return frozenset(str(member.__struct_config__.tag) for member in get_args(union))


_EVENT_TAGS, _STEP_TAGS, _CONTROL_TAGS = _tags(Event), _tags(Step), _tags(Control)


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
    """The Event in these bytes, or UndecodableError; UnknownTypeError if a newer version wrote it."""
    return _checked_type(_events, data, "Event", _EVENT_TAGS)


def decode_step(data: bytes) -> Step:
    """The Step in these bytes, or UndecodableError; UnknownTypeError if a newer version wrote it."""
    return _checked_type(_steps, data, "Step", _STEP_TAGS)


def decode_reference(data: bytes) -> ByReference | None:
    """The reference in these bytes; None for everything else. It is no Event and no Step: load what it stands for."""
    if _REFERENCE not in data[:REFERENCE_BYTES]:
        return None
    try:
        return _checked(_references, data, "ByReference")
    except UndecodableError:
        return None


def is_event_type(type_name: str) -> bool:
    """True if this version knows Events of that type."""
    return type_name in _EVENT_TAGS


def decode_control(data: bytes) -> Control:
    """The Control in these bytes, or UndecodableError; UnknownTypeError if a newer version wrote it."""
    return _checked_type(_controls, data, "Control", _CONTROL_TAGS)


def _checked_type(decoder: msgspec.json.Decoder[Any], data: bytes, what: str, tags: frozenset[str]) -> Any:
    try:
        return _checked(decoder, data, what)
    except UndecodableError as error:
        type_name = _type_of(data)
        if type_name and type_name not in tags:
            raise UnknownTypeError(what, type_name) from error
        raise


def _type_of(data: bytes) -> str:
    """The `type` of a JSON object; empty if these bytes are no message at all."""
    try:
        return _tagged.decode(data).type
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""


def _checked(decoder: msgspec.json.Decoder[Any], data: bytes, what: str) -> Any:
    try:
        return _decoded(decoder, data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UndecodableError(f"not a {what}: {error or type(error).__name__}") from error


def _decoded(decoder: msgspec.json.Decoder[Any], data: bytes) -> Any:
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        if b"null" not in data:
            raise
    return decoder.decode(without_nulls(data, decoder.type))
