"""The toolbox of a worker: its own tools, and those that its tool servers lend it now."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import msgspec

from actors.clock import Clock
from actors.tools.server import ToolServer
from actors.tools.signature import Signature
from actors.tools.tool import Tool
from actors.toolservers.keeper import Keeper
from actors.toolservers.naming import public_name
from actors.toolservers.offer import Offer
from observability.logger import get_logger

START_S = 5.0

log = get_logger()


@dataclass(frozen=True)
class Unchecked(Signature):
    """The signature of a tool whose arguments its server checks."""

    given: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as they are, or msgspec.ValidationError if they are no object at all."""
        return msgspec.convert(arguments, dict[str, Any])


class Toolbox(Sequence[Tool]):
    """All tools of a worker, as of now: it grows when a server comes, and keeps the tools of one that is away."""

    def __init__(self, own: Sequence[Tool], servers: Sequence[ToolServer], clock: Clock, reserved: Collection[str]):
        self._own = tuple(own)
        self._reserved = frozenset(reserved)
        self._tools = self._own
        self.keepers = [Keeper(server, clock, self._refresh) for server in servers]

    @overload
    def __getitem__(self, index: int) -> Tool: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Tool]: ...
    def __getitem__(self, index: int | slice) -> Tool | Sequence[Tool]:
        return self._tools[index]

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools)

    def trouble(self) -> str:
        """What is amiss with the servers now, in words for a person; empty if nothing is."""
        return "; ".join(keeper.trouble for keeper in self.keepers if keeper.trouble)

    def _refresh(self) -> None:
        names = {tool.name for tool in self._own} | self._reserved
        tools = list(self._own)
        for keeper in self.keepers:
            for offer in keeper.offers:
                name = public_name(keeper.server.name, offer.name, names)
                if name not in names:
                    names.add(name)
                    tools.append(lent(keeper, offer, name))
        self._tools = tuple(tools)


def lent(keeper: Keeper, offer: Offer, name: str) -> Tool:
    """The offer of a server as a tool of ours; unless the server says that it only reads, it has an effect."""

    async def call(**arguments: Any) -> str:
        return await keeper.call(offer.name, arguments)

    return Tool(
        name=name,
        description=offer.description,
        schema=offer.schema,
        function=call,
        signature=Unchecked(name, offer.description, offer.schema, msgspec.Struct),
        timeout_s=keeper.server.timeout_s,
        effect=not offer.reads,
        confirm=keeper.server.asks_before(offer.name),
    )


@contextlib.asynccontextmanager
async def borrowing(
    own: Sequence[Tool], servers: Sequence[ToolServer], clock: Clock, reserved: Collection[str]
) -> AsyncGenerator[Toolbox]:
    """A toolbox whose servers are kept while the block lasts; entered once each was tried, or after a few seconds."""
    box = Toolbox(own, servers, clock, reserved)
    keeping = [asyncio.create_task(keeper.keep(), name=f"toolserver {keeper.server.name}") for keeper in box.keepers]
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(START_S):
                for keeper in box.keepers:
                    await keeper.tried.wait()
        yield box
    finally:
        for task in keeping:
            task.cancel()
        await asyncio.gather(*keeping, return_exceptions=True)
