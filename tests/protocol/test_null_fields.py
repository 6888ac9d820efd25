"""A null in a field that has a default and takes no null is read as this default, in every kind of message."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import codec
from protocol.errors import UndecodableError
from protocol.messages import Handoff, Message, Plan, Request, Result, Task, Usage
from tests.protocol.test_kept_bytes import EXAMPLES, decode

Path = tuple[str | int, ...]


def defaults(value: Any, path: Path = ()) -> Iterator[Path]:
    """Where in a message a default could stand that takes no null, at any depth."""
    if isinstance(value, Message):
        for field in msgspec.structs.fields(type(value)):
            inner = (*path, field.encode_name)
            takes_null = field.type is msgspec.Raw or type(None) in get_args(field.type)
            if not field.required and not takes_null:
                yield inner
            yield from defaults(getattr(value, field.name), inner)
    elif isinstance(value, tuple):
        for at, item in enumerate(value):  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
            yield from defaults(item, (*path, at))
    elif isinstance(value, dict):
        for key, item in value.items():  # pyright: ignore[reportUnknownVariableType]
            yield from defaults(item, (*path, key))  # pyright: ignore[reportUnknownArgumentType]


def changed(plain: Any, paths: frozenset[Path], *, null: bool, path: Path = ()) -> Any:
    """The message with these fields as null, or without them."""
    if isinstance(plain, dict):
        return {
            key: None if (*path, key) in paths else changed(value, paths, null=null, path=(*path, key))
            for key, value in dict[str, Any](plain).items()  # pyright: ignore[reportUnknownArgumentType]
            if null or (*path, key) not in paths
        }
    if isinstance(plain, list):
        items = list[Any](plain)  # pyright: ignore[reportUnknownArgumentType]
        return [changed(item, paths, null=null, path=(*path, at)) for at, item in enumerate(items)]
    return plain


@pytest.mark.parametrize("name", [name for name, example in EXAMPLES.items() if any(defaults(example))])
@given(data=st.data())
def test_null_is_the_default_wherever_one_stands(name: str, data: st.DataObject) -> None:
    plain = EXAMPLES[name].to_dict()
    paths = data.draw(st.frozensets(st.sampled_from(sorted(set(defaults(EXAMPLES[name])), key=str)), min_size=1))
    nulls, without = (json.dumps(changed(plain, paths, null=null)).encode() for null in (True, False))
    assert codec.encode(decode(name, nulls)) == codec.encode(decode(name, without))


def test_an_unset_price_stays_unknown() -> None:
    assert codec.decode(b'{"usd": null, "input_tokens": null}', Usage) == Usage(usd=None)


def test_what_is_any_json_stays_byte_for_byte() -> None:
    data = b'{"run": "r", "task": "t", "attempt": 1, "worker": "w", "status": "completed", "output": null, "data": %s}'
    kept = b'{"a": null, "b": [null, 1e400, 0.10]}'
    assert bytes(codec.decode(data % kept, Result).data) == kept


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"run": null, "task": "t", "attempt": 1, "worker": "w", "status": "completed"}', Result),
        (b'{"run": "r", "task": "t", "attempt": 1, "worker": "w", "status": null}', Result),
        (b'{"tasks": null}', Plan),
        (b'{"tasks": [null]}', Plan),
        (b'{"id": "a", "worker": "w", "intent": "i", "depends_on": [null]}', Task),
        (b'{"text": "a", "metadata": {"user": null}}', Request),
        (b'{"text": null, "synthesis": "no"}', Request),
        (b'{"text": null, "budget": []}', Request),
        (b'{"text": null', Request),
        (b'{"context": [[null]]}', Handoff),
        (b'{"text": null, "plan": ' + b'{"tasks": ' * 50_000, Request),
    ],
)
def test_a_null_where_no_default_stands_is_undecodable(data: bytes, kind: type[Message]) -> None:
    with pytest.raises(UndecodableError):
        codec.decode(data, kind)


@pytest.mark.parametrize("decoder", [codec.decode_event, codec.decode_step, codec.decode_control])
@pytest.mark.parametrize(
    "data", [b'{"type": null}', b'{"type": ["x"], "y": null}', b'{"type": "taken", "instance": null}']
)
def test_a_null_in_the_type_of_a_message_is_undecodable(decoder: Any, data: bytes) -> None:
    with pytest.raises(UndecodableError):
        decoder(data)


fields = st.sampled_from(["text", "plan", "tasks", "budget", "metadata", "context", "type", "run"])


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=3), lambda inner: st.dictionaries(fields, inner) | st.lists(inner)
    )
)
def test_any_json_either_decodes_or_is_undecodable(plain: Any) -> None:
    data = json.dumps(plain).encode()
    for kind in (Request, Handoff, Result):
        with contextlib.suppress(UndecodableError):
            assert isinstance(codec.decode(data, kind), kind)
