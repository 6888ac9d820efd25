"""The desk: what every run of one supervisor shares."""

import asyncio
import secrets
from collections import Counter
from dataclasses import dataclass, field

import msgspec

from actors.artifacts import keep_text
from actors.bus.port import Bus, Stored
from actors.clock import Clock
from actors.dead_letter import Refusal, bury
from actors.record import Entry
from actors.run.answer import cut_outputs, with_outputs
from actors.run.blame import is_own_fault
from actors.run.decide import edit_refusal
from actors.run.decisions import Dispatch
from actors.run.limits import Limits
from actors.run.offline import SUPERVISOR, first_line
from actors.run.plan_check import named, plan_faults, unknown_workers
from actors.run.react import View
from actors.run.state import RunState
from actors.settings import Settings
from actors.supervisor.breakers import Breakers
from actors.supervisor.pricing import Pricing
from actors.supervisor.roles.registry import Roles
from actors.supervisor.roles.role import Choice
from actors.supervisor.roster import Roster, modelless
from observability import span_ids
from observability.context import traceparent
from observability.logger import get_logger
from protocol import codec, streams, subjects
from protocol.errors import BusError
from protocol.events import Approved, Event, GaveUp, Rerouted, Started, Waiting
from protocol.ids import RunId
from protocol.messages import Answer, Artifact, Handoff, Plan, Request, Result, Stop
from protocol.subjects import TaskAddress

ENVELOPE_BYTES = 16 * 1024
"""What a message needs beside its longest text."""

HEADROOM_BYTES = 1024
LONGEST_HEADER = 256
MOST_OUTPUT_BYTES = 16_000_000
"""How much of long outputs a supervisor reads to put them into one answer; beyond, they are named as artifacts."""
CUT = " [cut: the whole is in the artifact]"

log = get_logger()


