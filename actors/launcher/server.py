"""One process of nats-server: how it is set up, and when it is ready."""

import asyncio
import ctypes
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from actors.launcher.home import Home
from actors.launcher.port import HOST
from actors.launcher.probe import jetstream_answers
from actors.launcher.server_program import find_program
from protocol.errors import BusError

USER = "handoff"
READY_S = 30.0
STOP_S = 5.0
POLL_S = 0.005
PR_SET_PDEATHSIG = 1
ENDS_WITH_OWNER = sys.platform == "linux"

CONFIG = """\
# Written at every start: changes are lost.
server_name: "{name}"
host: "{host}"
port: {port}
max_payload: 1MB
authorization {{ user: "{user}", password: "{password}" }}
log_file: {log}
logfile_size_limit: 5MB
logfile_max_num: 2
jetstream {{
  store_dir: {root}
  max_file_store: {bytes}
  max_memory_store: 256MB
{sync}}}
"""


def configuration(home: Home, port: int, password: str, *, sync_always: bool) -> str:
    """The configuration file of the server."""
    return CONFIG.format(
        name=home.server_name,
        host=HOST,
        port=port,
        user=USER,
        password=password,
        log=_quoted(home.log),
        root=_quoted(home.root),  # the server itself adds `jetstream`
        bytes=home.store_limit(),
        sync="  sync_interval: always\n" if sync_always else "",
    )


async def spawn(home: Home, held: int) -> asyncio.subprocess.Process:
    """Start the server in a session of its own, where no Ctrl-C reaches it; `held` is a lock that it shall hold."""
    program = await asyncio.to_thread(find_program)
    command = (str(program), "--config", str(home.config))
    with home.told(home.log):
        log = home.log.open("ab")
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=(held,),
            preexec_fn=_end_with_parent(),
        )
    except OSError as error:
        raise BusError(f"{program} cannot be run: {error.strerror}; install it again") from error
    finally:
        log.close()


async def until_ready(process: asyncio.subprocess.Process, port: int, password: str) -> bool:
    """Wait until JetStream answers; False if the server ended before, or needs longer than is bearable."""
    ended = asyncio.ensure_future(process.wait())
    try:
        async with asyncio.timeout(READY_S):
            while not ended.done():
                if await asyncio.to_thread(jetstream_answers, port, USER, password):
                    return True
                await asyncio.wait({ended}, timeout=POLL_S)
    except TimeoutError:
        return False
    finally:
        ended.cancel()
    return False


async def end(process: asyncio.subprocess.Process) -> None:
    """Stop the server and wait for it: asked first, then killed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.send_signal(number)
        try:
            async with asyncio.timeout(STOP_S):
                await process.wait()
        except TimeoutError:
            continue


def _quoted(path: Path) -> str:
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _end_with_parent() -> Callable[[], None] | None:
    """What the new process does first, so that it does not outlive this one; only Linux has a way.

    It is this *thread* that must live on, so the event loop has to run in one that does. Everything is looked up here:
    between fork and exec only the calls themselves are made.
    """
    if not ENDS_WITH_OWNER:
        return None
    prctl = ctypes.CDLL(None).prctl
    parent, getppid, leave = os.getpid(), os.getppid, os._exit
    ask, number = PR_SET_PDEATHSIG, int(signal.SIGTERM)

    def call() -> None:
        prctl(ask, number, 0, 0, 0)
        if getppid() != parent:
            leave(1)

    return call
