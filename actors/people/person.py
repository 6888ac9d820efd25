"""A person as a worker: a card that says so, and a queue whose handoffs are held until they are answered.

Nothing is answered here: the result is written by whoever speaks for the person (`handoff inbox`), in this process or
another. What always holds: a handoff is acknowledged once its result is stored, its run is over or its time is up;
whoever stops gives back what it held at once, however often that was done before.
"""

import asyncio
import contextlib
from typing import Any

from actors.bus.port import Bus, Stored
from actors.clock import Clock
from actors.heartbeat import CardAddress, Heartbeat
from actors.lease import Lease
from actors.runner import Runner
from actors.server_time import sleep_until
from actors.settings import Settings
from actors.verdict import Ack, Refuse, Verdict
from actors.worker.definition import Worker
from actors.worker.queue_length import QueueLength
from actors.worker.run_end import RunEnd
from actors.worker.stopping import AT_DEADLINE_S, DROPPED, LATE, unwanted
from observability.logger import get_logger
from observability.redaction import redacted
from protocol import codec, streams, subjects
from protocol.errors import ConflictError, HandoffError, UndecodableError, UnknownTypeError
from protocol.messages import Card, Fault, Handoff, Result
from protocol.subjects import TaskAddress

SLOTS = 100
"""A person may have many handoffs lying before them."""
LONGEST = 1000

log = get_logger()


class PersonProcess:
    """Holds what is handed to a person, and tells everybody that the person can be asked."""

    def __init__(self, worker: Worker, bus: Bus, clock: Clock, settings: Settings, *, instance: str) -> None:
        self.worker = worker
        self._bus = bus
        self._clock = clock
        self._settings = settings
        self._instance = instance
        self._slots = worker.concurrency or SLOTS
        self._held: dict[TaskAddress, asyncio.Event] = {}
        self._dropped: set[TaskAddress] = set()
        self._ends: dict[str, RunEnd] = {}
        self._news = asyncio.Event()
        queue = streams.task_queue(settings.team, worker.name, settings.ack_wait)
        self._queue_length = QueueLength(bus, clock, queue, settings.heartbeat_s)
        self._runner = Runner(bus, clock, queue, self._slots, self._hold)

    async def run(self, stop: asyncio.Event) -> None:
        """Hold what comes until `stop` is set, then give it back."""
        team, name = self._settings.team, self.worker.name
        address = CardAddress(subjects.card(team, name, self._instance))
        results = subjects.stored(subjects.work_of("result", team, name))
        async with (
            self._bus.subscribe(results, self._hear),
            self._bus.subscribe(subjects.CANCELS, self._stop),
            Heartbeat(self._bus, self._clock, address, self._card, self._settings.heartbeat_s),
            asyncio.TaskGroup() as group,
        ):
            beside = [self._keep_looking(), self._remind(), self._queue_length.watch()]
            tasks = [group.create_task(work) for work in beside]
            await self._runner.run(stop, 0.0)  # nobody's answer is waited for
            for task in tasks:
                task.cancel()

    async def _hold(self, lease: Lease) -> Verdict:
        stored = lease.delivery.message
        address = subjects.address_of(stored.subject)
        try:
            handoff = codec.decode(stored.data, Handoff)
        except UndecodableError as error:
            return await self._refuse(address, str(error))
        over = self._held[address] = asyncio.Event()
        self._news.set()
        log.info("person.handed", run=address.run, task=address.task, worker=address.worker)
        try:
            await self._until(over, handoff.deadline)
        finally:
            if self._held.get(address) is over:  # it may have come again meanwhile
                del self._held[address]
        if handoff.deadline is not None and self._bus.now() >= handoff.deadline - AT_DEADLINE_S:
            await self._fail(address, LATE)  # a result that is there already counts
        return Ack()

    async def _until(self, over: asyncio.Event, deadline: float | None) -> None:
        tasks: list[asyncio.Task[Any]] = [asyncio.create_task(over.wait())]
        if deadline is not None:
            tasks.append(asyncio.create_task(sleep_until(deadline, self._bus.now, self._clock)))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    def _hear(self, _: Stored) -> None:
        self._news.set()

    def _stop(self, stored: Stored) -> None:
        """A run is over, which the look finds out, or some of its tasks are not wanted any more."""
        told = unwanted(stored)
        if told and told.tasks:
            self._dropped |= {held for held in self._held if held.run == told.run and told.has(held.task)}
        self._news.set()

    async def _remind(self) -> None:
        """What is republished may have gaps: look now and then."""
        while True:
            await self._clock.sleep(self._settings.poll_s)
            self._news.set()

    async def _keep_looking(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            try:
                await self._let_go()
            except HandoffError as error:  # the next look finds the same
                log.warning("person.look_failed", worker=self.worker.name, error=str(error))

    async def _let_go(self) -> None:
        for address in list(self._dropped):
            await self._fail(address, DROPPED)
            self._dropped.discard(address)
        for address in await self._over(list(self._held)):
            if address in self._held:
                self._held[address].set()

    async def _over(self, held: list[TaskAddress]) -> list[TaskAddress]:
        """Those that have a result, or whose run is over."""
        if not held:
            return []
        self._ends = {run: self._ends.get(run) or RunEnd(self._bus, run) for run in {address.run for address in held}}
        watched = [address.result for address in held]
        watched += [subject for end in self._ends.values() for subject in end.subjects]
        found = {stored.subject: stored for stored in await self._bus.last(streams.RUNS, watched)}
        ended = {run for run, end in self._ends.items() if await _has_ended(end, found)}
        return [address for address in held if address.result in found or address.run in ended]

    async def _refuse(self, address: TaskAddress, reason: str) -> Verdict:
        await self._fail(address, Fault(kind="undecodable", message=reason[:LONGEST]))
        return Refuse(reason)

    async def _fail(self, address: TaskAddress, fault: Fault) -> None:
        run, _, worker, task, attempt = address
        result = Result(
            run=run, task=task, attempt=attempt, worker=worker, instance=self._instance, status="failed", error=fault
        )
        with contextlib.suppress(ConflictError):
            await self._bus.publish(address.result, codec.encode(result), expect=0)

    def _card(self) -> Card:
        return Card(
            worker=self.worker.name,
            instance=self._instance,
            summary=" ".join(self.worker.summary.split()),
            capacity=self._slots,
            inflight=self._runner.busy,
            queue=self._queue_length.pending,
            fallback=self.worker.fallback,
            person=True,
            kind="person",
            trouble=redacted(codec.writable(self._runner.trouble))[:LONGEST],
        )


async def _has_ended(end: RunEnd, found: dict[str, Stored]) -> bool:
    """True if a run has ended. What a newer version writes into its log does not matter to a handoff that is held."""
    try:
        return await end.reached(found)
    except UnknownTypeError:
        return False
