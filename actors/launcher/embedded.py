"""The embedded bus: a real nats-server with JetStream on loopback, shared by every command of one home.

What always holds:
- At most one server runs on a store. The owner holds `<home>/lock` and so does its server, by inheritance: the lock is
  free only when both are gone, and whoever takes it may start a server.
- Every other user holds `<home>/users` (shared) before it looks for the bus; the owner that stops because nobody uses
  it holds the same lock alone. So nobody is given a bus that is about to stop.
"""

import asyncio
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from actors.launcher import port as ports
from actors.launcher import server
from actors.launcher.backoff import Backoff
from actors.launcher.event import OnEvent, ending, nobody
from actors.launcher.home import BusAddress, Home
from actors.launcher.lock import FileLock
from actors.launcher.probe import is_mute, server_name
from actors.settings import Settings
from protocol.errors import BusError, InvalidError

NAME = "bus"
ADOPT_S = server.READY_S + server.STOP_S
LOOK_S = 0.02
TRIES = 3


def find(home: Path) -> BusAddress | None:
    """The bus of a home if it lives: its process is there, and the server of this home answers on its port."""
    place = Home(home)
    address = place.address()
    if address is None or not _lives(address.pid) or server_name(address.port) != place.server_name:
        return None
    # Asked last: without its owner the server may still answer, but it is about to end.
    return address if not server.ENDS_WITH_OWNER or _lives(address.owner) else None


def silent(home: Path) -> int | None:
    """The process of a bus that runs in this home and does not answer; None if there is no such bus."""
    address = Home(home).address()
    there = address is not None and _lives(address.pid) and is_mute(address.port)
    return address.pid if address and there else None


def unanswered(home: Path, pid: int) -> str:
    """What a person is told of such a bus."""
    return (
        f"the bus in {home} runs as process {pid}, but does not answer: if it was stopped, let it go on with "
        f"`kill -CONT {pid}`; else see {Home(home).log}"
    )


class EmbeddedBus:
    """The bus of a home, started or, if another command has done so, adopted; used as `async with`.

    The owner starts the server again when it dies: same port, same store, same password.
    """

    def __init__(self, settings: Settings, on_event: OnEvent = nobody) -> None:
        self._settings = settings
        self._home = Home(settings.home_dir)
        self._on_event = on_event
        self._lock = FileLock(self._home.lock)
        self._users = FileLock(self._home.users)
        self._address: BusAddress | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None

    @property
    def address(self) -> BusAddress:
        """Where it listens."""
        if self._address is None:
            raise BusError("the embedded bus is not running")
        return self._address

    @property
    def owned(self) -> bool:
        """Whether its server belongs to this process, and ends with it."""
        return self._lock.held

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def others_use_it(self) -> bool:
        """Whether another process uses the bus that this one owns."""
        probe = FileLock(self._home.users)
        alone = probe.take()
        probe.release()
        return not alone

    async def stop(self) -> None:
        """Stop using it; the owner stops the server, whoever still uses it."""
        keeper, self._keeper = self._keeper, None
        try:
            if keeper is not None:
                keeper.cancel()
                await asyncio.wait({keeper})
            await self._end_server()
        finally:
            self._address = None
            self._users.release()
            self._lock.release()
        if keeper is not None and not keeper.cancelled():
            keeper.result()

    async def stop_if_unused(self) -> bool:
        """Stop it, unless another process uses it; whether it was stopped."""
        if self.owned and not self._users.take():
            return False
        await self.stop()
        return True

    async def _end_server(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await server.end(process)
            self._on_event("stopped", NAME, process.pid, "")

    async def _open(self) -> None:
        self._home.prepare()
        give_up_at = time.monotonic() + ADOPT_S
        while time.monotonic() < give_up_at:
            if await self._adopt() or await self._own():
                return
            await asyncio.sleep(LOOK_S)
        raise BusError(
            f"another process holds {self._home.lock}, but no bus answers; see {self._home.log}, and end the "
            "process that `lsof` or `fuser` names for that lock"
        )

    async def _adopt(self) -> bool:
        with self._home.told(self._home.users):
            if not self._users.take(shared=True):
                return False
        address = await asyncio.to_thread(find, self._home.root)
        if address is None:
            return False
        wanted = self._settings.port
        if wanted not in (0, address.port):
            fault = (
                f"the bus of {self._home.root} runs on port {address.port}, not {wanted}: stop it first, leave "
                "the port out, or set HANDOFF_HOME to another directory"
            )
            raise InvalidError([fault])
        self._address = address
        return True

    async def _own(self) -> bool:
        with self._home.told(self._home.lock):
            if not self._lock.take():
                return False
        self._users.release()
        address = await self._start()
        self._keeper = asyncio.create_task(self._keep(), name="embedded bus")
        self._on_event("started", NAME, address.pid, "")
        return True

    async def _start(self) -> BusAddress:
        wanted = self._settings.port
        if wanted and (fault := ports.fault(wanted)):
            raise InvalidError(
                [f"port {wanted} of {ports.HOST} {fault}: choose another one, or leave it out and a free one is used"]
            )
        last = self._home.address()
        for left in reversed(range(TRIES)):
            port = wanted or ports.free(last.port if last else 0)
            try:
                return await self._launch(port)
            except BusError:
                # Somebody else may have been quicker to take the port; anything else will not pass by itself.
                if wanted or not left or ports.fault(port) is None:
                    raise
        raise AssertionError("unreachable")

    async def _launch(self, port: int) -> BusAddress:
        password = self._home.password()
        self._home.write_config(
            server.configuration(self._home, port, password, sync_always=self._settings.sync_always)
        )
        self._process = process = await server.spawn(self._home, self._lock.fileno())
        if not await server.until_ready(process, port, password):
            await server.end(process)
            raise BusError(
                f"nats-server did not start on port {port} (exit code {process.returncode}); the end of "
                f"{self._home.log}:\n{self._home.last_log_lines()}"
            )
        url = f"nats://{server.USER}:{password}@{ports.HOST}:{port}"
        self._address = BusAddress(url=url, pid=process.pid, port=port, started=time.time(), owner=os.getpid())
        self._home.write_address(self._address)
        return self._address

    async def _keep(self) -> None:
        backoff = Backoff(first_s=0.05)
        port, began = self.address.port, time.monotonic()
        while self._process is not None:
            if self._process.returncode is None:
                code = await self._process.wait()
                self._on_event("died", NAME, self._process.pid, ending(code))
            await asyncio.sleep(backoff.after(time.monotonic() - began))
            began = time.monotonic()
            await self._relaunch(port)

    async def _relaunch(self, port: int) -> None:
        try:
            address = await self._launch(port)
        except (BusError, InvalidError) as error:
            self._on_event("failed", NAME, 0, str(error))
        else:
            self._on_event("restarted", NAME, address.pid, "")


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
