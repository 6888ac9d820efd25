"""Hostile calls of the shipped tools, through a whole agent: each is contained, each is told, and the work goes on."""

import asyncio
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from at_work import Desk, agent, use
from waiting import LIMIT_S

from actors.settings import Settings
from actors.tools import library, pages, tables, workspace
from actors.tools.arithmetic import calculate
from actors.tools.tool import Tool, tool

RELEASE = threading.Event()


@tool(timeout_s=0.1)
def hang() -> str:
    """Hang in a thread."""
    RELEASE.wait(30)
    return ""


@tool(timeout_s=0.1)
async def hang_async() -> str:
    """Hang in the loop, politely."""
    await asyncio.Event().wait()
    return ""


@tool
def fail() -> str:
    """Raise."""
    raise ValueError("no luck")


@tool
async def leave() -> str:
    """Ask the process to end."""
    raise SystemExit(0)


@pytest.fixture(autouse=True)
def let_go() -> Generator[None]:
    """A thread that hangs goes home with the test."""
    RELEASE.clear()
    yield
    RELEASE.set()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("the secret")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "sales.csv").write_text("n\n1\n")
    (folder / "notes.md").write_text("Nothing to see.")
    (folder / "link.md").symlink_to(tmp_path / "secret.txt")
    return folder


def tools(folder: Path) -> list[Tool]:
    shipped = [calculate, *tables.build(folder), *library.build(folder), *workspace.build(folder), *pages.build()]
    return [*shipped, hang, hang_async, fail, leave]


CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("read_file", {"path": "../secret.txt"}, "leads out of the folder"),
    ("read_file", {"path": "/etc/passwd"}, "not a path below the folder"),
    ("read_file", {"path": "link.md"}, "links are not followed"),
    ("read_file", {"path": "notes.md\x00.txt"}, "no place in a file name"),
    ("write_file", {"path": "../evil.txt", "text": "x"}, "leads out of the folder"),
    ("write_file", {"path": "/tmp/evil.txt", "text": "x"}, "not a path below the folder"),
    ("read_document", {"name": "../secret.txt"}, "there is no document"),
    ("read_document", {"name": "link"}, "there is no document"),
    ("fetch_page", {"url": "http://127.0.0.1:4222/"}, "not on the public internet"),
    ("fetch_page", {"url": "http://2130706433/"}, "not on the public internet"),
    ("fetch_page", {"url": "http://[::ffff:10.0.0.1]/"}, "not on the public internet"),
    ("fetch_page", {"url": "http://169.254.169.254/latest/meta-data/"}, "not on the public internet"),
    ("fetch_page", {"url": "file:///etc/passwd"}, "not an http or https address"),
    ("query_tables", {"sql": "DELETE FROM sales"}, "only reading with SELECT is allowed"),
    ("query_tables", {"sql": "ATTACH '/tmp/evil.db' AS evil"}, "only reading with SELECT is allowed"),
    ("query_tables", {"sql": "PRAGMA writable_schema = on"}, "only reading with SELECT is allowed"),
    ("calculate", {"expression": "9**9**9"}, "out of range"),
    ("calculate", {"expression": "__import__('os').system('true')"}, "text has no place"),
    ("hang", {}, "took longer than 0.1 s"),
    ("hang_async", {}, "took longer than 0.1 s"),
    ("fail", {}, "ValueError: no luck"),
    ("leave", {}, "SystemExit"),
]


@pytest.mark.parametrize(("name", "arguments", "told"), CALLS, ids=[f"{name}-{told}" for name, _, told in CALLS])
async def test_a_hostile_call_is_contained_and_told_and_the_next_one_works(
    folder: Path, name: str, arguments: dict[str, Any], told: str
) -> None:
    began = time.monotonic()
    done = await Desk(agent(*tools(folder))).do([use(name, **arguments)], [use("calculate", expression="6 * 7")])
    hostile, harmless = done.tools
    assert hostile.failed
    assert told in hostile.output
    assert "Traceback" not in hostile.output
    assert (harmless.output, harmless.failed) == ("6 * 7 = 42", False)
    assert done.result.status == "completed"
    assert time.monotonic() - began < LIMIT_S
    assert kept(folder) == ["link.md", "notes.md", "sales.csv", "secret.txt"]


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.parent.rglob("*") if path.is_file() or path.is_symlink())


async def test_a_hundred_megabytes_of_output_are_an_artifact_and_the_model_sees_the_head() -> None:
    @tool
    def flood() -> str:
        """Say far too much."""
        return "flood " * 17_500_000

    desk = Desk(agent(flood))
    (called,) = (await desk.do([use("flood")])).tools
    assert called.artifact is not None
    assert called.artifact.size == 105_000_000
    assert len(called.output) <= Settings().tool_output
    assert called.artifact.digest in called.output
