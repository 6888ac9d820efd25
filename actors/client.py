"""The client: puts requests onto the bus and follows what becomes of them.

async with Client() as client:
run = await client.ask("Which region grew fastest?")
async for event in run.events():
print(event)
answer = await run.answer()
"""

import asyncio
import os
from collections.abc import AsyncGenerator
from types import TracebackType

import msgspec

from actors.bus.port import Bus, Stored
from actors.clock import Clock, SystemClock
from actors.record import Entry, Recorded, read_run, understand
from actors.run.plan_check import plan_faults, request_faults
from actors.settings import Settings
from observability.context import current_traceparent
from protocol import codec, streams, subjects
from protocol.controls import Cancel, Control
from protocol.errors import InvalidError, UndecodableError, UnreachableError
from protocol.events import Finished
from protocol.ids import RunId, is_run_id, new_run_id, token_fault
from protocol.messages import Answer, Plan, Request

SILENCE_S = 2.0
"""After that long without news the stream is read: what is republished may have gaps."""

ROOM_BYTES = 2048


class Run:
    """One run, seen from outside."""

    def __init__(self, bus: Bus, clock: Clock, run: RunId) -> None:
        self.id = run
        self._bus = bus
        self._clock = clock
        self._answer: Answer | None = None

    async def record(self) -> AsyncGenerator[Recorded]:
        """Everything stored of the run, from its beginning to its end, as it happens."""
        news: asyncio.Queue[Stored | None] = asyncio.Queue()
        subject = subjects.stored(subjects.run_tree(self.id))
        async with self._bus.subscribe(subject, news.put_nowait):
            forget = self._bus.on_reconnect(lambda: news.put_nowait(None))
            alarm = asyncio.create_task(self._alarm(news))
            try:
                async for entry in self._merged(news):
                    yield entry
                    if isinstance(entry.message, Finished):
                        self._answer = entry.message.answer
                        return
            finally:
                forget()
                alarm.cancel()

    async def events(self) -> AsyncGenerator[Entry]:
        """Every Event, Handoff, Step, Result and Control of the run, to its end."""
        async for entry in self.record():
            yield entry.message

    async def answer(self) -> Answer:
        """The answer, once there is one."""
        if self._answer is None:
            last = await self._bus.last(streams.RUNS, [subjects.log(self.id)])
            event = codec.decode_event(last[0].data) if last else None
            if isinstance(event, Finished):
                self._answer = event.answer
            else:
                async for _ in self.record():
                    pass
        assert self._answer is not None  # a record ends with the answer
        return self._answer

    async def past(self) -> list[Recorded]:
        """What is stored of the run now."""
        return await read_run(self._bus, self.id)

    async def cancel(self, reason: str = "") -> None:
        """Ask for the end of the run."""
        await self.control(Cancel(reason=reason))

    async def control(self, control: Control) -> None:
        """Tell the run something."""
        await self._bus.publish(subjects.control(self.id), codec.encode(control))

    async def _merged(self, news: "asyncio.Queue[Stored | None]") -> AsyncGenerator[Recorded]:
        """What is heard, and what the stream says where something may have been missed; each message once."""
        read_to = 0
        seen: set[int] = set()
        heard: Stored | None = None
        while True:
            batch = [heard] if heard else await self._bus.read(streams.RUNS, subjects.run_tree(self.id), after=read_to)
            new = [stored for stored in batch if stored.seq > read_to and stored.seq not in seen]
            if heard:
                seen.add(heard.seq)
            elif batch:
                read_to = batch[-1].seq
                seen = {seq for seq in seen if seq > read_to}
            for stored in new:
                if entry := understand(stored):
                    yield entry
            heard = await news.get()

    async def _alarm(self, news: "asyncio.Queue[Stored | None]") -> None:
        while True:
            await self._clock.sleep(SILENCE_S)
            news.put_nowait(None)


class Client:
    """A way onto the bus. Without arguments it finds it by the environment, or the embedded one of this user."""

    def __init__(self, bus: Bus | None = None, *, settings: Settings | None = None, clock: Clock | None = None) -> None:
        self._bus = bus
        self._own = bus is None
        self._settings = settings
        self._clock = clock or SystemClock()

    async def __aenter__(self) -> "Client":
        self.settings = self._settings or _settings()
        if self._bus is None:
            self._bus = await _connect(self.settings)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._own and self._bus:
            await self._bus.close()

    @property
    def bus(self) -> Bus:
        """The bus, once entered."""
        if self._bus is None:
            raise UnreachableError("use the client as `async with Client() as client`")
        return self._bus

    async def ask(
        self, text: str = "", *, plan: Plan | None = None, team: str = "", synthesis: bool = True, **more: object
    ) -> Run:
        """Put a request onto the bus; it is accepted when this returns. `more` are other fields of Request."""
        fields = {"text": text, "plan": plan, "team": team or self.settings.team, "synthesis": synthesis} | more
        if unknown := sorted(set(more) - set(Request.__struct_fields__)):
            raise InvalidError([f"a request has no field {name!r}" for name in unknown])
        try:
            request = msgspec.convert(fields, Request, from_attributes=True)
        except msgspec.ValidationError as error:
            raise InvalidError([f"the request cannot be sent: {error}"]) from error
        return await self.submit(request)

    async def submit(self, request: Request) -> Run:
        """Put a whole request onto the bus."""
        request = checked(request, self.settings)
        data = codec.encode(request)
        headers = {"Nats-Msg-Id": request.id} | current_traceparent()
        await self.bus.publish(subjects.request(request.team), data, headers=headers)
        return self.run(request.id)

    def run(self, run: str) -> Run:
        """A run that exists, by its id."""
        if not is_run_id(run):
            raise InvalidError([f"{run!r} is not the id of a run"])
        return Run(self.bus, self._clock, RunId(run))


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
