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
LAST_WORDS = 600
PIECE = 64 * 1024

log = get_logger()


class Life:
    """How a connection is going: `ended` is set when the server can no longer answer, `left` if we ended it."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self.said = ""
        self.left = False
        self._reason = ""

    def end(self, reason: str) -> None:
        """It is over; the first reason counts."""
        self._reason = self._reason or reason
        self.ended.set()

    def leave(self) -> None:
        """From here on it is we who end it."""
        self.left = not self.ended.is_set()

    @property
    def why(self) -> str:
        """Why it ended, with the last that the server said of itself."""
        return f"{self._reason or 'it ended'}{': ' if self.said else ''}{self.said}"


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
        await _stop(process)
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
            life.end("it ended")
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
        life.end("it closed its input")


async def _note_errors(name: str, process: Process, life: Life) -> None:
    """What the server writes to its standard error: a line of our log each, and the last of it is why it ended."""
    assert process.stderr is not None
    tail = ""
    while chunk := await process.stderr.read(PIECE):
        tail = (tail + chunk.decode(errors="replace"))[-LAST_WORDS:]
        log.debug("toolserver.said", server=name, text=chunk.decode(errors="replace"))
        life.said = tail.strip().rpartition("\n")[2]


async def _stop(process: Process) -> None:
    """Close its input, and if it stays, end it and all it started."""
    assert process.stdin is not None
    process.stdin.close()
    for word in (None, signal.SIGTERM, signal.SIGKILL):
        if word is not None:
            _signal(process, word)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                await process.wait()
                break
    _signal(process, signal.SIGKILL)


def _signal(process: Process, word: signal.Signals) -> None:
    # The group is the server's own: it was started in a session of its own.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, word)
