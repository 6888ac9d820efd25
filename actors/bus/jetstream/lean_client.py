"""A nats-py client that does what every message goes through at a fraction of the cost.

Headers are read and written without looking at each character of each name, which was a quarter of what a supervisor
did under load. A message goes from the socket to its listener in one turn of the loop instead of two, and so does a
publish to the socket after a quiet moment: no queue and no task lie between. Equal results are proved against the
original by tests/bus/test_lean_client.py.

Whoever is cancelled while it waits for an answer hears of it, also if the answer comes at the same moment.
"""

import asyncio
from asyncio import WriteTransport
from collections.abc import Awaitable, Callable
from functools import lru_cache
from time import perf_counter
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.aio.transport import TcpTransport

BLANKS = " \t\r\n\x0b\x0c"
QUIET_S = 0.0003
"""After so long without a write the next one goes out at once; others wait a turn of the loop for company, since many
small writes cost more than one big one (measured: a quarter of a task under load)."""

Listener = Callable[[Msg], Awaitable[None]]


class LeanClient(Client):
    """The client, but for what is done for every single message."""

    def __init__(self) -> None:
        super().__init__()
        self._straight: dict[int, Listener] = {}
        self._wrote_at = 0.0

    async def listen(self, subject: str, heard: Listener) -> Subscription:
        """Hear a subject straight from the socket.

        The listener must not wait for anything that comes over the same connection: nothing is read meanwhile.
        """
        subscription = await self.subscribe(  # pyright: ignore[reportUnknownMemberType]  (an untyped Future inside)
            subject, cb=heard, pending_msgs_limit=-1, pending_bytes_limit=-1
        )
        self._straight[subscription._id] = heard  # pyright: ignore[reportPrivateUsage]
        return subscription

    async def close(self) -> None:
        """Let go of the server. What it is not there to hear is dropped: the original writes it to a closed socket."""
        if not self.is_connected or self._is_cut():
            self._pending, self._pending_data_size = [], 0
        await super().close()

    async def flush(self, timeout: int = 10) -> None:
        """Everything sent so far has reached the server."""
        asked = _cancels()
        await super().flush(timeout)
        _heed(asked)

    async def request(
        self,
        subject: str,
        payload: bytes = b"",
        timeout: float = 0.5,
        old_style: bool = False,
        headers: dict[str, Any] | None = None,
    ) -> Msg:
        """Ask, and give the first answer."""
        asked = _cancels()
        answer = await super().request(subject, payload, timeout, old_style, headers)
        _heed(asked)
        return answer

    def _remove_sub(self, sid: int, max_msgs: int = 0) -> None:
        super()._remove_sub(sid, max_msgs)
        self._straight.pop(sid, None)

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        heard = self._straight.get(sid)
        if heard is None:
            await super()._process_msg(sid, subject, reply, data, headers)
            return
        self.stats["in_msgs"] += 1
        self.stats["in_bytes"] += len(data)
        read = await self._process_headers(headers)  # pyright: ignore[reportUnknownMemberType]
        msg = self._build_message(sid, subject, reply, data, read)
        try:
            await heard(msg)
        except Exception as error:  # noqa: BLE001  as in the original: one listener must not end the connection
            await self._error_cb(error)

    @staticmethod
    def _parse_header_lines(raw: bytes) -> dict[str, str]:
        if not raw.isascii():
            return Client._parse_header_lines(raw)
        found: dict[str, str] = {}
        for line in raw.decode("ascii").split("\r\n"):
            name, colon, value = line.partition(":")
            if colon and (known := _header_name(name)) is not None:
                found[known] = value.strip(BLANKS)
        return found

    async def _send_publish(
        self, subject: str, reply: str, payload: bytes, payload_size: int, headers: dict[str, Any] | None
    ) -> None:
        command = _command(subject, reply, payload, headers)
        if command is None:
            await super()._send_publish(subject, reply, payload, payload_size, headers)
            return
        self.stats["out_msgs"] += 1
        self.stats["out_bytes"] += payload_size
        if socket := self._open_socket():
            socket.write(command)
            return
        await self._send_command(command)
        if self._flush_queue is not None and self._flush_queue.empty():
            await self._flush_pending()

    def _open_socket(self) -> WriteTransport | None:
        """Where a command can be written at once; None if it has to wait its turn."""
        now = perf_counter()
        quiet, self._wrote_at = now - self._wrote_at > QUIET_S, now
        if not quiet or self._pending or not self.is_connected or not isinstance(self._transport, TcpTransport):
            return None
        writer = self._transport._io_writer  # pyright: ignore[reportPrivateUsage]
        if writer is None or writer.transport.is_closing() or writer.transport.get_write_buffer_size():
            return None
        return writer.transport

    def _is_cut(self) -> bool:
        """Whether the socket is closed, though nobody has noticed yet."""
        writer = self._transport._io_writer if isinstance(self._transport, TcpTransport) else None  # pyright: ignore[reportPrivateUsage]
        return writer is not None and writer.transport.is_closing()


# Nearly all messages have the same few.
@lru_cache(maxsize=256)
def _header_name(text: str) -> str | None:
    """The name of a header; None for one with a blank inside, which is none."""
    name = text.strip(BLANKS)
    return name if not name or name.split() == [name] else None


def _cancels() -> int:
    """How often it was asked that the task which calls this ends."""
    task = asyncio.current_task()
    return task.cancelling() if task else 0


def _heed(before: int) -> None:
    """End if it was asked for since `before`.

    The original waits by asyncio.wait_for, which in Python 3.11 forgets a cancel if the answer is there as well: who
    waits for the end of the task would then wait for ever.
    """
    if _cancels() > before:
        raise asyncio.CancelledError


def _command(subject: str, reply: str, payload: bytes, headers: dict[str, Any] | None) -> bytes | None:
    """A publish as it stands on the wire; None for what needs the care of the original."""
    if not subject:
        return None
    if headers is None:
        return b"%b%b\r\n" % (f"PUB {subject} {reply} {len(payload)}\r\n".encode(), payload)
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    if not lines or not lines.isascii() or _breaks(lines) != 2 * len(headers):
        return None
    head = b"NATS/1.0\r\n%b\r\n" % lines.encode("ascii")
    size = len(head) + len(payload)
    return b"%b%b%b\r\n" % (f"HPUB {subject} {reply} {len(head)} {size}\r\n".encode(), head, payload)


def _breaks(text: str) -> int:
    return text.count("\r") + text.count("\n")
