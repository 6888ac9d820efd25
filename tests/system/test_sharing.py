"""Workers are processes of their own that share a queue, and tasks run as soon as they can."""

import asyncio

import pytest
from actor_processes import Stage, task, until

from protocol.messages import Handoff, Result


async def test_three_instances_share_one_queue(stage: Stage) -> None:
    await asyncio.gather(stage.supervisor(), *(stage.worker("gated") for _ in range(3)))
    run = await stage.ask(*(task(f"t{n}", "gated", intent="the.gate") for n in range(20)))

    async def all_busy() -> bool:
        queue = (await stage.bus.queues("HANDOFF_RUNS"))["default-gated"]
        return (queue.unsettled, queue.pending) == (12, 8)

    await until(all_busy)  # 3 instances of concurrency 4
    (stage.directory / "the.gate").touch()
    assert (await run.answer()).status == "complete"
    results = [entry.message for entry in await run.past() if isinstance(entry.message, Result)]
    assert len(results) == 20
    assert len({result.instance for result in results}) == 3


async def test_a_diamond_never_waits_for_an_unrelated_slow_task(stage: Stage) -> None:
    await stage.worker("gated", "echo")
    await stage.supervisor()
    run = await stage.ask(
        task("slow", "gated", intent="the.gate"),
        task("a", "echo", intent="A"),
        task("b", "echo", "a", intent="B"),
        task("c", "echo", "a", intent="C"),
        task("d", "echo", "b", "c", intent="D"),
    )
    done = await stage.stored(run, Result, task="d")
    await stage.stored(run, Handoff, task="slow")
    assert isinstance(done.message, Result)
    assert done.message.output == "D<b:B<a:A>><c:C<a:A>>"
    await run.cancel()
    assert (await run.answer()).status == "cancelled"


async def test_a_worker_is_listed_while_it_lives_and_gone_at_once_when_it_stops(stage: Stage) -> None:
    worker = await stage.worker("echo")
    worker.process.terminate()
    assert await worker.ended() == 0
    assert await stage.bus.cards() == {}


async def test_a_killed_worker_fades_from_the_registry_within_seconds(stage: Stage) -> None:
    worker = await stage.worker("echo")
    worker.kill()

    async def gone() -> bool:
        return not await stage.bus.cards()

    await until(gone)


DOUBLE = """
from actors import Worker
from system.workers_for_tests import look_up, reader

double = Worker("double", summary="Reads, too.", prompt="You read.", tools=[look_up])
"""


@pytest.mark.parametrize("targets", [["double.py:reader", "double.py:double"], ["double.py:double"]])
async def test_a_worker_with_a_tool_of_another_is_refused_with_both_names(stage: Stage, targets: list[str]) -> None:
    (stage.directory / "double.py").write_text(DOUBLE)
    await stage.model({})
    if len(targets) == 1:
        await stage.worker("reader")
    refused = stage.start("worker", *targets)
    assert await refused.ended() == 2
    assert "workers 'reader' and 'double' share the tool 'look_up'" in refused.log.read_text()
    again = await stage.worker("reader")
    assert again.process.poll() is None, "one more of the same kind is welcome"
