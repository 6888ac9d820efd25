"""The desk: what every run of one supervisor shares."""

import asyncio
from dataclasses import dataclass, field

import msgspec

from actors.artifacts import keep_text
from actors.bus.port import Bus
from actors.clock import Clock
from actors.run.decide import Dispatch
from actors.run.state import Limits, RunState
from actors.settings import Settings
from actors.supervisor.planner import Planner
from actors.supervisor.roster import Roster
from actors.supervisor.synthesizer import Synthesizer
from observability.context import traceparent
from protocol import codec
from protocol.ids import RunId, span_id
from protocol.messages import Answer, Budget, Context, Handoff, Request
from protocol.subjects import TaskAddress

ENVELOPE_BYTES = 16 * 1024
"""What a message needs beside its longest text."""


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
    planner: Planner
    synthesizer: Synthesizer
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def handoff(self, state: RunState, request: Request, dispatch: Dispatch) -> Handoff:
        """The handoff of one attempt at a task; context that is too long for a message goes along by reference."""
        task = dispatch.task
        address = self._address(request.id, task.worker, task.id, dispatch.attempt)
        context = dispatch.context
        if sum(len(part.output) for part in context) > self._room // 4:
            context = await self._fitting(request.id, context)
        return Handoff(
            run=request.id,
            task=task.id,
            attempt=dispatch.attempt,
            from_agent="supervisor",
            to_agent=task.worker,
            intent=task.intent,
            success=task.success,
            context=context,
            artifacts=task.artifacts or request.artifacts,
            budget=task.budget or Budget(),
            deadline=state.deadline,
            return_to=address.result,
            depth=self.limits.depth,
        )

    async def send_handoff(self, handoff: Handoff) -> "asyncio.Future[int]":
        """Hand it out, write-once; the future tells whether it was stored, or was there already."""
        address = self._address(handoff.run, handoff.to_agent, handoff.task, handoff.attempt)
        span = span_id(handoff.run, "dispatch", handoff.task, handoff.attempt)
        headers = {"traceparent": traceparent(handoff.run, span)}
        return await self.bus.send(address.handoff, codec.encode(handoff), expect=0, headers=headers)

    async def shortened(self, answer: Answer) -> Answer:
        """The answer with its text kept whole as an artifact."""
        text, artifact = await keep_text(self.bus, f"{answer.run}.answer", answer.text, self._room)
        return msgspec.structs.replace(answer, text=text, artifacts=(*answer.artifacts, artifact))

    @property
    def _room(self) -> int:
        return self.settings.message_bytes - ENVELOPE_BYTES

    def _address(self, run: str, worker: str, task: str, attempt: int) -> TaskAddress:
        return TaskAddress(RunId(run), self.team, worker, task, attempt)

    async def _fitting(self, run: str, context: tuple[Context, ...]) -> tuple[Context, ...]:
        share = self._room // len(context)
        fitting: list[Context] = []
        for part in context:
            if len(part.output.encode()) <= share:
                fitting.append(part)
                continue
            text, artifact = await keep_text(self.bus, f"{run}.{part.task}.output", part.output, share)
            fitting.append(msgspec.structs.replace(part, output=text, artifacts=(*part.artifacts, artifact)))
        return tuple(fitting)
