"""A small launcher for a process of its own: answers each line it reads with what it sees, stops at the end of input.

The words on its command line: the home of the bus, the directory for marks, and the actors to start (idle or deaf).
"""

import asyncio
import json
import signal
import sys
from pathlib import Path
from types import FrameType

from actors.launcher.embedded import EmbeddedBus
from actors.launcher.processes import ActorSpec, Fleet
from actors.settings import Settings


async def launch(home: str, marks: Path, actors: list[str]) -> None:
    async with Fleet() as fleet, EmbeddedBus(Settings(home=home)) as bus:
        with (marks / "launched").open("a") as launches:
            launches.write("once\n")
        for name in actors:
            await fleet.start(ActorSpec(name=name, entry=f"tests.launcher.fleet_actors:{name}", args=(marks, name)))
        while await asyncio.to_thread(sys.stdin.readline):
            seen = {"owned": bus.owned, "url": bus.address.url, "bus": bus.address.pid, "pids": fleet.pids()}
            sys.stdout.write(json.dumps(seen) + "\n")
            sys.stdout.flush()


def shrug(number: int, frame: FrameType | None) -> None:
    """Do nothing; unlike "ignore" this is not inherited by the processes that are started."""


signal.signal(signal.SIGINT, shrug)
asyncio.run(launch(sys.argv[1], Path(sys.argv[2]), sys.argv[3:]))
