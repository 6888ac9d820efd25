"""A worker at work: one more subscriber. Any number of processes of one kind share its queue."""

import asyncio
import inspect
from collections import deque
from statistics import median

import msgspec

from actors.bus.port import Bus, Stored
from actors.clock import Clock
from actors.heartbeat import CardAddress, Heartbeat
from actors.lease import Lease
from actors.model.port import Model
from actors.runner import Runner
from actors.settings import Settings
from actors.verdict import Ack, Refuse, Retry, Verdict
from actors.worker.agent import Agent
from actors.worker.definition import Outcome, Worker, sound
from actors.worker.ending import Over, Yielded
from actors.worker.jobs import Job, Jobs
from actors.worker.logbook import Logbook
from actors.worker.moves import last_words, spent
from actors.worker.queue_length import QueueLength
from actors.worker.results import Results
from actors.worker.server_tools import require_server_tools
from actors.worker.stopping import LATE, unwanted
from actors.worker.takings import losses_if_taken
from observability import live
from observability.logger import get_logger
from observability.logs import trace_of
from observability.redaction import redacted
from protocol import codec, streams, subjects
from protocol.errors import DeclinedError, FencedError, HandoffError, UndecodableError, UnknownTypeError
from protocol.messages import Card, Fault, Handoff
from protocol.subjects import TaskAddress

RECENT = 64
LONGEST = 1000
MARK_S = 2.0
"""How long a process that stops waits until the return of a task is stored."""

log = get_logger()


