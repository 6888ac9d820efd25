"""The keeper of one tool server: connects, looks after it, and connects again when it is lost.

What always holds: one task opens and closes the connection; a server that is away never ends the worker; a call that
was under way when the server died fails and is not made again by us, for nobody knows what it did.
"""

import asyncio
import contextlib
import difflib
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from typing import Any, NoReturn, cast

from actors.clock import Clock
from actors.tools.server import ToolServer
from actors.toolservers.connection import Connection, LostError, connected
from actors.toolservers.offer import Offer, taken
from actors.toolservers.restart_delay import RestartDelay
from observability.logger import get_logger
from protocol.errors import ToolError

LOOK_EVERY_S = 30.0
LOOK_S = 10.0
PATIENCE_S = 10.0
SHOWN = 12

log = get_logger()

Connect = Callable[[ToolServer], AbstractAsyncContextManager[Connection]]


class Keeper:
    """Keeps one server. `offers` are its tools as last seen, and stay while it is away; `tried` says it was sought."""

    def __init__(self, server: ToolServer, clock: Clock, changed: Callable[[], None]) -> None:
        self.server = server
        self.offers: list[Offer] = []
        self.tried = asyncio.Event()
        self._clock = clock
        self._changed = changed
        self._connection: Connection | None = None
        self._ready = asyncio.Event()
        self._doubt = asyncio.Event()
        self._busy = 0
        self._usable = False
        self._why = "it was not reached yet"
        self._lacking = ""

    @property
    def there(self) -> bool:
        """Whether the server can be spoken to now."""
        return self._connection is not None and not self._connection.life.ended.is_set()

    @property
    def trouble(self) -> str:
        """Why tools of this server cannot be used now, for a person; empty if all can."""
        return self._lacking if self.there else f"tool server {self.server.name!r} is not there: {self._why}"

    async def keep(self, connect: Connect = connected) -> None:
        """Look after the server until cancelled."""
        delay = RestartDelay()
        while True:
            began, self._usable = self._clock.monotonic(), False
            self._why = await self._live(connect)
            self.tried.set()
            wait_s = delay.next(usable=self._usable, lived_s=self._clock.monotonic() - began)
            log.warning("toolserver.lost", server=self.server.name, reason=self._why, again_in_s=wait_s)
            await self._clock.sleep(wait_s)

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """Let the server run the tool; ToolError says what the model should know."""
        connection = await self._reach()
        self._busy += 1
        try:
            return await connection.call(tool, arguments)
        except LostError as error:
            connection.life.end()
            raise ToolError(
                f"the tool server {self.server.name} died while this ran: whether it was done is not known"
            ) from error
        except asyncio.CancelledError:
            # It took too long, perhaps because the whole server hangs.
            self._doubt.set()
            raise
        finally:
            self._busy -= 1

    async def _reach(self) -> Connection:
        """The connection, waited for a little if the server is being started again."""
        if not self.there:
            self._ready.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(PATIENCE_S, self.server.timeout_s / 2)):
                    await self._ready.wait()
        if self._connection is None or not self.there:
            raise ToolError(f"the tool server {self.server.name} is not there now: {self._why}")
        return self._connection

    async def _live(self, connect: Connect) -> str:
        """One life of the connection; returns why it ended."""
        try:
            async with connect(self.server) as connection:
                await self._attend(connection)
        except Exception as error:  # noqa: BLE001  whatever a server does, it is only lost
            return reason(error)
        finally:
            self._ready.clear()
            self._connection = None

    async def _attend(self, connection: Connection) -> NoReturn:
        await self._look(connection)
        self._connection, self._usable = connection, True
        self._ready.set()
        self.tried.set()
        log.info("toolserver.ready", server=self.server.name, tools=len(self.offers))
        while not connection.life.ended.is_set():
            self._doubt.clear()
            await self._until_due(connection)
            # A server may do one thing at a time: as long as a call is under way, silence means nothing.
            if not self._busy and not connection.life.ended.is_set():
                await self._look(connection)
        raise LostError

    async def _until_due(self, connection: Connection) -> None:
        """Wait until the server has ended, is in doubt, or was not looked at for a while."""
        waits = [
            asyncio.create_task(wait)
            for wait in (connection.life.ended.wait(), self._doubt.wait(), self._clock.sleep(LOOK_EVERY_S))
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waits:
                task.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def _look(self, connection: Connection) -> None:
        """See that it answers, and what tools it has now."""
        async with asyncio.timeout(LOOK_S):
            found = await connection.offers()
        wanted = [offer for offer in found if self.server.wants(offer.name)]
        for name in sorted(set(self.server.tools) - {offer.name for offer in wanted}):
            log.warning("toolserver.tool_missing", server=self.server.name, tool=name)
        self.offers = taken(self.server.name, wanted)
        self._lacking = lacking(self.server, [offer.name for offer in self.offers], [offer.name for offer in found])
        self._changed()


def lacking(server: ToolServer, lent: Collection[str], offered: Collection[str]) -> str:
    """Which of the tools that are named the server does not lend, and what may have been meant; empty if none."""
    told: list[str] = []
    for name in sorted(set(server.tools) - set(lent)):
        near = difflib.get_close_matches(name, offered, n=1)
        there = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(sorted(offered)[:SHOWN]) or 'none'}"
        why = "what it offers cannot be taken, see the log" if name in offered else there
        told.append(f"tool server {server.name!r} lends no {name!r} ({why})")
    return "; ".join(told)


def reason(error: BaseException) -> str:
    """An error in one line, out of whatever groups it came in."""
    if isinstance(error, BaseExceptionGroup):
        return reason(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    return " ".join(f"{error}".split())[:300] or type(error).__name__
