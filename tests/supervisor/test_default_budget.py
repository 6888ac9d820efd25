"""What a run may spend where its request does not say: the settings of the team decide, and it is written down."""

import asyncio

import pytest

from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.model.port import Call, Reply
from actors.settings import Settings
from actors.supervisor.supervisor import Supervisor
from protocol import codec, streams, subjects
from protocol.events import Started
from protocol.ids import new_run_id
from protocol.messages import Budget, Plan, Request, Task

SETTINGS = Settings(budget_tokens=500, budget_usd=0.5)


class NoModel:
    async def call(self, call: Call, *, said: object = None, ready: object = None) -> Reply:
        raise AssertionError("nobody is to be asked")

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("own", "counts"),
    [
        (Budget(), Budget(tokens=500, usd=0.5)),
        (Budget(tokens=9, steps=3), Budget(tokens=9, steps=3, usd=0.5)),
        (Budget(usd=2.0, seconds=7.0), Budget(tokens=500, usd=2.0, seconds=7.0)),
    ],
)
async def test_a_budget_is_filled_in_where_the_request_leaves_it_open(own: Budget, counts: Budget) -> None:
    clock = VirtualClock()
    server, stop = MemoryServer(SETTINGS, clock), asyncio.Event()
    supervisor = Supervisor(MemoryBus(server, "s"), clock, NoModel(), SETTINGS, instance="s")
    running = asyncio.create_task(supervisor.run(stop))
    run = new_run_id()
    plan = Plan(tasks=(Task(id="a", worker="w", intent="count apples"),))
    request = Request(id=run, plan=plan, synthesis=False, budget=own)
    await MemoryBus(server, "client").publish(subjects.request("default"), codec.encode(request))

    def stored() -> list[bytes]:
        return [message.data for message in server.stream(streams.RUNS).read(subjects.log(run), 0)]

    try:
        assert await clock.advance_until(lambda: bool(stored()), 10)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    started = codec.decode_event(stored()[0])
    assert isinstance(started, Started)
    assert started.request.budget == counts
