"""The supervisor: a process that holds runs. Any number of them share the requests of a team."""

import asyncio
import dataclasses
from math import inf

import msgspec

from actors import __version__
from actors.bus.port import Bus, Stored
from actors.clock import Clock
from actors.heartbeat import CardAddress, Heartbeat
from actors.lease import Lease
from actors.model.port import Model
from actors.run.limits import Limits
from actors.run.plan_check import request_faults
from actors.runner import Runner
from actors.settings import Settings
from actors.supervisor.breakers import Breakers
from actors.supervisor.desk import Desk
from actors.supervisor.live_run import LiveRun
from actors.supervisor.pricing import Price, Pricing, nobody_knows
from actors.supervisor.roles.registry import make_roles
from actors.supervisor.roles.role import RoleKit
from actors.supervisor.roster import Roster
from actors.supervisor.storage_watch import StorageWatch
from actors.supervisor.storyteller import Story, Storyteller
from actors.verdict import Refuse, Retry, Verdict
from observability import names
from observability.live import holding_run, watch
from observability.logger import get_logger
from observability.redaction import redacted
from protocol import codec, streams, subjects
from protocol.errors import BusError
from protocol.ids import derived_run_id, is_run_id
from protocol.messages import Budget, Request, SupervisorCard

TICK_S = 0.1
LOOK_AROUND_S = 1.0
ROOM_RETRY_S = 10.0
"""When a request comes again that was not taken because the store is full."""

LONGEST = 1000
STARTED_BYTES = 2048
"""What the `started` event needs beside the request it carries."""

log = get_logger()


