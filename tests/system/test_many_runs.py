"""A thousand runs: all finish, and nothing grows."""

import asyncio
from pathlib import Path

from actor_processes import Actor, Stage, task
from waiting import LIMIT_S

from actors.remote_run import Run

RUNS, AT_ONCE = 1000, 50


def memory_kib(actor: Actor) -> int:
    status = Path(f"/proc/{actor.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


async def test_a_thousand_runs_finish_and_memory_stays_flat(stage: Stage) -> None:
    actors = [await stage.worker("noop"), await stage.supervisor()]
    diamond = (
        task("a", "noop"),
        task("b", "noop", "a"),
        task("c", "noop", "a"),
        task("d", "noop", "a"),
        task("e", "noop", "b", "c", "d"),
    )
    grown: list[int] = []
    for batch in range(0, RUNS, AT_ONCE):
        runs: list[Run] = await asyncio.gather(*(stage.ask(*diamond) for _ in range(AT_ONCE)))
        answers = await asyncio.wait_for(asyncio.gather(*(run.answer() for run in runs)), LIMIT_S)
        assert all(answer.status == "complete" for answer in answers)
        if batch + AT_ONCE == 200:
            grown = [memory_kib(actor) for actor in actors]
    for actor, before in zip(actors, grown, strict=True):
        after = memory_kib(actor)
        assert after < before * 1.10, f"{actor.name} grew from {before} to {after} KiB"
