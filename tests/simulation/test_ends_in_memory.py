"""Runs that are cancelled or reach their deadline while actors are killed: each ends once, and costs nothing more."""

from collections.abc import Callable
from typing import Any

import pytest
from simulation.world import SEEDS, World

from actors.model.port import Call, Reply
from actors.tools.tool import tool
from actors.worker.definition import Worker
from protocol import streams, subjects
from protocol.controls import Cancel
from protocol.events import Cancelled, Expired, Finished, Started
from protocol.ids import RunId
from protocol.messages import Plan, Request, Task, Usage

DEADLINE_S = 12.0
AT_MOST_S = 2.5
"""How long a worker that was stopped, or cut off, may believe that its task is still wanted."""


@tool
async def look_up(page: int) -> str:
    """Look up a page.

    Args:
        page: which one
    """
    return f"page {page}"


READER = Worker("reader", summary="Reads.", prompt="Read.", tools=[look_up], max_turns=1000)


class EndlessModel:
    """Asks for the tool for ever; notes each call that is made long after the end of its run was stored."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.late: list[str] = []

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        ended = end_of(self._world, call.run)
        if ended is not None and self._world.clock.now() > ended + AT_MOST_S:
            self.late.append(f"{call.run}: {self._world.clock.now() - ended:.1f} s after its end")
        await self._world.clock.sleep(self._world.luck.uniform(0.05, 1.5))
        turn = len(call.turns)
        content: list[dict[str, Any]] = [
            {"type": "tool_use", "id": f"u{turn}", "name": "look_up", "input": {"page": 1}}
        ]
        return Reply(model="m", content=content, stop_reason="tool_use", usage=Usage(model_calls=1))

    async def close(self) -> None:
        pass


def end_of(world: World, run: str) -> float | None:
    """When the end of a run was stored."""
    log = world.server.stream(streams.RUNS).read(subjects.log(run), 0)
    ends = (stored.time for stored, event in zip(log, world.log(run), strict=True) if isinstance(event, Finished))
    return next(ends, None)


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_run_ends_at_its_deadline_or_by_a_cancel_whatever_is_killed(seed: int) -> None:
    world = World(seed, {"reader": READER})
    world.model = model = EndlessModel(world)
    await world.start_all()
    runs: list[RunId] = []
    for _ in range(6):
        runs.append(world.run_id())
        plan = Plan(tasks=(Task(id="r", worker="reader", intent="read"),))
        await world.submit(Request(id=runs[-1], plan=plan, synthesis=False, deadline_s=DEADLINE_S))
        await world.mischief()
    for number in range(10):
        if number < 3:
            await world.tell(runs[number], Cancel(reason="enough"))
        await world.mischief()
    await world.calm(runs)
    for number, run in enumerate(runs):
        ends = [event for event in world.log(run) if isinstance(event, Cancelled | Expired)]
        # A cancel may come after the deadline, before the answer is stored: it stops what is still paid for.
        kinds = [type(event) for event in ends]
        assert kinds in ([Cancelled], [Expired], [Expired, Cancelled]), ends
        assert Cancelled not in kinds or number < 3
        if isinstance(ends[0], Expired):
            assert ends[0].deadline == first_start(world, run) + DEADLINE_S, "a resumed run keeps its deadline"
    assert model.late == []
    await world.end()


def first_start(world: World, run: str) -> float:
    """When the first `started` event of a run was stored."""
    log = world.server.stream(streams.RUNS).read(subjects.log(run), 0)
    return min(stored.time for stored, event in zip(log, world.log(run), strict=True) if isinstance(event, Started))
