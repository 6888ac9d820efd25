"""Calls about the tables of a folder, made in a child process that is killed when one takes too long.

A thread cannot be stopped, and neither can a single step of SQLite, which may take minutes. A process can be.
"""

import asyncio
import os
import selectors
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import IO

import msgspec

from actors.tools.attempt import run_in_thread
from actors.tools.database import too_slow
from actors.tools.evidence import Evidence
from actors.tools.table_child import Call, Reply
from protocol import codec
from protocol.errors import ToolError

TIME_S = 5.0
"""What one query may take."""
LOAD_S = 40.0
"""What starting the process and reading the files may take."""
EVIDENCE_S = 20.0
GRACE_S = 0.5
"""How long after its time a query may still stop by itself; the tables then need not be read again."""

# With -P and a path of our own: a file of the current folder must not be taken for a module of the library.
_PROGRAM = "import sys; folder, *sys.path[:] = sys.argv[1:]; from actors.tools.table_child import main; main(folder)"


class TableProcess:
    """The child process for one folder. Calls are made one at a time, in the order in which they were asked for.

    The first call starts the process; the next one after a kill starts another. The clock of a call starts when it is
    its turn. A call that is cancelled while it is under way kills the process.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()
        self._child: _Child | None = None

    @property
    def pid(self) -> int | None:
        """The process id of the child, if there is one."""
        return self._child.process.pid if self._child else None

    async def listing(self) -> str:
        """A line for each table."""
        return (await self._call(Call("list", LOAD_S, TIME_S))).text

    async def query(self, sql: str) -> str:
        """The rows of one SELECT as text, or ToolError."""
        return (await self._call(Call("query", LOAD_S, TIME_S, codec.writable(sql)))).text

    async def evidence(self, claim: str) -> list[Evidence]:
        """What the tables say on a claim."""
        return list((await self._call(Call("evidence", LOAD_S, EVIDENCE_S, codec.writable(claim)))).evidence)

    async def _call(self, call: Call) -> Reply:
        turn = self._turns.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        async with turn:
            try:
                reply = await run_in_thread(self._exchange, {"call": call})
            except asyncio.CancelledError:
                self._kill()
                raise
        assert isinstance(reply, Reply)
        if reply.refused:
            raise ToolError(reply.refused)
        if reply.failed:
            raise RuntimeError(reply.failed)
        return reply

    def _exchange(self, call: Call) -> Reply:
        with self._lock:
            if self._child is None or not self._child.alive:
                self._child = _Child(self._folder)
            late = f"the files of the folder take over {call.load_s:g} s to read: keep fewer there"
            try:
                self._child.send(call)
                reply = self._child.reply(call.load_s)
                late = too_slow(call.time_s)
                return self._child.reply(call.time_s) if reply.loaded else reply
            except TimeoutError:
                return Reply(refused=late)
            except EOFError:
                return Reply(refused="the process that holds the tables ended during this call: ask for less")

    def _kill(self) -> None:
        if self._child:
            self._child.process.kill()


class _Child:
    """One running child process."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-P", "-c", _PROGRAM, str(folder), *filter(None, sys.path)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)  # noqa: S603
        self._read = bytearray()
        weakref.finalize(self, _end, self.process)

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def send(self, call: Call) -> None:
        """Ask for something; EOFError if the process has ended."""
        try:
            _pipe(self.process.stdin).write(msgspec.json.encode(call) + b"\n")
        except OSError as error:
            _end(self.process)
            raise EOFError from error

    def reply(self, time_s: float) -> Reply:
        """The next reply. TimeoutError or EOFError if there is none; the process has ended then."""
        try:
            return msgspec.json.decode(self._line(time.monotonic() + time_s + GRACE_S), type=Reply)
        except (TimeoutError, EOFError):
            _end(self.process)
            raise

    def _line(self, until: float) -> bytes:
        stdout = _pipe(self.process.stdout)
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while b"\n" not in self._read:
                if not selector.select(max(0.0, until - time.monotonic())):
                    raise TimeoutError
                piece = os.read(stdout.fileno(), 1 << 16)
                if not piece:
                    raise EOFError
                self._read += piece
        line, _, self._read = self._read.partition(b"\n")
        return bytes(line)


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe:
            pipe.close()


_processes: weakref.WeakValueDictionary[Path, TableProcess] = weakref.WeakValueDictionary()


def process_of(folder: Path) -> TableProcess:
    """The process for a folder: all tools of this process that read the folder share it."""
    return _processes.setdefault(folder.absolute(), TableProcess(folder.absolute()))
