"""Pipes: a tool server as a process of ours, one JSON message a line.

What always holds: it sees a small environment without our keys; a line over the limit ends the connection, not the
worker; when the block is left, the process and all it started are gone.
"""

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING

import anyio
import anyio.abc

from actors.tools.server import ToolServer
from actors.toolservers.exit_reason import exit_reason
from observability.logger import get_logger

if TYPE_CHECKING:
    # Only for the checker: the SDK is there, and loaded, only where a worker lists tool servers.
    from mcp.shared.message import SessionMessage

    Streams = tuple[
        anyio.abc.ObjectReceiveStream[SessionMessage | Exception], anyio.abc.ObjectSendStream[SessionMessage]
    ]

INHERITED = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
LONGEST_LINE = 16 * 1024 * 1024
GRACE_S = 2.0
KEPT_ERRORS = 8_000
PIECE = 64 * 1024

log = get_logger()


class Life:
    """How a connection is going: `ended` is set when the server can no longer answer, `left` if we ended it."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self.errors = ""
        self.exit_code: int | None = None
        self.left = False
        self._fault = ""

    def end(self, fault: str = "") -> None:
        """It is over; `fault` is what we hold against the server, if it did not end by itself. The first one counts."""
        self._fault = self._fault or fault
        self.ended.set()

    def leave(self) -> None:
        """From here on it is we who end it."""
        self.left = not self.ended.is_set()

    @property
    def why(self) -> str:
        """Why it ended: our fault with it, or its exit code and its last error."""
        return self._fault or exit_reason(self.exit_code, self.errors)


def environment_for(server: ToolServer, ours: Mapping[str, str]) -> dict[str, str]:
    """What a server sees of our environment, and what it was given."""
    return {name: ours[name] for name in INHERITED if name in ours} | dict(server.env)


def command_of(server: ToolServer) -> Sequence[str]:
    """The command, where `python` is the one that runs us: the packages of the worker are there."""
    first, *rest = server.command
    return [sys.executable if first in ("python", "python3") else first, *rest]


@contextlib.asynccontextmanager
async def piped(server: ToolServer, life: Life) -> "AsyncGenerator[Streams]":
    """Start the server and speak to it through its pipes; the value is what the SDK calls a transport."""
    process = await asyncio.create_subprocess_exec(
        *command_of(server),
        env=environment_for(server, os.environ),
        cwd=server.cwd or None,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        start_new_session=True,
        limit=LONGEST_LINE,
    )
    heard, inbox = anyio.create_memory_object_stream["SessionMessage | Exception"](0)
    outbox, to_say = anyio.create_memory_object_stream["SessionMessage"](0)
    listening = asyncio.create_task(_listen(server.name, process, heard, life))
    errors = asyncio.create_task(_note_errors(server.name, process, life))
    speaking = asyncio.create_task(_speak(process, to_say, life))
    try:
        yield inbox, outbox
    finally:
        life.leave()
        await _stop(process, life)
        # Its standard error is read to the end: the reason for its end stands in the last lines.
        await asyncio.wait({errors}, timeout=GRACE_S)
        for task in (listening, errors, speaking):
            task.cancel()
        await asyncio.gather(listening, errors, speaking, return_exceptions=True)
        for stream in (heard, inbox, outbox, to_say):
            stream.close()


async def _listen(
    name: str, process: Process, heard: "anyio.abc.ObjectSendStream[SessionMessage | Exception]", life: Life
) -> None:
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter

    assert process.stdout is not None
    async with heard:
        try:
            while line := await process.stdout.readline():
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    log.warning("toolserver.unreadable", server=name, line=line[:200].decode(errors="replace"))
                else:
                    await heard.send(SessionMessage(message))
        except ValueError:
            life.end(f"it said more than {LONGEST_LINE:,} bytes at once")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass
        finally:
            life.end()
    # A server that cannot get rid of what it has to say cannot end either.
    while await process.stdout.read(PIECE):
        pass


async def _speak(process: Process, to_say: "anyio.abc.ObjectReceiveStream[SessionMessage]", life: Life) -> None:
    assert process.stdin is not None
    try:
        async for item in to_say:
            line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(line.encode() + b"\n")
            await process.stdin.drain()
    except (OSError, RuntimeError):
        life.end()


async def _note_errors(name: str, process: Process, life: Life) -> None:
    """Log what the server writes to its standard error, and keep the end of it."""
    assert process.stderr is not None
    while chunk := await process.stderr.read(PIECE):
        text = chunk.decode(errors="replace")
        log.debug("toolserver.said", server=name, text=text)
        life.errors = (life.errors + text)[-KEPT_ERRORS:]


async def _stop(process: Process, life: Life) -> None:
    """Close its input, and if it stays, end it and all it started; an exit code counts only if we sent no signal."""
    assert process.stdin is not None
    process.stdin.close()
    for word in (None, signal.SIGTERM, signal.SIGKILL):
        if word is not None:
            _signal(process, word)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                exit_code = await process.wait()
                life.exit_code = exit_code if word is None else None
                break
    _signal(process, signal.SIGKILL)


def _signal(process: Process, word: signal.Signals) -> None:
    # The group is the server's own: it was started in a session of its own.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, word)
