"""Teams: workers that belong together, found by name. A team's module is imported when it is asked for."""

from importlib import import_module
from pathlib import Path

from actors.teams.team import Team
from protocol.errors import InvalidError

_MODULES = {"default": "actors.teams.default"}


def names() -> list[str]:
    """The teams that come with the package."""
    return sorted(_MODULES)


def find(name: str, data: Path | None = None) -> Team:
    """The team of that name, working on a data folder or on its own samples; InvalidError if there is none."""
    if name not in _MODULES:
        raise InvalidError([f"there is no team {name[:64]!r}; the teams are: {', '.join(names())}"])
    team: Team = import_module(_MODULES[name]).build(data)
    return team
