"""`python -m benchmarks.tracing`: what tracing costs. Two teams side by side, one told to a collector and one not.

Both do the same run of 100 function tasks, turn by turn, so that whatever the machine does meanwhile hits both.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median

import uvloop

from actors.bus.jetstream import connect
from actors.client import Client
from actors.launcher.port import free
from actors.settings import Settings
from benchmarks.__main__ import server
from benchmarks.ours import Ours, fan_out

TASKS = 100
BOUND = 0.15
TEAMS = ("plain", "told")


class Sink(BaseHTTPRequestHandler):
    """A collector that takes everything and keeps nothing."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@contextmanager
def fleets(url: str) -> Generator[None]:
    """For each team a supervisor and a worker; and the collector, a process of its own as in life."""
    port = free()
    commands: list[tuple[list[str], dict[str, str]]] = [(["benchmarks.tracing", "--sink", str(port)], {})]
    for team in TEAMS:
        told = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}"} if team == "told" else {}
        commands += [(["benchmarks.ours", kind, url, team], told) for kind in ("worker", "supervisor")]
    plain = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    started = [subprocess.Popen([sys.executable, "-m", *what], env=plain | told) for what, told in commands]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait(10)


async def measure(url: str, rounds: int) -> dict[str, list[float]]:
    """Seconds for each run of each team, turn by turn."""
    found: dict[str, list[float]] = {team: [] for team in TEAMS}
    bus = await connect(Settings(nats_url=url), name="bench", timeout_s=10)
    with fleets(url):
        while len(await bus.cards()) < 2 * len(TEAMS):
            await asyncio.sleep(0.05)
        sides: dict[str, Ours] = {}
        for team in TEAMS:
            client = await Client(bus, settings=Settings(nats_url=url, team=team)).__aenter__()
            sides[team] = Ours(bus, client)
            await sides[team].seconds(fan_out(TASKS))
        for number in range(rounds):
            for team in TEAMS if number % 2 else reversed(TEAMS):
                found[team].append(await sides[team].seconds(fan_out(TASKS)))
    await bus.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tracing", description=__doc__)
    parser.add_argument("--rounds", type=int, default=60, help="how often both teams take turns")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    parser.add_argument("--check", action="store_true", help=f"exit 1 above {BOUND:.0%}")
    parser.add_argument("--sink", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.sink:
        ThreadingHTTPServer(("127.0.0.1", options.sink), Sink).serve_forever()
    with server() as url:
        found = uvloop.run(measure(url, options.rounds))
    plain, told = (median(found[team]) * 1e3 for team in TEAMS)
    overhead = told / plain - 1
    if options.json:
        print(json.dumps({"plain_ms": plain, "told_ms": told, "overhead": overhead, "rounds": options.rounds}))
    else:
        print(f"run of {TASKS} function tasks, not traced {plain:10.1f} ms")
        print(f"the same, traced                    {told:10.1f} ms   {overhead:+.1%} (bound {BOUND:+.0%})")
    return 0 if overhead < BOUND or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
