"""A session: the bus that a command works on, and a team behind it; started here if nobody has."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec

from actors import teams
from actors.bus.jetstream import JetStreamBus, connect
from actors.launcher import port as ports
from actors.launcher.embedded import EmbeddedBus, find
from actors.launcher.event import OnEvent, nobody
from actors.launcher.finding import data_folder
from actors.launcher.processes import ActorSpec, Fleet
from actors.settings import Settings
from actors.supervisor.roster import read_cards
from protocol import streams
from protocol.errors import InvalidError, UnreachableError

ROLES = "actors.launcher.roles"
READY_S = 20.0
LOOK_S = 0.02
SETTLE_S = 3.0


class Crew(msgspec.Struct, frozen=True, kw_only=True):
    """Which actors a team consists of: how many supervisors, and how many instances of each worker."""

    supervisors: int = 1
    instances: int = 1


async def supervised(bus: JetStreamBus, team: str) -> bool:
    """Whether a supervisor of that team is waiting for requests at this moment."""
    queue = (await bus.queues(streams.REQUESTS)).get(team)
    return queue is not None and queue.waiting > 0


@asynccontextmanager
async def open_bus(
    settings: Settings, *, timeout_s: float | None = 5.0, waiting: Callable[[str], None] | None = None
) -> AsyncGenerator[JetStreamBus]:
    """The bus that is running, for a command that only looks: by NATS_URL, or the embedded one of this user."""
    if not settings.nats_url:
        found = await asyncio.to_thread(find, settings.home_dir)
        if found is None:
            raise UnreachableError("no bus is running here: start one with `handoff up`, or set NATS_URL")
        settings = msgspec.structs.replace(settings, nats_url=found.url)
    bus = await connect(settings, name="handoff", timeout_s=timeout_s, waiting=waiting)
    try:
        yield bus
    finally:
        await bus.close()


class Session:
    """The bus, and the fleet that was started for it, if any. Used as `async with`."""

    def __init__(self, settings: Settings, *, on_event: OnEvent = nobody, quiet: bool = True) -> None:
        self.settings = settings
        self._on_event = on_event
        self._logs = settings.home_dir / "logs" if quiet else None
        self._stack = AsyncExitStack()
        self._embedded: EmbeddedBus | None = None
        self.fleet: Fleet | None = None
        self.bus: JetStreamBus

    async def __aenter__(self) -> "Session":
        try:
            if not self.settings.nats_url:
                self._embedded = await self._stack.enter_async_context(EmbeddedBus(self.settings, self._on_event))
                self.settings = msgspec.structs.replace(self.settings, nats_url=self._embedded.address.url)
            self.bus = await connect(self.settings, name="handoff", timeout_s=self._patience_s)
            self._stack.push_async_callback(self.bus.close)
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @property
    def owns_bus(self) -> bool:
        """Whether the bus ends with this session."""
        return self._embedded is not None and self._embedded.owned

    @property
    def shared(self) -> bool:
        """Whether another command still uses the bus that ends with this session."""
        return self._embedded is not None and self._embedded.owned and self._embedded.others_use_it()

    @property
    def _patience_s(self) -> float:
        return 5.0

    async def team_is_there(self) -> bool:
        """Whether somebody serves the team; one that is just starting on an adopted bus gets a moment."""
        moments = 1 if self.owns_bus or self._embedded is None else int(SETTLE_S / 0.1)
        for moment in range(moments):
            if await supervised(self.bus, self.settings.team):
                return True
            if moment + 1 < moments:
                await asyncio.sleep(0.1)
        return False

    async def start_team(self, crew: Crew) -> Fleet:
        """Start the team as processes of their own, and wait until all of them are there."""
        team = teams.find(self.settings.team, data_folder(self.settings))
        fleet = self.fleet = await self._stack.enter_async_context(Fleet(logs=self._logs, on_event=self._on_event))
        settings = self.settings
        specs: list[ActorSpec] = []
        if settings.offline:
            port = ports.free(0)
            specs.append(ActorSpec(name="model", entry=f"{ROLES}:model", args=(settings, port)))
            settings = msgspec.structs.replace(settings, anthropic_base_url=f"http://127.0.0.1:{port}")
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
            where = f"see {self._logs}" if self._logs else "see the log above"
            raise InvalidError([f"the team did not start within {READY_S:.0f} s: {where}"]) from None

    async def _counted(self, names: set[str], crew: Crew) -> bool:
        alive = [card.worker for _, card in await read_cards(self.bus, self.settings.team)]
        enough = all(alive.count(name) >= crew.instances for name in names)
        return enough and await supervised(self.bus, self.settings.team)


def _name(role: str, number: int) -> str:
    return role if number == 0 else f"{role} #{number + 1}"
