"""A session: the bus that a command works on, and a team behind it; started here if nobody has."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec

from actors.bus.jetstream import JetStreamBus, connect
from actors.launcher import port as ports
from actors.launcher.embedded import EmbeddedBus, find, silent, unanswered
from actors.launcher.event import OnEvent, nobody
from actors.launcher.finding import find_team
from actors.launcher.home import Home
from actors.launcher.lock import FileLock
from actors.launcher.model_check import check_model
from actors.launcher.processes import ActorSpec, Fleet
from actors.registry import is_served
from actors.settings import Settings
from actors.supervisor.roster import read_cards
from actors.worker.server_tools import require_server_tools
from protocol.errors import HandoffError, UnreachableError

ROLES = "actors.launcher.roles"
READY_S = 20.0
LOOK_S = 0.02
SETTLE_S = 3.0
SERVED_S = 0.1
PATIENCE_S = 5.0
FIND_S = 0.25


class Crew(msgspec.Struct, frozen=True, kw_only=True):
    """Which actors a team consists of: how many supervisors, and how many instances of each worker."""

    supervisors: int = 1
    instances: int = 1


async def becomes_served(bus: JetStreamBus, team: str, within_s: float) -> bool:
    """Whether a supervisor of the team is alive; one that is just starting gets a moment."""
    ends = asyncio.get_running_loop().time() + within_s
    while not await is_served(bus, team):
        if asyncio.get_running_loop().time() >= ends:
            return False
        await asyncio.sleep(SERVED_S)
    return True


async def located(
    settings: Settings, *, timeout_s: float | None = 0.0, waiting: Callable[[str], None] | None = None
) -> Settings:
    """The settings with an address: NATS_URL, or that of the embedded bus of this home, waited for up to `timeout_s`.

    `waiting` is told once. UnreachableError if there is none; None waits for ever.
    """
    ends = None if timeout_s is None else asyncio.get_running_loop().time() + timeout_s
    while not settings.nats_url:
        if found := await asyncio.to_thread(find, settings.home_dir):
            return msgspec.structs.replace(settings, nats_url=found.url)
        advice = "start one with `handoff up`, or set NATS_URL"
        if ends is not None and asyncio.get_running_loop().time() >= ends:
            if pid := await asyncio.to_thread(silent, settings.home_dir):
                raise UnreachableError(unanswered(settings.home_dir, pid))
            raise UnreachableError(f"no bus is running in {settings.home_dir}: {advice}")
        if waiting:
            waiting(f"no bus is running in {settings.home_dir} yet: waiting for one ({advice})")
        waiting = None
        await asyncio.sleep(FIND_S)
    return settings


@asynccontextmanager
async def open_bus(
    settings: Settings, *, timeout_s: float | None = PATIENCE_S, waiting: Callable[[str], None] | None = None
) -> AsyncGenerator[JetStreamBus]:
    """The bus that is running, for a command that only looks: by NATS_URL, or the embedded one of this user."""
    bus = await connect(await located(settings), name="handoff", timeout_s=timeout_s, waiting=waiting)
    try:
        yield bus
    finally:
        await bus.close()


class Session:
    """The bus, and the fleet that was started for it, if any. Used as `async with`."""

    def __init__(
        self,
        settings: Settings,
        *,
        on_event: OnEvent = nobody,
        timeout_s: float = PATIENCE_S,
        waiting: Callable[[str], None] | None = None,
    ) -> None:
        self.settings = settings
        self._on_event = on_event
        self._timeout_s = timeout_s
        self._waiting = waiting
        self._logs = settings.home_dir / "logs"
        self._gate = FileLock(Home(settings.home_dir).users)
        self._stack = AsyncExitStack()
        self._embedded: EmbeddedBus | None = None
        self.fleet: Fleet | None = None
        self.bus: JetStreamBus

    async def __aenter__(self) -> "Session":
        try:
            if not self.settings.nats_url:
                self._embedded = await self._stack.enter_async_context(EmbeddedBus(self.settings, self._on_event))
                self.settings = msgspec.structs.replace(self.settings, nats_url=self._embedded.address.url)
            self.bus = await connect(self.settings, name="handoff", timeout_s=self._timeout_s, waiting=self._waiting)
            self._stack.push_async_callback(self.bus.close)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self._stack.aclose()
        finally:
            self._gate.release()

    @property
    def owns_bus(self) -> bool:
        """Whether the bus ends with this session."""
        return self._embedded is not None and self._embedded.owned

    def let_nobody_in(self) -> bool:
        """Make sure that nobody begins to use a bus that is about to end; False if another command still uses it."""
        return not self.owns_bus or self._gate.take()

    async def team_is_there(self) -> bool:
        """Whether a supervisor of the team is alive; on a bus that is just being started there is none yet."""
        return await becomes_served(self.bus, self.settings.team, 0.0 if self.owns_bus else SETTLE_S)

    async def start_team(self, crew: Crew) -> Fleet:
        """Start the team as processes of their own, and wait until all of them are there.

        First the model provider is asked, free of charge, whether it takes the key: ModelError if not, and nothing is
        started.
        """
        await check_model(self.settings)
        team = find_team(self.settings)
        require_server_tools(team.workers, self.settings.model_worker)
        fleet = self.fleet = await self._stack.enter_async_context(Fleet(logs=self._logs, on_event=self._on_event))
        self._stack.push_async_callback(fleet.stop, self.settings.grace_s)
        settings = self.settings
        specs: list[ActorSpec] = []
        if settings.offline and not settings.offline_url:
            port = ports.free(0)
            options = {"host": ports.HOST, "port": port, "script": None, "requests": None, "profile": ""}
            specs.append(ActorSpec(name="model", entry=f"{ROLES}:model", args=(settings, options), last=True))
            settings = msgspec.structs.replace(settings, offline_url=f"http://127.0.0.1:{port}")
        specs += [
            ActorSpec(name=_name("supervisor", number), entry=f"{ROLES}:supervisor", args=(settings,))
            for number in range(crew.supervisors)
        ]
        for worker in team.workers:
            for number in range(crew.instances):
                name = _name(f"worker {worker.name}", number)
                specs.append(ActorSpec(name=name, entry=f"{ROLES}:worker", args=(settings, (worker.name,))))
        for spec in specs:
            await fleet.start(spec)
        await self._all_there({worker.name for worker in team.workers}, crew)
        return fleet

    async def _all_there(self, names: set[str], crew: Crew) -> None:
        try:
            async with asyncio.timeout(READY_S):
                while not await self._counted(names, crew):
                    await asyncio.sleep(LOOK_S)
        except TimeoutError:
            raise HandoffError(f"the team did not start within {READY_S:.0f} s: see {self._logs}") from None

    async def _counted(self, names: set[str], crew: Crew) -> bool:
        alive = [card.worker for _, card in await read_cards(self.bus, self.settings.team)]
        enough = all(alive.count(name) >= crew.instances for name in names)
        return enough and await is_served(self.bus, self.settings.team)


def _name(role: str, number: int) -> str:
    return role if number == 0 else f"{role} #{number + 1}"
