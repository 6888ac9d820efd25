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


class Wire(LeanClient):
    """A client whose words are kept instead of sent."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[bytes] = []

    async def _send_command(self, cmd: bytes, priority: bool = False) -> None:
        self.said.append(bytes(cmd))

    async def written(self, kind: type[Client], headers: dict[str, str]) -> bytes:
        await kind._send_publish(self, "s.x", "r.1", b"data", 4, headers)  # pyright: ignore[reportPrivateUsage]
        return self.said.pop()


names = st.sampled_from(["Nats-Msg-Id", "traceparent", "X"])
values = st.text(alphabet="ab:-\té\n\r ", max_size=10).map(str.strip)


@given(st.dictionaries(names, values))
async def test_headers_are_written_as_the_original_writes_them(headers: dict[str, str]) -> None:
    wire = Wire()
    assert await wire.written(LeanClient, dict(headers)) == await wire.written(Client, dict(headers))
