"""Carries out what was decided about one run: writes Events, hands out tasks, starts calls of a model."""

import asyncio
import dataclasses
from time import gmtime, strftime

from actors.lease import Lease
from actors.run.decide import answered_edit, decide
from actors.run.decisions import Append, Decision, Dispatch, Finish, ModelCall, WakeAt
from actors.run.plan_check import named
from actors.run.state import RunState
from actors.run.stored_time import needs_stored_time
from actors.supervisor.alarm import Alarm
from actors.supervisor.desk import Desk
from actors.supervisor.journal import Journal
from actors.supervisor.roles.role import Choice, PendingCall, Situation
from actors.token_feed import TokenFeed
from observability import live
from observability.logger import get_logger
from protocol import subjects
from protocol.errors import ConflictError, TooLargeError
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
from protocol.messages import Answer, Plan, Request

LOOK_AGAIN_S = 0.5

log = get_logger()


class Executor:
    """Carries out the decisions about one run while this process holds it.

    `answer` is set once the end of the run is stored; `calls` are the calls of a model that are under way.
    """

    def __init__(self, desk: Desk, request: Request, lease: Lease) -> None:
        self._desk = desk
        self._request = request
        self._lease = lease
        self._broken: BaseException | None = None
        self.journal = Journal(desk.bus, request.id, lease, desk.clock)
        self.alarm = Alarm(desk.clock, desk.bus.now, desk.settings.poll_s)
        self.calls: dict[str, asyncio.Task[Event]] = {}
        self.answer: Answer | None = None
        self.state = RunState(desk.limits)

    async def act(self) -> None:
        """Do everything that is due, until there is nothing left to do but wait."""
        if not self._lease.fresh:
            await self.journal.check()
        while True:
            for name, call in list(self.calls.items()):
                if call.done():
                    del self.calls[name]
                    await self.append(call.result())
                    await self.stop_unwanted()
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
                whole = await self._desk.with_whole_outputs(self.state, answer)
                await self.finish(self._desk.with_offline_line(whole))
            case WakeAt(time):
                self.alarm.due(time)
            case ModelCall():
                await self._call_model(decision)
        return False

    async def _call_model(self, decision: ModelCall) -> None:
        """Start a paid call, unless it is under way or we are stopping; right after making sure the run is ours."""
        call = self._desk.roles.bind(decision, self.state)
        if call.key in self.calls or self._desk.stopping.is_set():
            return
        choice = await self._choice_for(call)
        if call.workers == "required" and not choice.workers:
            await self.wait_because(f"no worker of team {self._desk.team!r} is alive: the run waits {self._until}")
            return
        await self._check_lease()
        task = self.calls[call.key] = asyncio.create_task(self._asked(call, choice))
        task.add_done_callback(lambda _: self.alarm.ring())

    async def _check_lease(self) -> None:
        """Raise FencedError if another supervisor has the run; right before each paid attempt, after every wait."""
        if not self._lease.certain:
            await self.journal.check()

    async def _choice_for(self, call: PendingCall) -> Choice:
        match call.workers:
            case "unused":
                return Choice()
            case "seen":
                return Choice(workers=await self._desk.roster.live())
            case "required":
                return await self._desk.planners_choice()

    async def _asked(self, call: PendingCall, choice: Choice) -> Event:
        """The Event of a call. The text of the answer is published while it is written."""
        situation = Situation(
            request=self._request,
            state=self.state,
            now=self._desk.bus.now(),
            choice=choice,
            ready=self._check_lease,
        )
        with live.thinking(call.trace, *call.number, epoch=self.state.epoch):
            if not call.streams_answer:
                return await call.ask(situation)
            subject = subjects.answer_tokens(self._request.id)
            async with TokenFeed(self._desk.bus, self._desk.clock, subject) as feed:
                return await call.ask(dataclasses.replace(situation, said=feed.say))

    async def _follow(self, event: Event) -> bool:
        """Write an event that follows from the state. It need not be stored before we go on: it would be the same."""
        if isinstance(event, Planned) and not await self._can_begin(event.plan):
            return False
        if isinstance(event, Approved | Waiting) and (edit := answered_edit(self.state, event)):
            event = await self._desk.answer_to_edit(event, edit)
        failed = self._desk.failed_worker(self.state, event)
        # These depend on which workers are alive, which is not in the state: another supervisor may decide otherwise.
        await self.append(event, wait=isinstance(event, Judging | Rerouted | GaveUp))
        if failed:
            await self._desk.note_failure(failed)
        if isinstance(event, Cancelled | Expired):
            await self._desk.stop_work(self._request.id)
        return True

    async def stop_unwanted(self) -> None:
        """Tell the workers whose tasks the plan no longer has; again and again, until they have let go."""
        if names := tuple(self.state.board.unwanted):
            await self._desk.stop_work(self._request.id, names)

    async def _dispatch(self, dispatch: Dispatch) -> None:
        breakers = self._desk.breakers
        if breakers.is_known(dispatch.worker) and not await breakers.admit(dispatch.worker):
            await self.wait_because(f"{dispatch.worker} has failed too often lately: its tasks wait {self._until}")
            return
        handoff = await self._desk.handoff(self.state, self._request, dispatch)
        if not self._lease.fresh:  # what came before in this round may have taken long
            await self.journal.check()
        stored = await self._desk.send_handoff(handoff)
        stored.add_done_callback(self._handed)
        self.state.fold(handoff, self._desk.bus.now())

    def _handed(self, stored: "asyncio.Future[int]") -> None:
        """A handoff that is there already is one of our own, from before a crash: that is as good."""
        error = None if stored.cancelled() else stored.exception()
        if error is not None and not isinstance(error, ConflictError):
            self._broken = error
            self.alarm.ring()

    async def _can_begin(self, plan: Plan) -> bool:
        """Whether somebody can do the request's own plan; after an outage the cards need a moment to come back."""
        if not (faults := await self._desk.whom_nobody_knows(plan)):
            return True
        if self._desk.bus.now() < self.state.started_at + self._desk.settings.card_ttl_s:
            names = sorted(named(plan) - self._desk.roster.known)
            await self.wait_because(f"no worker called {', '.join(names)} is known yet: the run waits {self._until}")
        else:
            await self.append(PlanRejected(faults=tuple(faults)))
            self.alarm.ring()
        return False

    async def wait_because(self, reason: str) -> None:
        """Write down why nothing can be done, and look again soon."""
        self.alarm.due(self._desk.bus.now() + LOOK_AGAIN_S)
        if reason not in self.state.waits:
            log.warning("run.waiting", run=self._request.id, reason=reason)
            await self.append(Waiting(reason=reason), wait=False)

    @property
    def _until(self) -> str:
        """The end of a wait, for people. The time of day, because a reason is stored and read later."""
        return f"until the deadline at {strftime('%H:%M:%S', gmtime(self.state.deadline))} UTC at the latest"

    async def finish(self, answer: Answer) -> None:
        """Store the end of the run."""
        if self.state.handed or self.state.board.unwanted:
            await self._desk.stop_work(self._request.id)
        event = Finished(answer=answer)
        try:
            at = await self.store(event)
        except TooLargeError:
            event = Finished(answer=await self._desk.shortened(answer))
            at = await self.store(event)
        self.answer = event.answer
        self.state.fold(event, at)
        log.info("run.finished", run=self._request.id, status=answer.status, wall_s=answer.timing.wall_s)

    async def append(self, event: Event, *, wait: bool = True) -> None:
        """Write an event and fold it."""
        at = await self.store(event, wait=wait)
        self.state.fold(event, at, self.journal.tail_seq)

    async def store(self, event: Event, *, wait: bool = True) -> float:
        """Write an event; returns the time to fold it with."""
        await self.journal.append(event, wait=wait)
        timed = needs_stored_time(self.state, event)
        return await self.journal.stored_time() if timed else self._desk.bus.now()

    async def say_who_is_missing(self) -> None:
        """Write down which tasks wait for a worker that is not alive."""
        wanted = {task.worker for task in self.state.handed}
        for name in sorted(wanted - set(await self._desk.roster.live())):
            await self.wait_because(f"no {name} is alive: its tasks wait {self._until}")

    def check_handoffs(self) -> None:
        """Raise the error of a handoff that could not be stored."""
        if self._broken:
            raise self._broken

    def close(self) -> None:
        """End the calls that are under way."""
        for call in self.calls.values():
            call.cancel()
