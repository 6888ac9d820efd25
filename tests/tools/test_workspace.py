import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools import rooted
from actors.tools.given import CallKey
from actors.tools.rooted import Rooted, parts_of
from actors.tools.workspace import build, readers
from protocol.errors import ToolError

SECRET = "the secret"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text(SECRET)
    root = tmp_path / "root"
    (root / "notes").mkdir(parents=True)
    (root / "notes" / "plan.md").write_text("# Plan\n")
    (root / ".env").write_text(SECRET)
    return root


def left(root: Path) -> list[str]:
    return sorted(path.name for path in root.rglob("*"))


async def read(root: Path, path: str) -> str:
    return await build(root)[1].call({"path": path})


async def write(root: Path, path: str, text: str, key: str = "k1") -> str:
    return await build(root)[2].call({"path": path, "text": text}, key=CallKey(key))


async def test_files_are_listed_read_and_written(root: Path) -> None:
    assert await write(root, "out/new.md", "a\nb\n") == "wrote out/new.md: 2 lines, 4 characters"
    assert await build(root)[0].call({}) == "notes/plan.md (7 bytes)\nout/new.md (4 bytes)"
    assert await read(root, "out/new.md") == "[out/new.md]\na\nb\n"
    assert await write(root, "notes/plan.md", "new", "k2") == "replaced notes/plan.md: 1 lines, 3 characters"
    assert (root / "notes" / "plan.md").read_text() == "new"


def test_what_is_gone_since_it_was_listed_does_not_cost_the_rest_of_the_list(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, listdir = Rooted(root).names(10), os.listdir
    assert before

    def late(folder: int) -> list[str]:
        return [".draft-0", "gone.md", *listdir(folder)]

    monkeypatch.setattr(rooted.os, "listdir", late)
    assert Rooted(root).names(10) == before


async def test_an_empty_folder_says_so_and_a_long_list_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await build(tmp_path)[0].call({}) == "There are no files yet."
    monkeypatch.setattr("actors.tools.workspace.MOST_FILES", 2)
    for name in "abc":
        (tmp_path / name).touch()
    assert (await build(tmp_path)[0].call({})).splitlines()[1:] == [
        "b (0 bytes)",
        "(and more: only the first 2 are listed)",
    ]


ESCAPES = [
    "../secret.txt",
    "notes/../../secret.txt",
    "notes/..",
    "/etc/passwd",
    "//etc/passwd",
    "~/x",
    "..",
    "notes\\..\\..\\secret.txt",
    "C:/windows",
    "notes/plan.md\x00.txt",
    "a\nb",
    "",
    ".",
    "./notes/plan.md",
    "notes//plan.md",
    "notes/",
    ".env",
    ".done/k1",
    "a/" * 40 + "b",
    "x" * 300,
    "\ud800",
]


@pytest.mark.parametrize("path", ESCAPES)
async def test_a_path_that_leads_elsewhere_is_refused_for_reading_and_writing(root: Path, path: str) -> None:
    before = sorted(root.parent.rglob("*"))
    with pytest.raises(ToolError):
        await read(root, path)
    with pytest.raises(ToolError):
        await write(root, path, "evil")
    assert sorted(root.parent.rglob("*")) == before
    assert (root.parent / "secret.txt").read_text() == SECRET


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../secret.txt", r"paths with \.\. are refused"),
        ("/etc/passwd", "not a path below the folder"),
        ("a\x00b", "characters that have no place"),
        ("gone.md", "there is no such file"),
        ("notes", "is not a file"),
        ("link.md", "links are not followed"),
        ("linked/secret.txt", "links are not followed"),
        ("pipe", "is not a file"),
        ("binary", "is not a text file"),
        ("big", r"has 1,000,001 bytes; the limit is 1,000,000"),
    ],
)
async def test_a_refusal_says_why(root: Path, path: str, reason: str) -> None:
    (root / "link.md").symlink_to(root.parent / "secret.txt")
    (root / "linked").symlink_to(root.parent / "outside")
    os.mkfifo(root / "pipe")
    (root / "binary").write_bytes(b"\x7fELF\0")
    (root / "big").write_bytes(b"x" * 1_000_001)
    with pytest.raises(ToolError, match=reason):
        await read(root, path)


async def test_links_are_neither_listed_nor_written_through(root: Path) -> None:
    (root / "link.md").symlink_to(root.parent / "secret.txt")
    (root / "linked").symlink_to(root.parent / "outside")
    assert await build(root)[0].call({}) == "notes/plan.md (7 bytes)"
    with pytest.raises(ToolError, match="links are not followed"):
        await write(root, "linked/secret.txt", "evil")
    await write(root, "link.md", "mine")
    assert not (root / "link.md").is_symlink(), "the link was replaced, not followed"
    assert (root.parent / "secret.txt").read_text() == SECRET
    assert (root.parent / "outside" / "secret.txt").read_text() == SECRET


def test_a_folder_that_becomes_a_link_in_the_middle_of_reading_leads_nowhere(root: Path) -> None:
    (root / "swap").mkdir()
    (root / "swap" / "secret.txt").write_text("harmless")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (root / "swap").rename(root / "away")
            (root / "swap").symlink_to(root.parent / "outside")
            (root / "swap").unlink()
            (root / "away").rename(root / "swap")

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen: set[str] = set()
    try:
        for _ in range(2_000):
            try:
                seen.add(Rooted(root).read("swap/secret.txt"))
            except ToolError:
                seen.add("refused")
    finally:
        stop.set()
        swapping.join()
    assert seen <= {"harmless", "refused"}
    assert Rooted(root).read("swap/secret.txt") == "harmless", "it can be read once nobody swaps it any more"


async def test_a_call_that_is_made_again_does_not_write_over_what_came_later(root: Path) -> None:
    await write(root, "a.md", "first", "k1")
    await write(root, "a.md", "second", "k2")
    assert "was not written again" in await write(root, "a.md", "first", "k1")
    assert (root / "a.md").read_text() == "second"


async def test_what_cannot_be_written_is_told_and_leaves_nothing_behind(root: Path) -> None:
    with pytest.raises(ToolError, match="it is a folder"):
        await write(root, "notes", "x")
    with pytest.raises(ToolError, match="not a folder"):
        await write(root, "notes/plan.md/below", "x")
    with pytest.raises(ToolError, match="the limit is 1,000,000"):
        await write(root, "a.md", "é" * 500_001)
    assert left(root) == [".env", "notes", "plan.md"]


def test_a_worker_that_only_reads_gets_no_writer(root: Path) -> None:
    assert [tool.name for tool in readers(root)] == ["list_files", "read_file"]
    assert [tool.effect for tool in build(root)] == [False, False, True]


@given(st.text(alphabet="ab./\\~:\x00\n", max_size=12) | st.text(max_size=12))
def test_no_path_has_parts_that_lead_up_or_out(path: str) -> None:
    try:
        parts = parts_of(path)
    except ToolError:
        return
    assert parts
    assert all(part not in ("", ".", "..") and "/" not in part and "\0" not in part for part in parts)
    assert not Path(path).is_absolute()
    assert len(parts) <= rooted.MOST_PARTS
