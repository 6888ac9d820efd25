"""Runs the simulation over many seeds: `make soak`, or `make soak ARGS="--minutes 60 --from 5000"`.

Ends at the first failure, with the seed, the commit and the command that tries this seed again.
"""

import argparse
import asyncio
import os
import sys
import time
import traceback
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import count, islice
from pathlib import Path
from typing import Any

import structlog

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from simulation import test_adapting_in_memory, test_chaos_in_memory, test_confirm_chaos, test_ends_in_memory  # noqa: E402
from simulation.report import how_to_repeat  # noqa: E402

Scenario = Callable[[int], Coroutine[Any, Any, None]]
SCENARIOS: dict[str, Scenario] = {
    "test_chaos_in_memory": test_chaos_in_memory.test_chaos_loses_nothing_doubles_nothing_and_pays_nothing_twice,
    "test_adapting_in_memory": test_adapting_in_memory.test_every_decision_survives_a_kill_between_any_two_steps,
    "test_confirm_chaos": test_confirm_chaos.test_nothing_runs_without_a_yes_and_nobody_is_asked_twice,
    "test_ends_in_memory": test_ends_in_memory.test_a_run_ends_at_its_deadline_or_by_a_cancel_whatever_is_killed,
}


def trial(name: str, seed: int) -> str:
    """Try one seed; the traceback if it fails."""
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    try:
        asyncio.run(SCENARIOS[name](seed))
    except (Exception, asyncio.CancelledError):  # noqa: BLE001  whatever fails is told with its seed
        return traceback.format_exc()
    return ""


def trials(first: int, seeds: int) -> Iterator[tuple[str, int]]:
    """Every scenario with each seed."""
    for seed in islice(count(first), seeds):
        for name in SCENARIOS:
            yield name, seed


def soak(first: int, seeds: int, seconds: float) -> tuple[int, str]:
    """Try seeds until one fails, or the time or the seeds are used up: how many were tried, and what failed."""
    ends, tried, todo = time.monotonic() + seconds, 0, trials(first, seeds)
    running: dict[Future[str], tuple[str, int]] = {}
    with ProcessPoolExecutor() as pool:
        for each in islice(todo, os.cpu_count() or 1):
            running[pool.submit(trial, *each)] = each
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                name, seed = running.pop(future)
                tried += 1
                if failure := future.result():
                    return tried, failure + how_to_repeat(name, seed)
                if time.monotonic() < ends and (each := next(todo, None)):
                    running[pool.submit(trial, *each)] = each
    return tried, ""


def main() -> int:
    """Run by the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="first", type=int, default=1_000, help="the first seed (default: 1000)")
    parser.add_argument(
        "--seeds", type=int, default=10**9, help="how many seeds (default: as many as there is time for)"
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="no new seed after this time (default: 10)")
    given = parser.parse_args()
    began = time.monotonic()
    tried, failure = soak(given.first, given.seeds, given.minutes * 60)
    sys.stdout.write(failure or f"{tried:,} trials of {len(SCENARIOS)} scenarios in {time.monotonic() - began:.0f} s\n")
    return 1 if failure else 0


if __name__ == "__main__":
    sys.exit(main())
