"""The files that a deployment is made of, parsed, and what their words mean in the code."""

import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import click
import yaml

from actors.cli.app import handoff

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "handoff"}
ACTORS = {name: service for name, service in OURS.items() if name not in ("model", "web")}
CLUSTER: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "cluster.yml").read_text())
NODES = {name: service for name, service in CLUSTER["services"].items() if name not in SERVICES}


def with_cluster(name: str) -> dict[str, Any]:
    """A service of docker-compose.yml as it is with deploy/cluster.yml behind it: maps are merged, as Compose does."""
    service = dict(SERVICES[name])
    for key, value in CLUSTER["services"].get(name, {}).items():
        service[key] = service.get(key, {}) | value if isinstance(value, dict) else value
    return service


class Instruction(NamedTuple):
    """One line of the Dockerfile, continuations joined."""

    word: str
    rest: str


def dockerfile() -> list[Instruction]:
    """The instructions, in order."""
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [Instruction(*line.split(maxsplit=1)) for line in lines]


def of_kind(word: str) -> list[str]:
    """What stands behind every instruction of that kind."""
    return [instruction.rest for instruction in dockerfile() if instruction.word == word]


def parsed(words: list[str]) -> dict[str, Any]:
    """The parameters of a command of ours, as click understands them; click.UsageError if it does not."""
    root = click.Context(handoff)
    _, command, rest = handoff.resolve_command(root, words)
    assert command is not None
    return command.make_context(words[0], rest, parent=root).params


def compose_lines(text: str) -> list[list[str]]:
    """Every `docker compose ...` in a text, as words; a comment beside it is not part of it."""
    found = re.findall(r"docker compose [^\n`]*", text)
    return [shlex.split(re.split(r"\s{2,}|, then| #", line)[0]) for line in found]
