"""Work that is no longer wanted stops while it is under way: in a model call, a tool, a thread.

What is stopped here would take an hour, so it ends in time only because it was stopped.
"""

import asyncio
import json
from typing import Any

from actor_processes import Stage, until
from waiting import LIMIT_S

from protocol import streams, subjects
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


async def test_a_cancel_reaches_model_calls_tools_and_threads_that_are_under_way(stage: Stage) -> None:
    slow = {"role": "worker", "contains": "reader for long", "delay_s": 3600.0}
    await stage.model({"rules": [slow, agent("ponder", "wait_long"), agent("dig", "dig_long")]})
    await stage.worker(*WORKERS)
    await stage.supervisor()
    tasks = tuple(Task(id=name, worker=name, intent=f"{name} for long") for name in WORKERS)
    run = await stage.client.submit(Request(plan=Plan(tasks=tasks), synthesis=False))
    began = [stage.directory / f"{name}.began" for name in ("ponder", "dig", "block")]
    await until(lambda: all(file.exists() for file in began))
    await until(lambda: any("reader for long" in line["last"] for line in stage.asked()))
    await run.cancel("enough")
    await until(lambda: idle(stage))
    await until(lambda: left(stage))
    await until((stage.directory / "ponder.ended").exists)
    assert (await asyncio.wait_for(run.answer(), LIMIT_S)).status == "cancelled"
    assert not await stage.bus.read(streams.RUNS, subjects.run_work(run.id, "result"))


async def test_a_task_that_a_new_plan_drops_is_stopped_and_what_it_cost_is_counted(stage: Stage) -> None:
    read = {"id": "read", "worker": "reader", "intent": "read every page", "success": "read"}
    fix = {"id": "fix", "worker": "reluctant", "intent": "fix the bug behind decline.gate", "success": "fixed"}
    ops = {"id": "ops", "worker": "gated", "intent": "operate behind ops.gate", "success": "operated"}
    rules: list[dict[str, Any]] = [
        {"role": "planner", "contains": "<why>", "plan": {"tasks": [ops]}},
        {"role": "planner", "plan": {"tasks": [read, fix]}},
        {"role": "worker", "turns": 1, "tool_use": [{"name": "look_up", "input": {"page": 1}}]},
        {"role": "worker", "turns": 3, "delay_s": 3600.0},
    ]
    await stage.model({"rules": rules})
    await stage.worker("reader", "reluctant", "gated")
    await stage.supervisor()
    run = await stage.client.submit(Request(text="Fix billing"))
    await until(lambda: sum(line["role"] == "worker" for line in stage.asked()) == 2)
    (stage.directory / "decline.gate").touch()
    dropped = (await stage.stored(run, Result, task="read")).message
    assert isinstance(dropped, Result)
    assert dropped.error is not None
    assert dropped.error.kind == "cancelled"
    (stage.directory / "ops.gate").touch()
    answer = await asyncio.wait_for(run.answer(), LIMIT_S)
    assert (answer.status, answer.revisions, answer.gaps) == ("complete", 2, ())
    assert answer.spending["reader"].model_calls == 1
    assert answer.spending["reader"].tool_calls == 1
