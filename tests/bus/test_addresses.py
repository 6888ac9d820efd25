"""Addresses of the bus, as they are shown to a person."""

import pytest

from actors.bus.jetstream.connection import shown


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("nats://me:secret@bus:4223", "nats://bus:4223"),
        ("nats://bus", "nats://bus:4222"),
        ("nats://a:4222,nats://me:secret@b:4222", "nats://a:4222,nats://b:4222"),
    ],
)
def test_an_address_is_shown_without_its_password(given: str, told: str) -> None:
    assert shown(given) == told
