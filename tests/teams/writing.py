"""Team files for tests: a good one, and ways to spoil it."""

from pathlib import Path

import pytest

from actors import teams
from protocol.errors import InvalidError

TOP = 'name = "night"\nsummary = "Works at night."\n'
ANN = '[[workers]]\nname = "ann"\nsummary = "Digs."\n'
BOB = '[[workers]]\nname = "bob"\nsummary = "Fills."\n'
TOOLS = '''
from pathlib import Path
from actors import tool

@tool
def dig(where: str) -> str:
    """Dig.

    Args:
        where: the place
    """
    return f"dug {where}"

def over(folder: Path):
    @tool
    def names() -> str:
        """Name the files."""
        return ", ".join(sorted(path.name for path in folder.iterdir()))
    return [names]

def echo(handoff):
    return handoff.intent

async def later(folder):
    return []

def two(one, other):
    return []

def broken(folder):
    raise RuntimeError("no such luck")

def text(folder):
    return "text"

number = 5
'''


def write_team(folder: Path, *parts: str, tools: str = TOOLS) -> Path:
    """A team file of these parts, with tools and data beside it."""
    (folder / "data" / "deep").mkdir(parents=True, exist_ok=True)
    (folder / "data" / "note.md").write_text("A note.")
    (folder / "data" / "deep" / "well.md").write_text("A well.")
    (folder / "tools.py").write_text(tools)
    file = folder / "team.toml"
    file.write_text("\n".join(parts))
    return file


def faults_of(file: Path, data: Path | None = None) -> list[str]:
    """What is wrong with the file, without its name in front."""
    with pytest.raises(InvalidError) as caught:
        teams.find(str(file), data)
    assert all(fault.startswith(f"{file}: ") for fault in caught.value.faults), caught.value.faults
    return [fault.removeprefix(f"{file}: ") for fault in caught.value.faults]
