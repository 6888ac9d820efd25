"""One run under way: the thin shell around the pure core. It moves bytes; what to do is decided elsewhere."""

import asyncio

import structlog

from actors.bus.port import Stored
from actors.lease import Lease
from actors.record import Recorded, understand
from actors.run.answer import too_large
from actors.run.decide import decide
from actors.run.decisions import Append, CallPlanner, CallReplanner, Decision, Dispatch, Finish, WakeAt
from actors.run.plan_check import named
from actors.run.state import RunState
from actors.run.stored_time import needs_stored_time
from actors.supervisor.alarm import Alarm
from actors.supervisor.desk import Desk
from actors.supervisor.inbox import Inbox
from actors.supervisor.index_writer import IndexWriter
from actors.supervisor.journal import Journal
from actors.supervisor.planner import Workers
from actors.supervisor.run_errors import DuplicateError, StoppedError
from actors.supervisor.thought import Thought, name_of, thinking
from actors.verdict import Ack, Retry, Verdict
from protocol.errors import ConflictError, FencedError, TooLargeError
from protocol.events import (
    Approved,
    Cancelled,
    Event,
    Expired,
    Finished,
    GaveUp,
    Judging,
    Planned,
    PlanRejected,
    Rerouted,
    Waiting,
)
from protocol.messages import Answer, Plan, Request, Result

LOOK_AGAIN_S = 0.5
QUEUED_S = 1.0

log = structlog.get_logger()


