"""`make bench`: fan-out, chain and diamonds through the real actors, beside a thin round trip, round by round."""

# nats-py leaves some parameters untyped:
# pyright: reportUnknownMemberType=false

import argparse
import asyncio
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import nats
import uvloop

from actors.bus.jetstream import connect
from actors.client import Client
from actors.launcher.port import free
from actors.launcher.server_program import find_program
from actors.settings import Settings
from benchmarks.ours import NAP_S, Ours, chain, diamond, fan_out
from benchmarks.thin import Thin

IN_FLIGHT, WIDE, DIAMONDS = 64, 1000, 200
IDEAL_S = 3 * NAP_S
BOUNDS = {"hop": 1.5, "sustained": 0.5, "diamonds": 2.0}


@contextmanager
def server() -> Generator[str]:
    """A nats-server of its own, on a free port, in a directory that goes with it."""
    with tempfile.TemporaryDirectory(prefix="handoff-bench-") as directory:
        port = free()
        place = ["-a", "127.0.0.1", "-p", str(port), "-sd", directory, "-l", str(Path(directory) / "log")]
        process = subprocess.Popen([str(find_program()), "-js", *place])
        try:
            yield f"nats://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(10)


@contextmanager
def processes(url: str) -> Generator[None]:
    """The workers of both sides, and our supervisor."""
    modules = [["benchmarks.thin", url], ["benchmarks.ours", "worker", url], ["benchmarks.ours", "supervisor", url]]
    started = [subprocess.Popen([sys.executable, "-m", *module]) for module in modules]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait(10)


async def in_flight(total: int, at_once: int, once: Callable[[], Awaitable[None]]) -> float:
    """How long that many take with so many under way."""
    left = iter(range(total))

    async def lane() -> None:
        for _ in left:
            await once()

    began = time.perf_counter()
    await asyncio.gather(*(lane() for _ in range(at_once)))
    return time.perf_counter() - began


async def measure(url: str, rounds: int) -> dict[str, float]:
    """Medians over rounds in which both sides take turns."""
    settings = Settings(nats_url=url)
    bus = await connect(settings, name="bench", timeout_s=10)
    connection = await nats.connect(url)
    thin = Thin(connection)
    await thin.start()
    found: dict[str, list[float]] = {}
    with processes(url):
        async with Client(bus, settings=settings) as client:
            while len(await bus.cards()) < 2:
                await asyncio.sleep(0.05)
            ours = Ours(bus, client)
            await asyncio.gather(in_flight(200, 8, thin.round_trip), ours.seconds(fan_out(100)))
            for number in range(rounds):
                print(f"round {number + 1} of {rounds}", file=sys.stderr)
                figures = {
                    "thin_hop_ms": await in_flight(300, 1, thin.round_trip) / 300 * 1e3,
                    "chain_hop_ms": await ours.seconds(chain(100)) / 100 * 1e3,
                    "thin_tasks_s": WIDE / await in_flight(WIDE, IN_FLIGHT, thin.round_trip),
                    "wide_tasks_s": WIDE / await ours.seconds(fan_out(WIDE)),
                    "fan_out_task_ms": await ours.seconds(fan_out(100)) / 100 * 1e3,
                    "diamonds_ms": await ours.seconds(diamond(), DIAMONDS) * 1e3,
                }
                for name, value in figures.items():
                    found.setdefault(name, []).append(value)
    await bus.close()
    await connection.close()
    return {name: median(values) for name, values in found.items()}


def ratios(figures: dict[str, float]) -> dict[str, float]:
    """Ours against the thin round trip, or the ideal, in the same run."""
    return {
        "hop": figures["chain_hop_ms"] / figures["thin_hop_ms"],
        "sustained": figures["wide_tasks_s"] / figures["thin_tasks_s"],
        "diamonds": figures["diamonds_ms"] / (IDEAL_S * 1e3),
    }


def show(figures: dict[str, float], found: dict[str, float]) -> None:
    """The table a person reads."""
    rows = [
        ("thin round trip, one at a time", f"{figures['thin_hop_ms']:.3f} ms", ""),
        ("W2 chain of 100, a hop", f"{figures['chain_hop_ms']:.3f} ms", f"{found['hop']:.2f} x thin (bound 1.5)"),
        ("thin, 64 in flight", f"{figures['thin_tasks_s']:,.0f} tasks/s", ""),
        (
            "one run of 1,000 tasks, 64 in flight",
            f"{figures['wide_tasks_s']:,.0f} tasks/s",
            f"{found['sustained']:.2f} x thin (bound 0.5)",
        ),
        ("W1 fan-out of 100, a task", f"{figures['fan_out_task_ms']:.3f} ms", ""),
        (
            "W3 200 diamonds of 5 x 50 ms",
            f"{figures['diamonds_ms']:.0f} ms",
            f"{found['diamonds']:.2f} x ideal (bound 2.0)",
        ),
    ]
    for name, value, ratio in rows:
        print(f"{name:38} {value:>16}   {ratio}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench ARGS=", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="how often both sides take turns")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    parser.add_argument("--check", action="store_true", help="exit 1 if a ratio is out of bounds")
    options = parser.parse_args()
    with server() as url:
        figures = uvloop.run(measure(url, options.rounds))
    found = ratios(figures)
    if options.json:
        machine = {"python": platform.python_version(), "rounds": options.rounds}
        print(json.dumps({"figures": figures, "ratios": found, "bounds": BOUNDS, **machine}))
    else:
        show(figures, found)
    good = found["hop"] <= 1.5 and found["sustained"] >= 0.5 and found["diamonds"] <= 2.0
    return 0 if good or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
