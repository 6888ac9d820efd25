"""Our side: the real supervisor and a real worker as processes, and workloads as plans given with the request."""

import asyncio
import os
import sys
import time

import uvloop

from actors.bus.jetstream import JetStreamBus, connect
from actors.bus.port import Stored
from actors.client import Client
from actors.clock import SystemClock
from actors.launcher.roles import settle_memory, supervisor
from actors.launcher.telling import telemetry
from actors.settings import Settings
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol import codec
from protocol.events import Finished
from protocol.messages import Handoff, Plan, Task
from protocol.subjects import ALL_LOGS

NAP_S = 0.05


def fan_out(width: int) -> Plan:
    """W1: tasks that do not know each other."""
    return Plan(tasks=tuple(Task(id=f"t{n}", worker="noop", intent="nothing") for n in range(width)))


def chain(length: int) -> Plan:
    """W2: each task needs the one before."""
    needs = [(), *((f"t{n}",) for n in range(length - 1))]
    tasks = (Task(id=f"t{n}", worker="noop", intent="nothing", depends_on=needs[n]) for n in range(length))
    return Plan(tasks=tuple(tasks))


def diamond() -> Plan:
    """W3: five tasks of 50 ms in three levels."""
    shape = {"a": (), "b": ("a",), "c": ("a",), "d": ("a",), "e": ("b", "c", "d")}
    return Plan(tasks=tuple(Task(id=n, worker="nap", intent="rest", depends_on=needs) for n, needs in shape.items()))


class Ours:
    """The asking side."""

    def __init__(self, bus: JetStreamBus, client: Client) -> None:
        self._bus = bus
        self._client = client

    async def seconds(self, plan: Plan, runs: int = 1) -> float:
        """From the first request to the last answer, for that many runs at once."""
        done = asyncio.Event()
        left = runs

        def heard(stored: Stored) -> None:
            nonlocal left
            event = codec.decode_event(stored.data) if b'"finished"' in stored.data else None
            if isinstance(event, Finished):
                if event.answer.status != "complete":
                    raise RuntimeError(f"a run ended {event.answer.status}: {event.answer.gaps}")
                left -= 1
                if not left:
                    done.set()

        async with self._bus.subscribe(ALL_LOGS, heard):
            began = time.perf_counter()
            await asyncio.gather(*(self._client.ask(plan=plan, synthesis=False) for _ in range(runs)))
            await asyncio.wait_for(done.wait(), 60)
            return time.perf_counter() - began


async def _work(settings: Settings) -> None:
    async def noop(_: Handoff) -> str:
        return "ok"

    async def nap(_: Handoff) -> str:
        await asyncio.sleep(NAP_S)
        return "ok"

    bus = await connect(settings, name="bench worker")
    workers = [
        Worker("noop", summary="Does nothing.", run=noop, concurrency=64),
        Worker("nap", summary="Rests for 50 ms.", run=nap, concurrency=1024),
    ]
    stop, instance = asyncio.Event(), f"bench-{os.getpid()}"
    async with telemetry(settings, "handoff-worker", instance), asyncio.TaskGroup() as group:
        for worker in workers:
            process = WorkerProcess(worker, bus, SystemClock(), settings, instance=instance)
            group.create_task(process.run(stop))


if __name__ == "__main__":
    given = Settings(nats_url=sys.argv[2], log_level="warning", team="".join(sys.argv[3:]) or "default")
    if sys.argv[1] == "supervisor":
        sys.exit(supervisor(given))
    settle_memory()
    uvloop.run(_work(given))
