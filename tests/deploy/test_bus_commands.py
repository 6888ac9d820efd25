"""The commands of docker-compose.yml that start a bus, carried out by the real server."""

import asyncio
import urllib.request
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from actor_processes import until
from deploy.files import NODES, SERVICES
from servers import binary, free_port

from actors.bus.jetstream import connect
from actors.settings import Settings
from protocol import streams
from protocol.errors import BusError


class Place:
    """Where a service of the file really is in this test."""

    def __init__(self, directory: Path, service: dict[str, Any]) -> None:
        self.client, self.monitoring, self.routes = (str(free_port()) for _ in range(3))
        self.store = directory
        check: list[str] = service["healthcheck"]["test"]
        self.health = next(word for word in check if word.startswith("http://")).replace("8222", self.monitoring)
        self.words: list[str] = service["command"]

    def command(self, others: dict[str, "Place"]) -> list[str]:
        """The command of the file, with the ports and folders of this test."""
        here = {"/data": str(self.store), "8222": self.monitoring, "nats://0.0.0.0:6222": self.route}
        words = [here.get(word, word) for word in self.words]
        for name, other in others.items():
            words = [word.replace(f"nats://{name}:6222", other.route) for word in words]
        return [binary(), "-a", "127.0.0.1", "-p", self.client, *words]

    @property
    def route(self) -> str:
        return f"nats://127.0.0.1:{self.routes}"


@asynccontextmanager
async def started(tmp_path: Path, services: dict[str, dict[str, Any]]) -> AsyncGenerator[dict[str, Place]]:
    """Servers by the commands of these services, healthy by their own checks."""
    places = {name: Place(tmp_path / name, service) for name, service in services.items()}
    processes: list[asyncio.subprocess.Process] = []
    try:
        with (tmp_path / "log").open("wb") as log:
            for place in places.values():
                words = place.command(places)
                processes.append(await asyncio.create_subprocess_exec(*words, stdout=log, stderr=log))
        for place in places.values():
            await until(lambda url=place.health: asyncio.to_thread(answers_well, url))
        yield places
    finally:
        for process in processes:
            process.kill()
            await process.wait()


def answers_well(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


async def test_a_server_started_by_this_command_is_healthy_by_this_check(tmp_path: Path) -> None:
    async with started(tmp_path, {"nats": SERVICES["nats"]}) as places:
        assert (places["nats"].store / "jetstream").is_dir()


async def test_three_nodes_started_by_these_commands_keep_three_copies(tmp_path: Path) -> None:
    async with started(tmp_path, NODES) as places:
        url = ",".join(f"nats://127.0.0.1:{place.client}" for place in places.values())
        settings = Settings(nats_url=url, replicas=len(places))
        await until(lambda: connects(settings))
        for place in places.values():
            assert (place.store / "jetstream" / "$G" / "streams" / streams.RUNS).is_dir()


async def connects(settings: Settings) -> bool:
    """Whether the bus can be used; right after its election a leader may miss the first thing it is asked."""
    try:
        bus = await connect(settings, name="test", timeout_s=10)
    except BusError:
        return False
    await bus.close()
    return True
