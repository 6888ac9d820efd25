"""`handoff init`: a small team of one's own that works at once, to be edited."""

import shlex
from pathlib import Path

import click

from actors import teams
from actors.cli.terminal import tell, write
from actors.teams.place import expanded
from protocol.errors import InvalidError
from protocol.ids import token_fault

STARTER = Path(__file__).parent / "starter"
NAME = 'name = "my-team"'
PLACE = "--team ./my-team"
KINDS = (".toml", ".py", ".csv", ".md")
QUESTION = "What does a tandem cost for a week, and what do the rules say about the deposit?"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def init(folder: Path) -> int:
    """Write a working team into FOLDER: a team.toml, a tool of its own, and data. Its name is that of the folder.

    Nothing is ever overwritten: the folder must not exist yet, or be empty.
    """
    target = expanded(folder)
    name = target.resolve().name
    if fault := token_fault("team", name):
        raise InvalidError([f"the name of the folder becomes the name of the team, and {fault}"])
    if name in teams.names():
        raise InvalidError([f"there is a team {name!r} already, which comes along: choose another name"])
    if target.is_symlink() or (target.exists() and not (target.is_dir() and not any(target.iterdir()))):
        raise InvalidError([f"{target} is there already: choose another name, nothing is overwritten"])
    place = _place(target)
    for file in sorted(path for path in STARTER.rglob("*") if path.suffix in KINDS):
        copy = target / file.relative_to(STARTER)
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".toml":
            text = text.replace(NAME, f'name = "{name}"').replace(PLACE, f"--team {place}")
        with copy.open("x", encoding="utf-8") as stream:
            stream.write(text)
        write(str(copy))
    tell(f"\nask it:     handoff ask --team {place} {shlex.quote(QUESTION)}")
    tell(f"run it:     handoff up --team {place}")
    tell(f"change it:  {target / 'team.toml'}")
    return 0


def _place(target: Path) -> str:
    """The folder as --team takes it: as a path, not as a name."""
    text = str(target)
    return shlex.quote(text if "/" in text or text == "." else f"./{text}")
