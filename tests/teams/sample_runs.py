"""A shipped team at work in one process: real actors, real tools, real data, the offline model behind the real SDK."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from waiting import LIMIT_S

from actors.bus.memory import MemoryBus, MemoryServer
from actors.client import Client
from actors.clock import SystemClock
from actors.model_server.serve import offline_server
from actors.record import Recorded
from actors.settings import Settings
from actors.supervisor.supervisor import Supervisor
from actors.teams.team import Team
from actors.worker.process import WorkerProcess
from protocol import subjects
from protocol.controls import Approve
from protocol.events import Finished
from protocol.messages import Answer, Handoff, Result
from protocol.steps import ConfirmAsked, ToolCalled
from tests.model.asking import asking

WAIT_S = LIMIT_S


class Ran(NamedTuple):
    """A run that has ended: its answer, and everything that was stored of it."""

    answer: Answer
    record: list[Recorded]

    @property
    def handed_out(self) -> list[Handoff]:
        return [entry.message for entry in self.record if isinstance(entry.message, Handoff)]

    @property
    def tools(self) -> set[tuple[str, str]]:
        """Every worker with each tool that was called for it."""
        return {
            (subjects.address_of(entry.subject).worker, entry.message.tool)
            for entry in self.record
            if isinstance(entry.message, ToolCalled)
        }

    @property
    def overlapping(self) -> set[str]:
        """The tasks that were under way together with another one: handed out before it ended, ended after that."""
        begun = {entry.message.task: entry.seq for entry in self.record if isinstance(entry.message, Handoff)}
        ended = {entry.message.task: entry.seq for entry in self.record if isinstance(entry.message, Result)}
        pairs = ((one, other) for one in ended for other in ended if one != other)
        return {one for one, other in pairs if begun[one] < ended[other] and begun[other] < ended[one]}


@asynccontextmanager
async def at_work(
    team: Team, settings: Settings, *, profile: str = "", log: Path | None = None
) -> AsyncGenerator[Client]:
    """All actors of a team on a bus in memory. The model is that of the profile; `log` holds its requests."""
    clock = SystemClock()
    server, stop = MemoryServer(settings, clock), asyncio.Event()
    async with (
        offline_server(profile=profile, log=log) as url,
        asking(url) as model,
        Client(MemoryBus(server, "c"), settings=settings) as client,
        asyncio.TaskGroup() as group,
    ):
        for worker in team.workers:
            bus = MemoryBus(server, worker.name)
            process = WorkerProcess(worker, bus, clock, settings, instance=f"{worker.name}-1")
            process.give_model(model)
            group.create_task(process.run(stop))
        async with asyncio.timeout(WAIT_S):
            while len(await client.bus.cards(team.name)) < len(team.workers):
                await asyncio.sleep(0.01)
        supervisor = Supervisor(MemoryBus(server, "s"), clock, model, settings, instance="s-1")
        group.create_task(supervisor.run(stop))
        yield client
        stop.set()


async def ran(client: Client, request: str, *, allowed_by: str = "") -> Ran:
    """The run of a request; a call that waits for a person is allowed, if somebody is there to allow it."""
    record: list[Recorded] = []
    async with asyncio.timeout(WAIT_S):
        run = await client.ask(request)
        async for entry in run.record():
            record.append(entry)
            if isinstance(entry.message, ConfirmAsked) and allowed_by:
                task = subjects.address_of(entry.subject).task
                await run.control(Approve(task=task, call=entry.message.call, asked=entry.seq, by=allowed_by))
    last = record[-1].message
    assert isinstance(last, Finished)
    return Ran(last.answer, record)
