from hypothesis import given
from hypothesis import strategies as st
from nats.aio.client import Client

from actors.bus.jetstream.lean_client import LeanClient

lines = st.lists(st.text(alphabet="ab:\t\r\n é\x1c\x85-:", max_size=12) | st.just("Nats-Sequence: 12"), max_size=6)


@given(lines)
def test_headers_are_read_as_the_original_reads_them(parts: list[str]) -> None:
    raw = "\r\n".join(parts).encode()
    assert LeanClient._parse_header_lines(raw) == Client._parse_header_lines(raw)  # pyright: ignore[reportPrivateUsage]


@given(st.binary(max_size=40))
def test_any_bytes_are_read_as_the_original_reads_them(raw: bytes) -> None:
    assert LeanClient._parse_header_lines(raw) == Client._parse_header_lines(raw)  # pyright: ignore[reportPrivateUsage]
