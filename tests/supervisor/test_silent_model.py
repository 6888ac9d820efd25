"""A model that never answers keeps no run from its end."""

import asyncio
from collections.abc import Callable

from supervisor.test_live_runs import SETTINGS, World, echo

from actors.bus.memory import MemoryBus
from actors.model.port import Call, Reply
from actors.supervisor.supervisor import Supervisor
from actors.worker.definition import Worker
from actors.worker.process import WorkerProcess
from protocol.ids import new_run_id
from protocol.messages import Plan, Request, Task


class SilentModel:
    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        await asyncio.Event().wait()
        raise AssertionError

    async def close(self) -> None:
        pass


async def test_after_the_deadline_the_results_are_the_answer_if_nobody_writes_one() -> None:
    world, stop = World(), asyncio.Event()
    supervisor = Supervisor(MemoryBus(world.server, "s"), world.clock, SilentModel(), SETTINGS, instance="s")
    worker = Worker("w", summary="Works.", run=echo)
    process = WorkerProcess(worker, MemoryBus(world.server, "w"), world.clock, SETTINGS, instance="w1")
    tasks = [asyncio.create_task(supervisor.run(stop)), asyncio.create_task(process.run(stop))]
    try:
        run = new_run_id()
        plan = Plan(tasks=(Task(id="a", worker="w", intent="four apples"),))
        await world.ask(Request(id=run, text="count", plan=plan, deadline_s=5.0))
        answer = await world.answer(run, within_s=75)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert (answer.status, answer.text) == ("partial", "four apples")
    assert 60 < answer.timing.wall_s < 75
