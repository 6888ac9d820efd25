"""What a tool did to the world before its worker was killed, and what happens when the task goes on."""

import asyncio

from actor_processes import Actor, Stage, task, until
from waiting import LIMIT_S

from actors.remote_run import Run
from protocol.steps import ModelCalled, Taken, ToolCalled

HERE = "system.effects_for_tests"


async def one_call(stage: Stage, tool: str) -> None:
    """A model that calls the tool once and then is done."""
    call = {"role": "worker", "turns": 1, "tool_use": [{"name": tool, "input": {"text": "help"}}]}
    await stage.model({"rules": [call, {"role": "worker", "turns": 3, "text": "All done."}]})
    await stage.supervisor()


def start(stage: Stage, worker: str) -> Actor:
    return stage.start("worker", f"{HERE}:{worker}")


async def steps(run: Run) -> list[object]:
    return [entry.message for entry in await run.past()]


async def killed_in_the_call(stage: Stage, worker: str, trace: str) -> Run:
    """A run whose worker is killed after the tool did its work and before that is stored; another goes on."""
    (stage.directory / "hold").touch()
    first = start(stage, worker)
    run = await stage.ask(task("t", worker))
    await until(lambda: any(stage.directory.glob(trace)))
    first.kill()
    assert not any(isinstance(step, ToolCalled) for step in await steps(run)), "the call was not stored yet"
    (stage.directory / "hold").unlink()
    start(stage, worker)
    return run


async def test_an_effect_with_a_key_is_not_repeated_after_kill_9(stage: Stage) -> None:
    await one_call(stage, "page")
    run = await killed_in_the_call(stage, "pager", "outbox/*.json")
    (before,) = (stage.directory / "outbox").glob("*.json")
    stamp = before.stat().st_mtime_ns
    answer = await asyncio.wait_for(run.answer(), LIMIT_S)
    assert answer.status == "complete"
    (after,) = (stage.directory / "outbox").iterdir()
    assert (after.name, after.stat().st_mtime_ns) == (f"{run.id}.t.1.1.1.json", stamp)
    (called,) = [step for step in await steps(run) if isinstance(step, ToolCalled)]
    assert "it had been sent before" in called.output
    assert sum(isinstance(step, ModelCalled) for step in await steps(run)) == 2


async def test_an_effect_without_a_key_may_be_repeated_after_kill_9(stage: Stage) -> None:
    await one_call(stage, "shout")
    run = await killed_in_the_call(stage, "shouter", "shouts")
    answer = await asyncio.wait_for(run.answer(), LIMIT_S)
    assert answer.status == "complete"
    assert (stage.directory / "shouts").read_text() == "help\nhelp\n", "docs/TOOLS.md says so"


async def test_a_tool_that_ends_its_process_is_given_up_after_two_deaths_and_the_model_told(stage: Stage) -> None:
    await one_call(stage, "jump")
    first = start(stage, "jumper")
    run = await stage.ask(task("t", "jumper"))
    assert await first.ended() == 1
    assert await start(stage, "jumper").ended() == 1
    start(stage, "jumper")
    answer = await asyncio.wait_for(run.answer(), LIMIT_S)
    assert answer.status == "complete"
    assert (stage.directory / "jumps").read_text() == "help\nhelp\n"
    past = await steps(run)
    (called,) = [step for step in past if isinstance(step, ToolCalled)]
    assert called.failed
    assert called.output == "jump was not run again: the worker died 2 times while this ran"
    assert sum(isinstance(step, Taken) for step in past) == 2


async def test_an_async_tool_that_blocks_ends_its_process_says_where_and_is_given_up(stage: Stage) -> None:
    stage.environment["HANDOFF_STUCK_S"] = "0.5"
    await one_call(stage, "doze")
    first = start(stage, "dozer")
    run = await stage.ask(task("t", "dozer"))
    assert await first.ended() == 1
    said = first.log.read_text()
    assert "the event loop was held up for 0.5 s in doze (" in said
    assert "write it as a plain def" in said
    assert await start(stage, "dozer").ended() == 1
    start(stage, "dozer")
    answer = await asyncio.wait_for(run.answer(), LIMIT_S)
    assert answer.status == "complete"
    assert (stage.directory / "naps").read_text() == "help\nhelp\n"
