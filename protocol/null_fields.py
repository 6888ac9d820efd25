"""Null fields: a field with a default whose type takes no null may be written as null. It is read as if left out.

Clients in typed languages write null for what they do not set. Only a message that cannot be read as it is comes here,
so a message without such nulls costs nothing more.
"""

from collections.abc import Mapping
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import msgspec

NULL = msgspec.Raw(b"null")

_objects = msgspec.json.Decoder(dict[str, msgspec.Raw])
_lists = msgspec.json.Decoder(list[msgspec.Raw])
_encode = msgspec.json.Encoder().encode


def without_nulls(data: bytes, kind: Any) -> bytes:
    """The JSON of a message of that kind without these nulls, at any depth; everything else stays byte for byte.

    Raises msgspec.MsgspecError for what is no JSON, or does not have the shape of that kind.
    """
    return bytes(_rewritten(msgspec.Raw(data), kind))


def _rewritten(value: msgspec.Raw, kind: Any) -> msgspec.Raw:
    if value == NULL:
        return value
    members = _members(kind)
    if not members:
        return value
    if get_origin(members[0]) is tuple:
        item = get_args(members[0])[0]
        return _raw([_rewritten(one, item) for one in _lists.decode(value)])
    found = _objects.decode(value)
    if get_origin(members[0]) is dict:
        inner = get_args(members[0])[1]
        return _raw({key: _rewritten(one, inner) for key, one in found.items()})
    fields = _fields_of(members, found)
    return _raw(
        {
            key: _rewritten(one, fields[key].type) if key in fields else one
            for key, one in found.items()
            if one != NULL or not _may_be_left_out(fields.get(key))
        }
    )


def _raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(_encode(value))


@cache
def _members(kind: Any) -> tuple[Any, ...]:
    """The kinds of a union, or the one kind, that may hold such nulls: messages, and lists and objects of these."""
    parts = get_args(kind) if _is_union(kind) else (kind,)
    return tuple(part for part in parts if _is_message(part) or any(map(_members, _contents(part))))


def _contents(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (tuple, dict) else ()


def _fields_of(members: tuple[Any, ...], found: Mapping[str, msgspec.Raw]) -> Mapping[str, msgspec.structs.FieldInfo]:
    """The fields of a message; of several kinds the one that its `type` names."""
    if len(members) == 1:
        return _fields(members[0])
    tag = msgspec.json.decode(found.get("type", NULL))
    for member in members:
        if member.__struct_config__.tag == tag:
            return _fields(member)
    return {}


@cache
def _fields(kind: type[msgspec.Struct]) -> Mapping[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(kind)}


def _may_be_left_out(field: msgspec.structs.FieldInfo | None) -> bool:
    return field is not None and not field.required and not _takes_null(field.type)


def _takes_null(kind: Any) -> bool:
    return kind is msgspec.Raw or (_is_union(kind) and NoneType in get_args(kind))


def _is_union(kind: Any) -> bool:
    return bool(get_args(kind)) and get_origin(kind) not in (tuple, dict, Literal)


def _is_message(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)
