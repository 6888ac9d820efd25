"""Teams: workers that belong together, each team a folder with a `team.toml`; found by name or by path.

What a team's file names is imported when the team is asked for, not before.
"""

import difflib
from pathlib import Path

from actors.teams.form import TeamForm, settings_of
from actors.teams.place import expanded, is_file
from actors.teams.reading import FILE, read_form
from actors.teams.team import Team
from protocol.errors import InvalidError

__all__ = ["FILE", "SHIPPED", "Team", "describe", "file_of", "find", "is_path", "names", "settings_of", "unknown"]

SHIPPED = Path(__file__).parent


def names() -> list[str]:
    """The teams that come with the package."""
    return sorted(file.parent.name for file in SHIPPED.glob(f"*/{FILE}"))


def find(reference: str, data: Path | None = None) -> Team:
    """The team of that name or in that file, over a data folder or its own; InvalidError with every fault."""
    from actors.teams.building import build

    return build(file_of(reference), data)


def describe(reference: str) -> TeamForm:
    """What the file of that team says, nothing imported; InvalidError with every fault."""
    return read_form(file_of(reference))


def is_path(reference: str) -> bool:
    """Whether it says where a team file is, instead of naming a team."""
    return "/" in reference or reference.endswith(".toml") or reference in (".", "..") or reference.startswith("~")


def file_of(reference: str) -> Path:
    """The file of a team that comes along, or of one's own; InvalidError if there is no team of that name."""
    if is_path(reference):
        path = expanded(Path(reference))
        return path if path.suffix == ".toml" else path / FILE
    if reference not in names():
        raise InvalidError([unknown(reference, names())])
    return SHIPPED / reference / FILE


def unknown(name: str, known: list[str]) -> str:
    """That there is no such team, for a person who may have meant a folder."""
    near = difflib.get_close_matches(name[:64], known, n=1)
    meant = f" (did you mean {near[0]!r}?)" if near else ""
    text = f"there is no team {name[:64]!r}{meant}; the teams are: {', '.join(known)}"
    return f"{text}; for the one in this folder write --team ./{name}" if is_file(Path(name, FILE)) else text
