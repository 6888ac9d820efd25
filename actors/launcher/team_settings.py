"""The settings of a team's processes: what its own file says stands between the environment and `handoff.toml`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from actors import teams
from actors.launcher.finding import imported_team, is_import_path
from actors.settings import ConfigFile, Settings, read_settings
from protocol.errors import InvalidError


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """A team as far as settings go: its name on the bus, where it is written down, and what it sets."""

    name: str
    source: str
    settings: Mapping[str, Any]


def read_team_settings(
    environment: Mapping[str, str],
    *,
    file: ConfigFile | None = None,
    flags: Mapping[str, Any] | None = None,
    imports: bool = True,
) -> Settings:
    """All settings, the team's own among them; `team` is then a name. InvalidError with every fault.

    Without `imports` no code of a team runs: a team in Python keeps its import path as its name, and sets nothing.
    """
    settings = read_settings(environment, file=file, flags=flags)
    if not imports and is_import_path(_source(settings)):
        return settings
    team = described(settings)
    if team is None:
        return settings
    if settings.team_source and settings.team not in (team.name, Settings().team) and not _is_place(settings.team):
        raise InvalidError(
            [f"team_source is the place of {team.name!r}, and team says {settings.team!r}: set one of them"]
        )
    layered = read_settings(environment, file=file, team=team.settings, flags=flags)
    return msgspec.structs.replace(layered, team=team.name, team_source=team.source)


def described(settings: Settings) -> Described | None:
    """The team that is meant, if it is written down; nothing is imported unless it is written in Python."""
    source = _source(settings)
    if is_import_path(source):
        team = imported_team(source)
        return Described(name=team.name, source=_absolute(source), settings=team.settings)
    if source:
        file = teams.file_of(source if teams.is_path(source) else f"./{source}").absolute()
        form = teams.describe(str(file))
        return Described(name=form.name, source=str(file), settings=teams.settings_of(form))
    if settings.team in teams.names():
        form = teams.describe(settings.team)
        return Described(name=form.name, source="", settings=teams.settings_of(form))
    return None


def _source(settings: Settings) -> str:
    """Where the team is written down, as far as that was said."""
    return settings.team if _is_place(settings.team) else settings.team_source


def _is_place(team: str) -> bool:
    return teams.is_path(team) or is_import_path(team)


def _absolute(source: str) -> str:
    """The same, for a process that may work in another directory."""
    where, _, name = source.rpartition(":")
    return f"{Path(where).absolute()}:{name}" if where.endswith(".py") else source
