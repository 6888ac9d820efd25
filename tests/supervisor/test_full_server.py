"""A store that fills up on a real server: finished runs give way to a new request."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from actors.bus.jetstream import JetStreamBus, connect
from actors.client import Client
from actors.clock import SystemClock
from actors.settings import Settings
from actors.storage import FULL_SHARE, PURGE_SHARE
from actors.supervisor import run_purge
from actors.supervisor.supervisor import Supervisor
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol import codec, streams, subjects
from protocol.events import Finished, Started
from protocol.ids import RunId, new_run_id
from protocol.messages import Answer, Handoff, Plan, Request, RunEntry, Task
from protocol.subjects import TaskAddress
from tests.servers import NatsServer
from tests.supervisor.world import NoModel
from tests.waiting import LIMIT_S

KIB = 1024
SMALL = Settings(runs_bytes=1024 * KIB, artifacts_bytes=1024 * KIB)
PLAN = Plan(tasks=(Task(id="a", worker="echo", intent="count apples", success="counted"),))

pytestmark = pytest.mark.process


async def echo(handoff: Handoff) -> str:
    return handoff.intent


async def store_run(bus: JetStreamBus, *, ended: bool) -> RunId:
    """Store a run of another team, of 20 KiB and an artifact; an open one keeps its request."""
    run = new_run_id()
    request = Request(id=run, plan=PLAN)
    if not ended:
        await bus.publish(subjects.request("other"), codec.encode(request))
    await bus.publish(subjects.log(run), codec.encode(Started(epoch=1, supervisor="s", request=request)))
    await bus.publish(TaskAddress(run, "other", "w", "a", 1).handoff, b"x" * 20 * KIB)
    await bus.put_artifact(f"{run}.a.1.output", b"x" * KIB)
    if ended:
        await bus.publish(subjects.log(run), codec.encode(Finished(answer=Answer(run=run, status="complete"))))
        entry = RunEntry(run=run, team="other", status="complete", finished=1.0)
        await bus.publish(subjects.index("other", run), codec.encode(entry))
    return run


async def content(bus: JetStreamBus, run: str) -> tuple[list[str], list[str]]:
    stored = await bus.read(streams.RUNS, subjects.run_tree(run))
    return [m.subject for m in stored], [name for name in await bus.artifact_names() if name.startswith(run)]


async def test_a_real_store_full_of_finished_runs_takes_a_request_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_purge, "QUIET_S", 0.0)
    async with NatsServer(tmp_path) as server:
        settings = msgspec.structs.replace(SMALL, nats_url=server.url)
        bus = await connect(settings, timeout_s=LIMIT_S)
        held = await store_run(bus, ended=False)
        before = await content(bus, held)
        ended: list[RunId] = []
        while (await bus.store_state(streams.RUNS)).share < 0.95:
            ended.append(await store_run(bus, ended=True))
        stop, clock = asyncio.Event(), SystemClock()
        async with asyncio.timeout(2 * LIMIT_S), asyncio.TaskGroup() as group:
            worker = Worker("echo", summary="Works.", run=echo)
            group.create_task(WorkerProcess(worker, bus, clock, settings, instance="echo-1").run(stop))
            group.create_task(Supervisor(bus, clock, NoModel(), settings, instance="s1").run(stop))
            async with Client(bus, settings=settings) as client:
                run = await client.ask(plan=PLAN, synthesis=False, check_served=False)
                assert (await run.answer(timeout=LIMIT_S)).status == "complete"
            while (await bus.store_state(streams.RUNS)).share > PURGE_SHARE:
                await asyncio.sleep(0.05)
            stop.set()
        assert await content(bus, ended[0]) == ([subjects.log(ended[0])], [])
        assert await content(bus, held) == before
        assert (await bus.store_state(streams.RUNS)).share < FULL_SHARE
        await bus.close()
