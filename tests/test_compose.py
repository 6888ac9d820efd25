"""docker-compose.yml: a bus with JetStream that keeps its store, and Jaeger; on loopback, without secrets."""

import asyncio
import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml
from actor_processes import until
from servers import binary, free_port

PATH = Path(__file__).parent.parent / "docker-compose.yml"
COMPOSE: dict[str, Any] = yaml.safe_load(PATH.read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
NATS: dict[str, Any] = SERVICES["nats"]


def published(service: str) -> dict[str, str]:
    """Which port of the container is reached at which address."""
    ports: list[str] = SERVICES[service]["ports"]
    return {port.rpartition(":")[2]: port.rpartition(":")[0] for port in ports}


def test_there_is_a_bus_and_a_place_for_traces() -> None:
    assert set(SERVICES) == {"nats", "jaeger"}
    assert published("nats") == {"4222": "127.0.0.1:4222", "8222": "127.0.0.1:8222"}
    assert published("jaeger") == {port: f"127.0.0.1:{port}" for port in ("16686", "4317", "4318")}


@pytest.mark.parametrize("name", SERVICES)
def test_every_image_has_a_version(name: str) -> None:
    image, _, tag = SERVICES[name]["image"].partition(":")
    assert image in ("nats", "jaegertracing/jaeger")
    assert re.fullmatch(r"2\.\d+(\.\d+)?(-alpine)?", tag)


def test_the_bus_keeps_its_store_in_a_volume() -> None:
    command: list[str] = NATS["command"]
    store = command[command.index("--store_dir") + 1]
    (mount,) = NATS["volumes"]
    volume, _, place = mount.partition(":")
    assert place == store
    assert volume in COMPOSE["volumes"]


def test_there_is_no_secret_in_it() -> None:
    assert not [name for name, service in SERVICES.items() if "environment" in service or "env_file" in service]
    values = yaml.safe_dump(SERVICES)  # without the comments
    assert not re.search(r"pass|secret|token|key|cred|--user|//[^/\s]*@", values, re.IGNORECASE)


async def test_a_server_started_by_this_command_is_healthy_by_this_check(tmp_path: Path) -> None:
    client_port, monitoring = str(free_port()), str(free_port())
    here = {"/data": str(tmp_path), "8222": monitoring}
    words: list[str] = NATS["command"]
    command = [here.get(word, word) for word in words]
    url = next(word for word in NATS["healthcheck"]["test"] if word.startswith("http://")).replace("8222", monitoring)
    with (tmp_path / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            binary(), "-a", "127.0.0.1", "-p", client_port, *command, stdout=log, stderr=log
        )
    try:
        await until(lambda: asyncio.to_thread(answers_well, url))
        assert (tmp_path / "jetstream").is_dir()
    finally:
        process.kill()
        await process.wait()


def answers_well(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False
