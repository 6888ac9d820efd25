"""The client: puts requests onto the bus and follows what becomes of them.

A whole program:

    import asyncio

    from actors import Client


    async def main() -> None:
        async with Client() as client:
            run = await client.ask("Which region grew fastest?")
            async for event in run.events():
                print(event)
            answer = await run.answer(timeout=600)
            print(answer.to_dict())


    asyncio.run(main())

Without arguments, `Client` takes the address of the bus from the environment, or finds the bus of `handoff up`.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from types import TracebackType

import msgspec

from actors.bus.port import Bus
from actors.clock import Clock, SystemClock
from actors.registry import served_soon, served_teams
from actors.remote_run import Run
from actors.run.plan_check import plan_faults, request_faults
from actors.settings import Settings
from observability.context import current_traceparent
from protocol import codec, subjects
from protocol.errors import InvalidError, UndecodableError, UnreachableError, UnservedError
from protocol.ids import RunId, is_run_id, new_run_id, token_fault
from protocol.messages import Artifact, Budget, Plan, Request

ROOM_BYTES = 2048
SERVED_S = 2.0
"""How long a client that saw a supervisor of a team does not look for one again."""

CHECK_S = 5.0
"""A client that cannot read the registry within this time sends its request without having looked."""

UNREADABLE_S = 300.0
"""How long a client then does not try to read the registry again."""

NOT_CONNECTED = "this Client is not connected: use it as `async with Client() as client: ...`"


class Client:
    """A way onto the bus. Without arguments it finds it by the environment, or the embedded one of this user."""

    def __init__(self, bus: Bus | None = None, *, settings: Settings | None = None, clock: Clock | None = None) -> None:
        self._bus = bus
        self._own = bus is None
        self._settings = settings
        self._clock = clock or SystemClock()
        self._served_until: dict[str, float] = {}
        self._checking = asyncio.Lock()

    async def __aenter__(self) -> "Client":
        self._settings = self._settings or _settings()
        if self._bus is None:
            self._bus = await _connect(self._settings)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._own and self._bus:
            bus, self._bus = self._bus, None
            await bus.close()

    @property
    def bus(self) -> Bus:
        """The bus, once entered."""
        if self._bus is None:
            raise RuntimeError(NOT_CONNECTED)
        return self._bus

    @property
    def settings(self) -> Settings:
        """The settings, once entered."""
        if self._settings is None:
            raise RuntimeError(NOT_CONNECTED)
        return self._settings

    async def ask(  # noqa: PLR0913 - the fields of a request, each by its name
        self,
        text: str = "",
        *,
        plan: Plan | None = None,
        team: str = "",
        synthesis: bool = True,
        budget: Budget | None = None,
        deadline_s: float | None = None,
        artifacts: Sequence[Artifact] = (),
        review: bool = False,
        metadata: Mapping[str, str] | None = None,
        id: str = "",  # noqa: A002 - as the field is called
        check_served: bool = True,
    ) -> Run:
        """Put a request onto the bus; it is accepted when this returns. InvalidError lists what is wrong with it.

        UnservedError if no supervisor of the team is alive; without `check_served` the request waits for one.
        `text` is what is asked for; a `plan` of one's own needs none. Without `synthesis` the answer is the results as
        they are. With `review` the plan waits for an approval. A request with the `id` of an earlier one is that one.
        """
        try:
            request = msgspec.convert(
                {
                    "id": id,
                    "text": text,
                    "plan": plan,
                    "team": team or self.settings.team,
                    "synthesis": synthesis,
                    "budget": Budget() if budget is None else budget,
                    "deadline_s": deadline_s,
                    "artifacts": artifacts,
                    "review": review,
                    "metadata": {} if metadata is None else metadata,
                },
                Request,
                from_attributes=True,
            )
        except msgspec.ValidationError as error:
            raise InvalidError([f"the request cannot be sent: {error}"]) from error
        return await self.submit(request, check_served=check_served)

    async def submit(self, request: Request, *, check_served: bool = True) -> Run:
        """Put a whole request onto the bus, as `ask` does with its parts."""
        request = checked(request, self.settings)
        if check_served:
            await self._check_served(request.team)
        data = codec.encode(request)
        headers = {"Nats-Msg-Id": request.id} | current_traceparent()
        seq = await self.bus.publish(subjects.request(request.team), data, headers=headers)
        return Run(self.bus, self._clock, RunId(request.id), request_seq=seq)

    def run(self, run: str) -> Run:
        """A run that exists, by its id. Its methods raise UnknownRunError if there is none."""
        if not is_run_id(run):
            raise InvalidError([f"{run!r} is not the id of a run"])
        return Run(self.bus, self._clock, RunId(run))

    async def _check_served(self, team: str) -> None:
        """UnservedError if no supervisor of the team is alive; nothing is stored then."""
        async with self._checking:  # of many requests at once one looks
            if self._clock.monotonic() < self._served_until.get(team, 0.0):
                return
            try:
                async with asyncio.timeout(CHECK_S):
                    if not await served_soon(self.bus, self._clock, team):
                        raise UnservedError(team, _where(self.settings), sorted(await served_teams(self.bus)))
                valid_s = SERVED_S
            except TimeoutError:  # the bus is away, which a publish waits for, or this user may not read the registry
                valid_s = UNREADABLE_S
            self._served_until[team] = self._clock.monotonic() + valid_s


def checked(request: Request, settings: Settings) -> Request:
    """The request with an id and a team, fit to be put onto the bus; or InvalidError with every fault."""
    request = msgspec.structs.replace(request, id=request.id or new_run_id(), team=request.team or settings.team)
    try:
        codec.decode(codec.encode(request), Request)
    except (UndecodableError, TypeError, ValueError) as error:
        raise InvalidError([f"the request cannot be sent: {error}"]) from error
    faults = request_faults(request) + [f for f in [token_fault("team", request.team)] if f]
    if request.plan:
        faults += plan_faults(request.plan, settings.request_tasks)
    size = len(codec.encode(request))
    if size > (limit := settings.message_bytes - ROOM_BYTES):
        faults.append(f"the request has {size:,} bytes; the limit is {limit:,}: put long texts into a folder")
    if faults:
        raise InvalidError(faults)
    return request


def _where(settings: Settings) -> str:
    from actors.bus.jetstream.connection import shown

    return shown(settings.nats_url) if settings.nats_url else "this bus"


def _settings() -> Settings:
    from actors.launcher.team_settings import read_team_settings

    return read_team_settings(os.environ)


async def _connect(settings: Settings) -> Bus:
    from actors.bus.jetstream import connect
    from actors.launcher.embedded import find

    if not settings.nats_url:
        found = find(settings.home_dir)
        if found is None:
            raise UnreachableError("no bus is running: start one with `handoff up`, or set NATS_URL")
        settings = msgspec.structs.replace(settings, nats_url=found.url)
    return await connect(settings, name="handoff client", timeout_s=5.0)
