"""A tool server by the real SDK, as a process of its own: over its pipes, or with a port over HTTP."""

import os
import signal
import sys
from pathlib import Path

import anyio
from mcp.server.mcpserver import Image, MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("honest", log_level="ERROR")


@server.tool(annotations=ToolAnnotations(read_only_hint=True), structured_output=False)
def add(first: int, second: int) -> str:
    """Add two whole numbers."""
    return str(first + second)


@server.tool(structured_output=False)
def whoami() -> str:
    """The process id of the server, and the names of what it finds in its environment."""
    return f"{os.getpid()} {' '.join(sorted(os.environ))}"


@server.tool(structured_output=False)
async def nap(seconds: float, noted_in: str = "") -> str:
    """Sleep for a while; the file is written once the nap has begun."""
    if noted_in:
        await anyio.Path(noted_in).write_text(str(os.getpid()))
    await anyio.sleep(seconds)
    return "rested"


@server.tool(structured_output=False)
def hang(seconds: float) -> str:
    """Hold up the whole server."""
    signal.sigtimedwait([signal.SIGUSR2], seconds)
    return "back"


@server.tool(structured_output=False)
def fail() -> str:
    """Raise."""
    raise ValueError("out of paper")


@server.tool(structured_output=False)
def shout(characters: int) -> str:
    """Say very much."""
    return "x" * characters


@server.tool(structured_output=False)
def picture() -> list[str | Image]:
    """A text, and an image of one pixel."""
    return ["a red dot", Image(data=b"\x89PNG" + bytes(500), format="png")]


@server.tool(structured_output=False)
def die() -> str:
    """End the process at once."""
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


if __name__ == "__main__":
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(str(os.getpid()))
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
