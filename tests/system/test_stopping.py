"""What nobody wants any more stops within a second, wherever it is: in a model call, a tool, a thread."""

import asyncio
import json
from typing import Any

from actor_processes import Stage, until

from actors.client import Run
from protocol import streams, subjects
from protocol.events import Replanned
from protocol.messages import Plan, Request, Result, Task

WORKERS = ("reader", "ponder", "dig", "block")


def agent(name: str, tool: str) -> dict[str, Any]:
    return {"role": "worker", "contains": f"{name} for long", "turns": 1, "tool_use": [{"name": tool, "input": {}}]}


async def idle(stage: Stage) -> bool:
    queues = await stage.bus.queues(streams.RUNS)
    return all(queues[f"default-{name}"].unsettled == 0 for name in WORKERS)


def left(stage: Stage) -> bool:
    lines = [json.loads(line) for line in stage.requests.read_text().splitlines()]
    return any(line["event"] == "gone" for line in lines)


async def test_a_cancel_reaches_model_calls_tools_and_threads_within_a_second(stage: Stage) -> None:
    slow = {"role": "worker", "contains": "reader for long", "delay_s": 30.0}
    await stage.model({"rules": [slow, agent("ponder", "wait_long"), agent("dig", "dig_long")]})
    await stage.worker(*WORKERS)
    await stage.supervisor()
    tasks = tuple(Task(id=name, worker=name, intent=f"{name} for long") for name in WORKERS)
    run = await stage.client.submit(Request(plan=Plan(tasks=tasks), synthesis=False))
    began = [stage.directory / f"{name}.began" for name in ("ponder", "dig", "block")]
    await until(lambda: all(file.exists() for file in began))
    await until(lambda: any("reader for long" in line["last"] for line in stage.asked()))
    await run.cancel("enough")
    async with asyncio.timeout(1.0):
        await until(lambda: idle(stage))
        await until(lambda: left(stage))
        await until((stage.directory / "ponder.ended").exists)
    assert (await asyncio.wait_for(run.answer(), 10)).status == "cancelled"
    assert not await stage.bus.read(streams.RUNS, subjects.run_work(run.id, "result"))


async def test_a_task_that_a_new_plan_drops_stops_within_a_second_and_what_it_cost_is_counted(stage: Stage) -> None:
    read = {"id": "read", "worker": "reader", "intent": "read every page", "success": "read"}
    fix = {"id": "fix", "worker": "decline", "intent": "fix the bug in billing", "success": "fixed"}
    ops = {"id": "ops", "worker": "nap", "intent": "1.5", "success": "slept through 1.5 seconds"}
    rules: list[dict[str, Any]] = [
        {"role": "planner", "contains": "<why>", "plan": {"tasks": [ops]}, "delay_s": 1.5},
        {"role": "planner", "plan": {"tasks": [read, fix]}},
        {"role": "worker", "turns": 1, "tool_use": [{"name": "look_up", "input": {"page": 1}}]},
        {"role": "worker", "turns": 3, "delay_s": 30.0},
    ]
    await stage.model({"rules": rules})
    await stage.worker("reader", "decline", "nap")
    await stage.supervisor()
    run = await stage.client.submit(Request(text="Fix billing"))
    answer = await asyncio.wait_for(run.answer(), 20)
    assert (answer.status, answer.revisions, answer.gaps) == ("complete", 2, ())
    dropped, stopped = await moments(run)
    assert stopped - dropped < 1.0
    assert answer.spending["reader"].model_calls == 1
    assert answer.spending["reader"].tool_calls == 1


async def moments(run: Run) -> tuple[float, float]:
    """When the new plan was stored, and when the dropped task came back."""
    past = await run.past()
    (planned,) = [entry for entry in past if isinstance(entry.message, Replanned)]
    (back,) = [entry for entry in past if isinstance(entry.message, Result) and entry.message.task == "read"]
    assert isinstance(back.message, Result)
    assert back.message.error is not None
    assert back.message.error.kind == "cancelled"
    return planned.time, back.time
