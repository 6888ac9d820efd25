"""Calling a tool of a shipped team over the team's own data."""

from collections.abc import Callable
from pathlib import Path

from actors import teams
from actors.tools.tool import Tool

Build = Callable[[Path], list[Tool]]


def data_of(team: str) -> Path:
    return Path(teams.__file__).parent / team / "data"


async def call(build: Build, folder: Path, name: str, *given: str) -> str:
    found = next(tool for tool in build(folder) if tool.name == name)
    return await found.call(dict(zip(found.schema["properties"], given, strict=False)))
