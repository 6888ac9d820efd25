"""The sample requests of every shipped team, end to end: real actors, real tools, real data, the offline model."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from actors import teams
from actors.bus.memory import MemoryBus, MemoryServer
from actors.client import Client
from actors.clock import SystemClock
from actors.model.serving import offline_server
from actors.record import Entry
from actors.settings import Settings
from actors.supervisor.supervisor import Supervisor
from actors.teams.team import Team
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol.events import Finished
from protocol.messages import Answer, Handoff, Result
from tests.model.asking import asking
from tests.teams.calling import data_of

OWN = [name for name in teams.names() if name != "default"]
CITED = re.compile(r"^[-\s]*(.+?) \[([^\[\]]+\.[a-z]{2,5})\]$", re.MULTILINE)
TELLING = re.compile(r"[^\W_]{4,}|\d[\d.]*\d")
SHARED = 2
WAIT_S = 60.0


def without_waiting(worker: Worker) -> Worker:
    """The worker without the tools that wait for a person: nobody is there to agree."""
    return replace(worker, tools=[tool for tool in worker.tools if not tool.confirm])


@asynccontextmanager
async def at_work(team: Team) -> AsyncGenerator[Client]:
    """All actors of a team on a bus in memory."""
    clock, settings = SystemClock(), Settings(team=team.name, grace_s=0.2)
    server, stop = MemoryServer(settings, clock), asyncio.Event()
    async with (
        offline_server() as url,
        asking(url) as model,
        Client(MemoryBus(server, "c"), settings=settings) as client,
        asyncio.TaskGroup() as group,
    ):
        for worker in team.workers:
            process = WorkerProcess(
                without_waiting(worker),
                MemoryBus(server, worker.name),
                clock,
                settings,
                instance=f"{worker.name}-1",
            )
            process.give_model(model)
            group.create_task(process.run(stop))
        await every_worker_is_there(client, team)
        supervisor = Supervisor(MemoryBus(server, "s"), clock, model, settings, instance="s-1")
        group.create_task(supervisor.run(stop))
        yield client
        stop.set()


async def every_worker_is_there(client: Client, team: Team) -> None:
    async with asyncio.timeout(WAIT_S):
        while len(await client.bus.cards(team.name)) < len(team.workers):
            await asyncio.sleep(0.01)


async def asked(client: Client, request: str) -> tuple[Answer, list[Entry]]:
    async with asyncio.timeout(WAIT_S):
        run = await client.ask(request)
        entries = [entry async for entry in run.events()]
    assert isinstance(entries[-1], Finished)
    return entries[-1].answer, entries


def begun_at_once(entries: list[Entry]) -> set[str]:
    """The workers that were handed a task before any task was done."""
    first = next(at for at, entry in enumerate(entries) if isinstance(entry, Result))
    return {entry.to_agent for entry in entries[:first] if isinstance(entry, Handoff)}


def telling(text: str) -> set[str]:
    """The words and figures that can be compared, figures with and without the comma of their thousands."""
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    return {word.lower() for word in TELLING.findall(f"{text} {plain}")}


def texts_of(folder: Path) -> dict[str, str]:
    """The text of every file of a folder, by every end of its name that an answer may cite it by."""
    found: dict[str, str] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            parts = path.relative_to(folder).parts
            found |= {"/".join(parts[at:]): path.read_text() for at in range(len(parts))}
    return found


def borne_out(answer: str, texts: dict[str, str]) -> set[str]:
    """The sources that share names, words and figures with a line that cites them; one that is no file fails here.

    Whether what was calculated from them is right, the tests of the tools see to.
    """
    found: set[str] = set()
    for fact, cited in CITED.findall(answer):
        said = telling(fact)
        for source in cited.split(", "):
            if len(said & telling(texts[source])) >= SHARED:
                found.add(source)
    return found


@pytest.mark.parametrize("name", OWN)
async def test_the_sample_requests_end_complete_with_facts_from_the_data(name: str) -> None:
    team, texts = teams.find(name), texts_of(data_of(name))
    async with at_work(team) as client:
        for sample in team.samples:
            answer, entries = await asked(client, sample)
            assert answer.status == "complete", f"{sample}: {answer.gaps}"
            sources = borne_out(answer.text, texts)
            assert len(sources) >= 2, f"{sample}: {answer.text}"
            assert len(begun_at_once(entries)) >= 2, sample
