"""A scenario: what happens, what should come of it, and how it is played and compared."""

import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from examples.scenarios.stage import Facts, Stage

Play = Callable[[Stage], Awaitable[Facts]]


@dataclass(frozen=True)
class Scenario:
    """One command; `play` sets the stage, lets it happen, and tells what was seen."""

    name: str
    _: KW_ONLY
    story: str
    expected: Facts
    play: Play


async def show(scenario: Scenario) -> bool:
    """Play a scenario and print what was expected and what was seen; whether they are the same."""
    say(f"{scenario.name}\n  {scenario.story}")
    with tempfile.TemporaryDirectory(prefix="handoff-scenario-") as folder:
        try:
            async with Stage(Path(folder)) as stage:
                seen = await scenario.play(stage)
        except TimeoutError:
            say("  ✗ it did not come to its end in time\n")
            return False
    lines, same = compared(scenario.expected, seen)
    for line in lines:
        say(f"  {line}")
    say("  as expected\n" if same else "  NOT as expected\n")
    return same


def compared(expected: Facts, seen: Facts) -> tuple[list[str], bool]:
    """A line for each fact, and whether all that was expected was seen."""
    lines: list[str] = []
    for name, value in expected.items():
        if name in seen and seen[name] == value:
            lines.append(f"✓ {name}: {_shown(value)}")
        else:
            lines.append(f"✗ {name}: expected {_shown(value)}, seen {_shown(seen.get(name, 'nothing'))}")
    return lines, all(line.startswith("✓") for line in lines)


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _shown(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) else repr(value)
