"""What docs/TOOLS.md shows is run, and the tools it names are there."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from actors import tools
from actors.bus.memory import MemoryBus, MemoryServer, VirtualClock
from actors.settings import Settings
from actors.tools.given import CallKey
from actors.tools.tool import Options, Tool
from actors.worker.definition import Outcome, sound
from actors.worker.results import Results
from protocol.ids import RunId
from protocol.messages import Handoff, Usage
from protocol.subjects import TaskAddress

PAGE = (Path(__file__).parents[2] / "docs" / "TOOLS.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
ROWS = [line.strip("| ").split(" | ") for line in PAGE.partition("## The ones that")[2].splitlines() if "| `" in line]


def ran(block: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(block, "docs/TOOLS.md", "exec"), names)
    return names


@pytest.mark.parametrize("block", BLOCKS)
def test_the_examples_run(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert ran(block)


async def test_the_example_with_a_key_orders_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (order,) = [ran(block)["order"] for block in BLOCKS if "def order" in block]
    arguments, key = {"product": "Picker 2", "pieces": 3}, CallKey("run.t2.1.3.1")
    assert await order.call(arguments, key=key) == "ordered 3 x Picker 2 [order run.t2.1.3.1]"
    assert "had been ordered before" in await order.call(arguments, key=key)


@pytest.mark.parametrize(
    ("intent", "status", "output", "findings"),
    [
        ("Count each bolt", "completed", "4200", 0),
        ("Count each nut", "completed", "0", 1),
        ("Count each screw", "declined", "I count bolt and nut only.", 0),
    ],
)
async def test_the_function_shown_completes_finds_and_declines(
    intent: str, status: str, output: str, findings: int
) -> None:
    (counter,) = [ran(block)["counter"] for block in BLOCKS if "counter = Worker" in block]
    handoff = Handoff(run="a" * 32, task="t", attempt=1, from_agent="supervisor", to_agent="counter", intent=intent)
    settings = Settings()
    bus = MemoryBus(MemoryServer(settings, VirtualClock()), "counter")
    address = TaskAddress(RunId(handoff.run), "default", "counter", "t", 1)
    result = Results(bus, settings, "counter", "counter-1").of(sound(counter.run(handoff)), address, Usage())
    assert (result.status, result.output, len(result.findings)) == (status, output, findings)


def test_every_field_of_an_outcome_is_on_the_page() -> None:
    table = PAGE.partition("and `Outcome`")[2].partition("## The ones that")[0]
    assert tuple(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == Outcome.__struct_fields__


def built(place: str, folder: Path) -> list[Tool]:
    module, _, name = place.partition(":")
    found = import_module(f"actors.tools.{module}")
    if not name:
        return [value for value in vars(found).values() if isinstance(value, Tool)]
    value = getattr(found, name)
    return [value] if isinstance(value, Tool) else value(folder)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_the_table_names_each_tool_and_where_it_is(row: list[str], tmp_path: Path) -> None:
    named, place, _ = row
    assert re.findall(r"`(\w+)`", named) == [tool.name for tool in built(place.strip("`"), tmp_path)]


def test_every_module_with_tools_is_in_the_table(tmp_path: Path) -> None:
    (room,) = tools.__path__
    makers = {path.stem for path in Path(room).glob("*.py") if re.search(r"^ *@tool\b", path.read_text(), re.MULTILINE)}
    assert makers - {"given"} == {place.strip("`").partition(":")[0] for _, place, _ in ROWS}


def test_every_option_is_on_the_page() -> None:
    table = PAGE.partition("takes options:")[2].partition("Output over")[0]
    assert re.findall(r"^\| `(\w+)`", table, re.MULTILINE) == list(Options.__annotations__)