class LiveRun:
    """A run that this process holds, from its request to its answer or to the loss of its lease."""

    def __init__(self, desk: Desk, request: Request, lease: Lease) -> None:
        self._desk = desk
        self._request = request
        self._lease = lease
        self._journal = Journal(desk.bus, request.id, lease, desk.clock)
        self._index = IndexWriter(desk.bus, desk.clock, request, lambda: self._journal.check())  # noqa: PLW0108
        self._inbox = Inbox()
        self._calls: dict[str, asyncio.Task[Event]] = {}
        self._alarm = Alarm(desk.clock, desk.bus.now, desk.settings.poll_s)
        self._broken: BaseException | None = None
        self.state = RunState(desk.limits)
        self.results: dict[str, Recorded] = {}

    def hear(self, stored: Stored) -> None:
        """A result or a control was stored."""
        self._inbox.put(stored)
        self._alarm.ring()

    def tick(self) -> None:
        """Time has passed."""
        self._alarm.tick()

    def look(self) -> None:
        """Something may have been missed: read the stream soon."""
        self._alarm.look()

    def stop(self) -> None:
        """The process is stopping: let go of the run as soon as nothing paid is under way."""
        self._alarm.ring()

    async def live(self) -> Verdict:
        """Bring the run to its end."""
        try:
            await self._open()
        except DuplicateError as duplicate:
            log.info("request.duplicate", run=self._request.id, reason=str(duplicate))
            return Ack(sure=True)
        try:
            await self._go_on()
        except TooLargeError as error:
            await self._journal.settle()
            await self._finish(too_large(self.state, error, self._desk.bus.now()))
        except StoppedError:
            return Retry(0.0)
        finally:
            for call in self._calls.values():
                call.cancel()
        await self._index.finish(self.state)
        return Ack(sure=True)

    async def _go_on(self) -> None:
        """Decide and act until there is an answer."""
        while self.state.answer is None:
            await self._act()
            if self.state.answer is not None:
                return
            if (seconds := await self._index.update(self.state, self._desk.roster.people)) is not None:
                self._alarm.due(self._desk.bus.now() + seconds)
            if self._desk.stopping.is_set() and not self._calls:
                await self._journal.settle()
                raise StoppedError
            await self._listen()

    async def _open(self) -> None:
        """Take the run: a fresh one straight away, one with a past after reading it."""
        if self._lease.delivery.count == 1 and self._request.plan is not None:
            try:
                await self._start(epoch=1)
                if self._desk.bus.now() - self._lease.delivery.message.time > QUEUED_S:
                    await self._read_news()  # it waited a while: somebody may have cancelled it
                return
            except FencedError:
                log.info("run.resumed", run=self._request.id)
        self._journal = Journal(self._desk.bus, self._request.id, self._lease, self._desk.clock)
        for entry in await self._journal.past():
            self._fold(entry)
        if self.state.answer is not None:
            return
        if await self._desk.is_copy(self.state, self._lease.delivery.message.seq):
            raise DuplicateError(f"run {self._request.id} belongs to another copy of this request")
        await self._start(self.state.epoch + 1)
        await self._read_news()
        await self._stop_unwanted()

    async def _start(self, epoch: int) -> None:
        await self._append(self._desk.started(epoch, self._request, self._lease.delivery.message))
        self._alarm.heard()

    async def _act(self) -> None:
        """Do everything that is due, until there is nothing left to do but wait."""
        if not self._lease.fresh:
            await self._journal.check()
        while True:
            for name, call in list(self._calls.items()):
                if call.done():
                    del self._calls[name]
                    await self._append(call.result())
                    await self._stop_unwanted()
            if self.state.board.returned:
                await self._desk.look_around()
            decisions = decide(self.state, self._desk.bus.now(), self._desk.view)
            moved = [await self._carry_out(decision) for decision in decisions]
            if not any(moved):
                return

    async def _carry_out(self, decision: Decision) -> bool:
        """Do what was decided; returns whether that may lead to further decisions."""
        match decision:
            case Append(event):
                return await self._follow(event)
            case Dispatch():
                await self._dispatch(decision)
            case Finish(answer):
                await self._finish(await self._desk.with_whole_outputs(self.state, answer))
            case WakeAt(time):
                self._alarm.due(time)
            case _:
                await self._think(decision)
        return False

    async def _think(self, thought: Thought) -> None:
        """Start a paid call, unless it is under way or we are stopping; right after making sure the run is ours."""
        name = name_of(thought)
        if name in self._calls or self._desk.stopping.is_set():
            return
        workers: Workers = {}
        if isinstance(thought, CallPlanner | CallReplanner):
            workers = await self._desk.planners_choice()
            if not workers:
                await self._wait_because(f"no worker of team {self._desk.team!r} is alive")
                return
        if not self._lease.certain:
            await self._journal.check()
        work = thinking(thought, self._desk, self._request, self.state, workers)
        task = self._calls[name] = asyncio.create_task(work())
        task.add_done_callback(lambda _: self._alarm.ring())

    async def _follow(self, event: Event) -> bool:
        """Write an event that follows from the state. It need not be stored before we go on: it would be the same."""
        if isinstance(event, Planned) and not await self._can_begin(event.plan):
            return False
        if isinstance(event, Approved) and event.plan is not None:
            event = await self._desk.edited(event, event.plan)
        failed = self._desk.failed_worker(self.state, event)
        # These depend on which workers are alive, which is not in the state: another supervisor may decide otherwise.
        await self._append(event, wait=isinstance(event, Judging | Rerouted | GaveUp))
        if failed:
            await self._desk.breakers.failed(failed)
        if isinstance(event, Cancelled | Expired):
            await self._desk.stop_work(self._request.id)
        return True

    async def _stop_unwanted(self) -> None:
        """Tell the workers whose tasks the plan no longer has; again and again, until they have let go."""
        if names := tuple(self.state.board.unwanted):
            await self._desk.stop_work(self._request.id, names)

    async def _dispatch(self, dispatch: Dispatch) -> None:
        breakers = self._desk.breakers
        if breakers.is_known(dispatch.worker) and not await breakers.admit(dispatch.worker):
            await self._wait_because(f"{dispatch.worker} has failed too often lately: its tasks wait")
            return
        handoff = await self._desk.handoff(self.state, self._request, dispatch)
        if not self._lease.fresh:  # what came before in this round may have taken long
            await self._journal.check()
        stored = await self._desk.send_handoff(handoff)
        stored.add_done_callback(self._handed)
        self.state.fold(handoff, self._desk.bus.now())

    def _handed(self, stored: "asyncio.Future[int]") -> None:
        """A handoff that is there already is one of our own, from before a crash: that is as good."""
        error = None if stored.cancelled() else stored.exception()
        if error is not None and not isinstance(error, ConflictError):
            self._broken = error
            self._alarm.ring()

    async def _can_begin(self, plan: Plan) -> bool:
        """Whether somebody can do the request's own plan; after an outage the cards need a moment to come back."""
        if not (faults := await self._desk.whom_nobody_knows(plan)):
            return True
        if self._desk.bus.now() < self.state.started_at + self._desk.settings.card_ttl_s:
            names = sorted(named(plan) - self._desk.roster.known)
            await self._wait_because(f"no worker called {', '.join(names)} is known yet")
        else:
            await self._append(PlanRejected(faults=tuple(faults)))
            self._alarm.ring()
        return False

    async def _wait_because(self, reason: str) -> None:
        self._alarm.due(self._desk.bus.now() + LOOK_AGAIN_S)
        if reason not in self.state.waits:
            log.warning("run.waiting", run=self._request.id, reason=reason)
            await self._append(Waiting(reason=reason), wait=False)

    async def _finish(self, answer: Answer) -> None:
        if self.state.handed or self.state.board.unwanted:
            await self._desk.stop_work(self._request.id)
        event = Finished(answer=answer)
        try:
            await self._append(event)
        except TooLargeError:
            event = Finished(answer=await self._desk.shortened(answer))
            await self._append(event)
        log.info("run.finished", run=self._request.id, status=answer.status, wall_s=answer.timing.wall_s)

    async def _append(self, event: Event, *, wait: bool = True) -> None:
        await self._journal.append(event, wait=wait)
        timed = needs_stored_time(self.state, event)
        self.state.fold(event, await self._journal.stored_time() if timed else self._desk.bus.now())

    async def _listen(self) -> None:
        """Wait for news, and take it in: what was republished for speed, the stream for truth."""
        await self._alarm.wait()
        if self._broken:
            raise self._broken
        heard = self._inbox.take()
        for stored in heard:
            entry = understand(stored)
            if entry is None:
                await self._desk.refuse(stored)
            else:
                self._fold(entry)
                await self._desk.note_success(entry.message)
        if heard:
            self._alarm.heard()
        elif self._alarm.overdue:
            await self._read_news()
            await self._stop_unwanted()
            await self._say_who_is_missing()

    async def _read_news(self) -> None:
        for entry in await self._journal.news():
            self._fold(entry)
        self._alarm.looked()

    async def _say_who_is_missing(self) -> None:
        wanted = {task.worker for task in self.state.handed}
        for name in sorted(wanted - set(await self._desk.roster.live())):
            await self._wait_because(f"no {name} is alive: its tasks wait")

    def _fold(self, entry: Recorded) -> None:
        if isinstance(entry.message, Result):
            self.results.setdefault(entry.subject, entry)
        if self._inbox.is_news(entry):
            self.state.fold(entry.message, entry.time)