@dataclass(frozen=True, kw_only=True)
class Desk:
    """The ports, roles and limits of one supervisor."""

    bus: Bus
    clock: Clock
    settings: Settings
    team: str
    instance: str
    limits: Limits
    roster: Roster
    breakers: Breakers
    pricing: Pricing
    roles: Roles
    model: str = ""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _fallbacks: dict[str, str | None] = field(default_factory=dict[str, str | None])
    _views: list[View] = field(default_factory=lambda: [View()])
    _not_begun: Counter[int] = field(default_factory=Counter[int])

    @property
    def view(self) -> View:
        """What is known of the other workers; a moment old."""
        return self._views[0]

    async def look_around(self) -> None:
        """See who is there, who could stand in for whom, and whom not to trust."""
        live = await self.roster.live()
        # Whoever needs a stand-in is often gone, and its card with it: what it said last still holds.
        self._fallbacks.update((name, cards[0].fallback) for name, cards in live.items())
        probe_at = await self.breakers.probe_times()
        ghosts = await self.roster.unknown(other for other in self._fallbacks.values() if other)
        self._views[0] = View(
            fallbacks={name: other for name, other in self._fallbacks.items() if other and other not in ghosts},
            shunned=frozenset(probe_at),
            probe_at=probe_at,
            alive=frozenset(live),
            costs=self.pricing.at_a_guess(live),
            modelless=modelless(live),
        )

    async def planners_choice(self) -> Choice:
        """The live workers that a planner may choose from: not those whose breaker is open."""
        shunned = await self.breakers.shunned()
        live = await self.roster.live(fresh=True)
        trusted = {name: cards for name, cards in live.items() if name not in shunned}
        return Choice(workers=trusted, shunned=shunned) if trusted else Choice(workers=live)

    async def whom_nobody_knows(self, plan: Plan) -> list[str]:
        """Which tasks of a plan are for somebody who is not here and never was, a sentence each."""
        if not await self.roster.unknown(named(plan)):
            return []
        return unknown_workers(plan, self.roster.known)

    async def answer_to_edit(self, event: Approved | Waiting, edit: Plan) -> Event:
        """The answer to an edited plan, with the registry asked too: all its faults are told at once."""
        if not (unknown := await self.whom_nobody_knows(edit)):
            return event
        faults = plan_faults(edit, self.limits.request_tasks) + unknown
        return Waiting(reason=edit_refusal(faults), control=event.control)

    async def stop_work(self, run: str, tasks: tuple[str, ...] = ()) -> None:
        """Tell the workers at once that nobody wants these tasks any more; without any, that the run is over."""
        await self.bus.emit(subjects.cancel(run), codec.encode(Stop(tasks=tasks)) if tasks else b"")

    async def is_copy(self, begun_for: int, seq: int) -> bool:
        """Whether a run was begun for another stored copy of its request, which still stands and keeps it alive."""
        return 0 < begun_for != seq and await self.bus.get(streams.REQUESTS, begun_for) is not None

    async def handoff(self, state: RunState, request: Request, dispatch: Dispatch) -> Handoff:
        """The handoff of one attempt at a task; context that is too long for a message goes along by reference."""
        handoff = self._handoff(state, request, dispatch)
        limit = self.settings.message_bytes - HEADROOM_BYTES
        if sum(len(part.output) for part in dispatch.context) < limit // 8 or len(codec.encode(handoff)) <= limit:
            return handoff
        return await self._fitting(handoff, limit)

    async def _fitting(self, handoff: Handoff, limit: int) -> Handoff:
        """Outputs cut to what fits; the whole of them goes along as one artifact."""
        bare = tuple(msgspec.structs.replace(part, output="") for part in handoff.context)
        used = len(codec.encode(msgspec.structs.replace(handoff, context=bare)))
        share = max(0, (limit - used) // len(bare) // 2)
        name = f"{handoff.run}.{handoff.task}.{handoff.attempt}.context"
        digest = await self.bus.put_artifact(name, whole := msgspec.json.encode(handoff.context))
        artifact = Artifact(name=name, digest=digest, size=len(whole), media_type="application/json")
        cut = tuple(
            part
            if len(part.output.encode()) <= share
            else msgspec.structs.replace(part, output=part.output.encode()[:share].decode(errors="ignore") + CUT)
            for part in handoff.context
        )
        return msgspec.structs.replace(handoff, context=cut, artifacts=(*handoff.artifacts, artifact))

    def _handoff(self, state: RunState, request: Request, dispatch: Dispatch) -> Handoff:
        task = dispatch.task
        address = self._address(request.id, dispatch.worker, task.id, dispatch.attempt)
        return Handoff(
            run=request.id,
            task=task.id,
            attempt=dispatch.attempt,
            from_agent="supervisor",
            to_agent=dispatch.worker,
            intent=dispatch.intent,
            success=task.success,
            context=dispatch.context,
            artifacts=task.artifacts or request.artifacts,
            budget=dispatch.budget,
            deadline=state.deadline,
            return_to=address.result,
            depth=self.limits.depth,
        )

    async def send_handoff(self, handoff: Handoff) -> "asyncio.Future[int]":
        """Hand it out, write-once; the future tells whether it was stored, or was there already."""
        address = self._address(handoff.run, handoff.to_agent, handoff.task, handoff.attempt)
        span = span_ids.dispatch(handoff.run, handoff.task, handoff.attempt)
        headers = {"traceparent": traceparent(handoff.run, span)}
        return await self.bus.send(address.handoff, codec.encode(handoff), expect=0, headers=headers)

    def started(self, epoch: int, request: Request, stored: Stored) -> Started:
        """The event by which this supervisor takes a run."""
        return Started(
            epoch=epoch,
            supervisor=self.instance,
            request=request,
            request_seq=stored.seq,
            nonce=secrets.token_hex(4),
            asked_at=stored.time,
            traceparent=stored.headers.get("traceparent", "")[:LONGEST_HEADER],
            prices=self.pricing.known(self.roster.models.values()),
        )

    async def note_success(self, message: Entry) -> None:
        """A task was completed: what was counted against its worker is forgotten."""
        if isinstance(message, Result) and message.status == "completed" and self.breakers.is_known(message.worker):
            try:
                await self.breakers.succeeded(message.worker)
            except BusError as error:
                log.warning("breaker.not_written", worker=message.worker, error=str(error))

    def count_not_begun(self, request_seq: int) -> int:
        """How often this process failed to take the run of a request at all, this time included."""
        self._not_begun[request_seq] += 1
        return self._not_begun[request_seq]

    async def note_failure(self, worker: str) -> None:
        """A task failed by the fault of its worker. A breaker that cannot be written costs no run."""
        try:
            await self.breakers.failed(worker)
        except BusError as error:
            log.warning("breaker.not_written", worker=worker, error=str(error))

    def failed_worker(self, state: RunState, event: Event) -> str:
        """The worker against which this event counts as a failure; empty if it counts against none."""
        if not isinstance(event, GaveUp | Rerouted) or (task := state.find(event.task)) is None:
            return ""
        return task.worker if task.status == "returned" and is_own_fault(task.result) else ""

    async def refuse(self, stored: Stored) -> None:
        """A message of a run that nobody can read is kept among the dead letters."""
        refusal = Refusal(streams.RUNS, "not a Control, or not on a subject of a run", by=self.instance)
        await bury(self.bus, stored, refusal)

    def with_offline_line(self, answer: Answer) -> Answer:
        """The answer; its text begins with a line about the offline model, if that answered and a key was meant."""
        line = first_line(self.roster.models | {SUPERVISOR: self.model}, answer.spending)
        return msgspec.structs.replace(answer, text=f"{line}\n\n{answer.text}") if line else answer

    async def with_whole_outputs(self, state: RunState, answer: Answer) -> Answer:
        """The answer with the outputs that were too long for a Result, as far as they can be held here."""
        whole: dict[str, str] = {}
        room = MOST_OUTPUT_BYTES
        for task, artifact in cut_outputs(state).items():
            room -= artifact.size
            data = await self.bus.get_artifact(artifact.name) if room >= 0 else None
            if data is not None:
                whole[task] = data.decode(errors="replace")
        return with_outputs(state, answer, whole)

    async def shortened(self, answer: Answer) -> Answer:
        """The answer with its text kept whole as an artifact."""
        text, artifact = await keep_text(self.bus, f"{answer.run}.answer", answer.text, self._room)
        return msgspec.structs.replace(answer, text=text, artifacts=(*answer.artifacts, artifact))

    @property
    def _room(self) -> int:
        return self.settings.message_bytes - ENVELOPE_BYTES

    def _address(self, run: str, worker: str, task: str, attempt: int) -> TaskAddress:
        return TaskAddress(RunId(run), self.team, worker, task, attempt)
