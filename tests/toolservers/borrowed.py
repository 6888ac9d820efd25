"""What the tests of tool servers share: servers as processes of their own, and short ways to call their tools."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actor_processes import until
from waiting import LIMIT_S

from actors.clock import SystemClock
from actors.tools.server import ToolServer
from actors.toolservers.toolbox import Toolbox, borrowing
from actors.worker.definition import RESERVED
from protocol.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Generator
    from contextlib import AbstractAsyncContextManager

HERE = Path(__file__).parent
HONEST = (sys.executable, str(HERE / "honest_server.py"))
LYING = (sys.executable, str(HERE / "lying_server.py"))


def honest(*, timeout_s: float = 2 * LIMIT_S, **more: Any) -> ToolServer:
    return ToolServer("desk", command=HONEST, timeout_s=timeout_s, **more)


def borrowed(*servers: ToolServer) -> "AbstractAsyncContextManager[Toolbox]":
    return borrowing((), servers, SystemClock(), RESERVED)


async def use(box: Toolbox, name: str, **arguments: Any) -> str:
    return await next(tool for tool in box if tool.name == name).call(arguments)


async def refused(box: Toolbox, name: str, **arguments: Any) -> str:
    """What the model is told of a call that fails."""
    try:
        said = await use(box, name, **arguments)
    except ToolError as error:
        return str(error)
    raise AssertionError(f"{name} did not fail: {said[:200]}")


async def text_in(path: Path) -> str:
    """What is in the file, once something is."""
    found: list[str] = []

    def there() -> bool:
        found[:] = [path.read_text()] if path.exists() else []
        return bool(found and found[0])

    await until(there)
    return found[0]


def names(box: Toolbox) -> list[str]:
    return [tool.name for tool in box]


async def soon(condition: Callable[[], bool]) -> None:
    await until(condition)


@contextmanager
def served_over_http(port: int, ready: Path) -> "Generator[subprocess.Popen[bytes]]":
    """The honest server behind a port, killed when the block is left."""
    process = subprocess.Popen([*HONEST, str(port), str(ready)], stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True
