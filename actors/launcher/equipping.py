"""Equipping: a worker gets the tools that its tool servers lend it, for as long as it works."""

import contextlib
import importlib.util
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

from actors.clock import Clock
from actors.worker.definition import RESERVED, Worker
from protocol.errors import InvalidError

EXTRA = "pip install 'handoff-bus[mcp]'"


def require_servers(workers: Sequence[Worker]) -> None:
    """InvalidError if a worker lists tool servers and the package that speaks to them is not installed."""
    needy = [worker.name for worker in workers if worker.mcp]
    if needy and importlib.util.find_spec("mcp") is None:
        raise InvalidError(
            [f"worker {name!r} lists tool servers, which need one more package: {EXTRA}" for name in needy]
        )


@contextlib.asynccontextmanager
async def equipped(worker: Worker, clock: Clock) -> AsyncGenerator[Worker]:
    """The worker with its own tools and those it is lent; its tool servers are kept while the block lasts."""
    if not worker.mcp:
        yield worker
        return
    # Imported only where it is used: it brings the SDK of the protocol.
    from actors.toolservers.toolbox import borrowing

    async with borrowing(worker.tools, worker.mcp, clock, RESERVED) as tools:
        yield replace(worker, tools=tools, trouble=tools.trouble)