class WorkerProcess:
    """Lets one worker do what is handed to it, and tells everybody that it is there."""

    def __init__(self, worker: Worker, bus: Bus, clock: Clock, settings: Settings, *, instance: str) -> None:
        self.worker = worker
        self._bus = bus
        self._clock = clock
        self._settings = settings
        self._instance = instance
        self._agent: Agent | None = None
        self._shown_model = ""
        self._slots = worker.concurrency or settings.concurrency
        self._jobs = Jobs(clock, bus.now)
        self._stopping = asyncio.Event()
        self._results = Results(bus, settings, worker.name, instance)
        self._seconds: deque[float] = deque(maxlen=RECENT)
        self._is_async = inspect.iscoroutinefunction(worker.run)
        queue = streams.task_queue(settings.team, worker.name, settings.ack_wait)
        self._queue_length = QueueLength(bus, clock, queue, settings.heartbeat_s)
        self._runner = Runner(bus, clock, queue, self._slots, self._handle)

    def give_model(self, model: Model, *, shown: str = "") -> None:
        """Let the worker think with this model; a function needs none. `shown` is the name on the card, if another."""
        require_server_tools([self.worker], self._settings.model_worker)
        self._shown_model = shown
        self._agent = Agent(self.worker, model, self._bus, self._clock, self._settings)

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set, then finish or hand back what is under way."""
        if self.worker.run is None and self._agent is None:
            raise ValueError(f"worker {self.worker.name} needs a model")
        address = CardAddress(subjects.card(self._settings.team, self.worker.name, self._instance))
        async with (
            self._bus.subscribe(subjects.CANCELS, self._cancel),
            Heartbeat(self._bus, self._clock, address, self._card, self._settings.heartbeat_s) as heartbeat,
            asyncio.TaskGroup() as group,
        ):
            works = (self._note_stop(stop, heartbeat), self._queue_length.watch(), self._jobs.watch_deadlines())
            beside = [group.create_task(work) for work in works]
            try:
                await self._runner.run(stop, self._settings.grace_s)
            finally:
                for task in beside:
                    task.cancel()

    async def _handle(self, lease: Lease) -> Verdict:
        stored = lease.delivery.message
        address = subjects.address_of(stored.subject)
        try:
            handoff = codec.decode(stored.data, Handoff)
        except UndecodableError as error:
            return await self._refuse(address, "undecodable", str(error))
        logbook = Logbook(self._bus, address, lease)
        # Before the look: a cancel that comes while it is under way would be neither seen nor heard.
        with self._jobs.under_way(address, handoff.deadline) as job:
            try:
                return await self._take(handoff, job, logbook, lease)
            except asyncio.CancelledError:
                if job.resume():
                    return await self._end_stopped(address, logbook, job)
                if job.taken:
                    await self._mark_returned(logbook, lease, "the process stops")
                raise

    async def _take(self, handoff: Handoff, job: Job, logbook: Logbook, lease: Lease) -> Verdict:
        """Look whether there is anything left to do, claim what another instance may think is its own, and do it."""
        stored, count = lease.delivery.message, lease.delivery.count
        address = subjects.address_of(stored.subject)
        if not self._may_skip_look(stored, count):
            if not await logbook.look():
                return Ack()
            if logbook.steps or count > 1:
                if (lost := losses_if_taken(logbook.steps, self._instance)) >= self._settings.deliveries:
                    reason = f"{lost} instances took it, and each was lost before it came to an outcome"
                    return await self._refuse(address, "poison", reason)
                job.taken = True
                await logbook.claim(self._instance)
        job.taken = True
        try:
            with live.executing(address, logbook.takes):
                return await self._do(handoff, address, logbook)
        except Yielded:
            await self._mark_returned(logbook, lease, "the process stops")
            return Retry(0.0)
        except HandoffError as error:
            if error.retryable or isinstance(error, UnknownTypeError):  # not the fault of the task
                await self._mark_returned(logbook, lease, redacted(f"{type(error).__name__}: {error}")[:LONGEST])
            raise

    async def _mark_returned(self, logbook: Logbook, lease: Lease, reason: str) -> None:
        """Store that the task is given back on purpose, in bounded time: without the mark it counts as a loss."""
        try:
            async with asyncio.timeout(MARK_S):
                await logbook.give_back(self._instance, reason)
        except FencedError:
            lease.taken_over()
        except (HandoffError, TimeoutError) as error:
            log.warning("task.return_not_marked", queue=self._runner.name, error=str(error) or type(error).__name__)

    def _may_skip_look(self, stored: Stored, count: int) -> bool:
        """A function pays nothing, so a handoff that is young and comes for the first time is simply done."""
        young = self._bus.now() - stored.time < self._settings.ack_wait_s
        return self.worker.run is not None and count == 1 and young

    async def _do(self, handoff: Handoff, address: TaskAddress, logbook: Logbook) -> Verdict:
        began = self._clock.monotonic()
        try:
            outcome = await self._outcome(handoff, logbook)
        except Over:
            return Ack()
        seconds = self._clock.monotonic() - began + outcome.before_s
        usage = msgspec.structs.replace(outcome.usage, seconds=seconds)
        await self._results.store(self._results.of(outcome, address, usage), address)
        self._seconds.append(seconds)
        return Ack()

    async def _outcome(self, handoff: Handoff, logbook: Logbook) -> Outcome:
        if handoff.deadline is not None and self._bus.now() >= handoff.deadline:
            return Outcome(output=last_words(logbook.steps), error=LATE, usage=spent(logbook.steps))
        try:
            if self.worker.run is not None:
                return await self._call_function(handoff)
            assert self._agent is not None  # `run` made sure
            return await self._agent.work(handoff, logbook, self._stopping)
        except (Over, Yielded, FencedError, UnknownTypeError):
            raise
        except DeclinedError as error:
            return Outcome(output=codec.writable(str(error)), declined=True)
        except HandoffError as error:
            fault = Fault(kind=type(error).__name__, message=str(error), retryable=error.retryable, refinable=False)
            return Outcome(error=fault)
        except Exception as error:  # noqa: BLE001  whatever a worker's own code raises becomes a failed result
            log.warning("task.failed", run=handoff.run, task=handoff.task, trace=trace_of(error))
            return Outcome(error=Fault(kind=type(error).__name__, message=f"{error}", retryable=True))

    async def _call_function(self, handoff: Handoff) -> Outcome:
        work = self.worker.run
        assert work is not None
        returned = work(handoff) if self._is_async else await asyncio.to_thread(work, handoff)
        if inspect.isawaitable(returned):
            returned = await returned
        return sound(returned)

    async def _refuse(self, address: TaskAddress, kind: str, reason: str) -> Verdict:
        """A handoff that cannot be done is a failed task, and is kept among the dead letters."""
        await self._results.store(self._results.failed(address, Fault(kind=kind, message=reason)), address)
        return Refuse(reason)

    async def _end_stopped(self, address: TaskAddress, logbook: Logbook, job: Job) -> Verdict:
        """Store why the task was stopped, what it spent, and what an agent had to say so far; if that is wanted."""
        log.info("task.late" if job.fault is LATE else "task.cancelled", run=address.run, task=address.task)
        if job.fault:
            used = spent(logbook.steps)
            seconds = max(used.seconds, self._clock.monotonic() - job.began)
            result = self._results.failed(address, job.fault, msgspec.structs.replace(used, seconds=seconds))
            result = msgspec.structs.replace(result, output=last_words(logbook.steps))
            await self._results.store(result, address)
        return Ack()

    def _cancel(self, stored: Stored) -> None:
        """Stop what is no longer wanted."""
        if told := unwanted(stored):
            self._jobs.stop(told)

    async def _note_stop(self, stop: asyncio.Event, heartbeat: Heartbeat) -> None:
        await stop.wait()
        self._stopping.set()
        await heartbeat.end()

    def _card(self) -> Card:
        return Card(
            worker=self.worker.name,
            instance=self._instance,
            summary=" ".join(self.worker.summary.split()),
            tools=(*(tool.name for tool in self.worker.tools), *self.worker.server_tools),
            model="" if self.worker.run else self._shown_model or self.worker.model or self._settings.model_worker,
            capacity=self._slots,
            inflight=self._runner.busy,
            queue=self._queue_length.pending,
            p50_s=round(median(self._seconds), 6) if self._seconds else 0.0,
            fallback=self.worker.fallback,
            trouble=self._trouble(),
            kind="function" if self.worker.run else "agent",
        )

    def _trouble(self) -> str:
        """What an operator should know of this instance; `handoff doctor` shows it."""
        told = "; ".join(filter(None, (self.worker.trouble(), self._runner.trouble)))
        return redacted(codec.writable(told))[:LONGEST]
