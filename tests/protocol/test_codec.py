import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import codec
from protocol.errors import UndecodableError, UnknownTypeError
from protocol.messages import Handoff, Request, Result, Usage


@given(st.binary(max_size=400))
def test_any_bytes_either_decode_or_are_undecodable(data: bytes) -> None:
    for kind in (Request, Handoff, Result):
        with contextlib.suppress(UndecodableError):
            assert isinstance(codec.decode(data, kind), kind)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b'{"text": 5}',
        b'{"text": "\xff"}',
        b'{"text": "a", "deadline_s": "soon"}',
        b'{"metadata": ' + b"[" * 100_000,
        b'{"x":' * 50_000,
    ],
)
def test_hostile_requests_are_undecodable(data: bytes) -> None:
    with pytest.raises(UndecodableError, match="not a Request"):
        codec.decode(data, Request)


@pytest.mark.parametrize("data", [b'{"type": "nonsense"}', b"{}", b'{"type": "skipped"}'])
def test_unknown_events_steps_and_controls_are_undecodable(data: bytes) -> None:
    for decode in (codec.decode_event, codec.decode_step, codec.decode_control):
        with pytest.raises(UndecodableError):
            decode(data)


def test_a_well_formed_message_of_an_unknown_type_is_told_apart_from_broken_bytes() -> None:
    for decode in (codec.decode_event, codec.decode_step, codec.decode_control):
        with pytest.raises(UnknownTypeError) as unknown:
            decode(b'{"type": "dreamt", "of": {"x": [1]}}')
        assert unknown.value.type_name == "dreamt"


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"type": 5}', b'{"type": ""}', b'{"type": "skipped"', b"\xff"])
def test_broken_bytes_are_not_of_an_unknown_type(data: bytes) -> None:
    for decode in (codec.decode_event, codec.decode_step, codec.decode_control):
        with pytest.raises(UndecodableError) as broken:
            decode(data)
        assert not isinstance(broken.value, UnknownTypeError)


@pytest.mark.parametrize(
    ("decode", "data"),
    [
        (codec.decode_event, b'{"type": "skipped"}'),
        (codec.decode_step, b'{"type": "tool_called", "call": 5}'),
        (codec.decode_control, b'{"type": "edit"}'),
    ],
)
def test_a_known_type_without_its_fields_is_not_of_an_unknown_type(
    decode: Callable[[bytes], object], data: bytes
) -> None:
    with pytest.raises(UndecodableError) as broken:
        decode(data)
    assert not isinstance(broken.value, UnknownTypeError)


prices = st.one_of(st.none(), st.floats(0, 10))
usages = st.builds(Usage, input_tokens=st.integers(0, 9), output_tokens=st.integers(0, 9), usd=prices)


@given(usages, usages)
def test_the_sum_of_an_unknown_price_is_unknown(one: Usage, other: Usage) -> None:
    total = one + other
    assert (total.usd is None) == (one.usd is None or other.usd is None)
    assert total.tokens == one.tokens + other.tokens