class Supervisor:
    """Takes the requests of one team, as many at a time as it has slots."""

    def __init__(self, bus: Bus, clock: Clock, model: Model, settings: Settings, *, instance: str) -> None:
        self._bus = bus
        self._model = model
        self._settings = settings
        self._runs: dict[str, list[LiveRun]] = {}
        self._holds_runs = asyncio.Event()
        self._desk = _desk(bus, clock, model, settings, instance=instance)
        self._storage = StorageWatch(bus, clock)
        self._storyteller = Storyteller(bus, clock, lambda: bool(self._runs))

    def give_prices(self, price: Price) -> None:
        """Let plans be priced by this list before they run; without one their price is not known."""
        pricing = Pricing(price, self._settings)
        roles = make_roles(RoleKit(model=self._model, settings=self._settings, pricing=pricing))
        self._desk = dataclasses.replace(self._desk, pricing=pricing, roles=roles)

    def name_model(self, name: str) -> None:
        """Say by which name answers call the model of this supervisor, if that is the offline model."""
        self._desk = dataclasses.replace(self._desk, model=name or self._settings.model_planner)

    async def run(self, stop: asyncio.Event) -> None:
        """Hold runs until `stop` is set; then let go of them, others go on where this one was."""
        team = self._desk.team
        queue = streams.request_queue(team, self._settings.ack_wait)
        self._runner = Runner(self._bus, self._desk.clock, queue, self._settings.runs, self._handle)
        async with (
            self._bus.subscribe(subjects.all_results(team), self._heard),
            self._bus.subscribe(subjects.ALL_CONTROLS, self._heard),
            self._bus.subscribe(subjects.breakers(team), self._desk.breakers.heard),
            self._heartbeat() as heartbeat,
        ):
            await self._learn_kept_time()
            await self._storage.look()
            await self._desk.look_around()
            self._show_figures()
            forget = self._bus.on_reconnect(self._look)
            async with asyncio.TaskGroup() as group:
                works = (self._tick(), self._stop_runs(stop, heartbeat), self._storyteller.run(), self._storage.run())
                beside = [group.create_task(work) for work in works]
                try:
                    await self._runner.run(stop, self._settings.grace_s)
                    await self._storyteller.finish()
                finally:
                    forget()
                    for task in beside:
                        task.cancel()

    async def _handle(self, lease: Lease) -> Verdict:
        stored = lease.delivery.message
        request = codec.decode(stored.data, Request)
        if request.id and not is_run_id(request.id):
            return Refuse("; ".join(request_faults(request)))
        run = request.id or derived_run_id(streams.REQUESTS, stored.seq, stored.time_ns)
        if self._storage.why_full and not await self._has_begun(run):
            return Retry(ROOM_RETRY_S)
        budget = _filled(request.budget, self._settings.budget)
        request = msgspec.structs.replace(request, id=run, team=self._desk.team, budget=budget)
        size, limit = len(codec.encode(request)), self._settings.message_bytes - STARTED_BYTES
        if size > limit:
            return Refuse(f"the request has {size:,} bytes with all its fields; the limit is {limit:,}")
        live = LiveRun(self._desk, request, lease)
        # A request may be delivered again to the process that holds it: both go on until the log says whose it is.
        self._runs.setdefault(run, []).append(live)
        self._holds_runs.set()
        story: Story | None = None
        with holding_run(run):
            try:
                verdict = await live.live()
            finally:
                self._runs[run].remove(live)
                if not self._runs[run]:
                    del self._runs[run]
                if not self._runs:
                    self._holds_runs.clear()
                if live.answer is not None and not live.history_is_gone:
                    story = self._storyteller.ended(run, live.results)
        if story is not None:
            # Whoever dies before it is told leaves the request to somebody who tells it.
            await self._storyteller.until_told(story, self._desk.stopping)
        return verdict

    async def _has_begun(self, run: str) -> bool:
        """Whether a supervisor took the run before: such a run must come to its end, however full the store is."""
        return bool(await self._bus.last(streams.RUNS, [subjects.log(run)]))

    async def _learn_kept_time(self) -> None:
        """A stream that exists keeps its own time, whatever the settings say."""
        try:
            kept_s = (await self._bus.store_state(streams.RUNS)).keep_s or inf
        except BusError as error:
            kept_s = self._settings.keep.total_seconds()
            log.warning("supervisor.kept_time_unknown", assumed_s=kept_s, error=str(error))
        limits = msgspec.structs.replace(self._desk.limits, keep_s=kept_s)
        self._desk = dataclasses.replace(self._desk, limits=limits)

    def _show_figures(self) -> None:
        watch(names.WORKERS_ALIVE[0], self._desk.team, lambda: self._desk.roster.counts)
        watch(names.BREAKERS[0], self._desk.team, lambda: self._desk.breakers.levels)

    def _heard(self, stored: Stored) -> None:
        for live in self._runs.get(subjects.run_of(stored.subject), ()):
            live.hear(stored)

    def _look(self) -> None:
        for live in self._all():
            live.look()

    def _all(self) -> list[LiveRun]:
        return [live for same in self._runs.values() for live in same]

    async def _tick(self) -> None:
        looked = self._desk.clock.monotonic()
        while True:
            await self._holds_runs.wait()
            await self._desk.clock.sleep(TICK_S)
            now = self._desk.clock.monotonic()
            if self._runs and now >= looked + LOOK_AROUND_S:
                looked = now
                try:
                    await self._desk.look_around()
                except BusError as error:  # what was known a moment ago has to do; time must not stand still
                    log.warning("supervisor.blind", error=str(error))
            for live in self._all():
                live.tick()

    def _heartbeat(self) -> Heartbeat:
        """Announces this supervisor until it takes no more requests."""
        key = subjects.supervisor_card(self._desk.team, self._desk.instance)
        address = CardAddress(key, streams.SUPERVISORS)
        return Heartbeat(self._bus, self._desk.clock, address, self._card, self._settings.heartbeat_s)

    def _card(self) -> SupervisorCard:
        return SupervisorCard(
            team=self._desk.team,
            instance=self._desk.instance,
            version=__version__,
            slots=self._settings.runs,
            runs=len(self._all()),
            trouble=redacted(self._runner.trouble)[:LONGEST],
        )

    async def _stop_runs(self, stop: asyncio.Event, heartbeat: Heartbeat) -> None:
        await stop.wait()
        self._desk.stopping.set()
        for live in self._all():
            live.stop()
        await heartbeat.end()


def _filled(own: Budget, default: Budget) -> Budget:
    """The budget of a request, with what it leaves open."""
    given = {name: value for name, value in msgspec.structs.asdict(own).items() if value is not None}
    return msgspec.structs.replace(default, **given)


def _desk(bus: Bus, clock: Clock, model: Model, settings: Settings, *, instance: str) -> Desk:
    limits = Limits(
        attempts=settings.attempts,
        plan_tries=settings.plan_tries,
        revisions=settings.revisions,
        deadline_s=settings.deadline_s,
        review_s=settings.review_s,
        planner_tasks=settings.planner_tasks,
        request_tasks=settings.request_tasks,
        depth=settings.depth,
        reading=settings.reading,
    )

    pricing = Pricing(nobody_knows, settings)
    return Desk(
        bus=bus,
        clock=clock,
        settings=settings,
        team=settings.team,
        instance=instance,
        limits=limits,
        roster=Roster(bus, clock, settings.team),
        breakers=Breakers(bus, clock, settings.team, after=settings.breaker_failures, cool_s=settings.breaker_cool_s),
        pricing=pricing,
        roles=make_roles(RoleKit(model=model, settings=settings, pricing=pricing)),
    )
