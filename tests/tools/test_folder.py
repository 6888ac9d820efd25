import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from actors.tools.folder import MOST_BYTES, File, Kept, files
from protocol.errors import ToolError


def listed(folder: Path) -> list[str]:
    return [file.name for file in files(folder, (".md",))]


def test_files_are_found_below_the_folder_in_order_of_name(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("b.md", "a.MD", "sub/c.md", "d.csv"):
        (tmp_path / name).write_text("x")
    assert listed(tmp_path) == ["a.MD", "b.md", "sub/c.md"]


def test_hidden_files_and_folders_are_left_out(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "a.md").write_text("x")
    (tmp_path / ".b.md").write_text("x")
    assert listed(tmp_path) == []


def test_a_link_out_of_the_folder_is_left_out_and_one_within_is_kept(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.md").write_text("secret")
    (inside / "real.md").write_text("open")
    (inside / "out.md").symlink_to(tmp_path / "secret.md")
    (inside / "way").symlink_to(tmp_path, target_is_directory=True)
    (inside / "alias.md").symlink_to(inside / "real.md")
    (inside / "circle.md").symlink_to(inside / "circle.md")
    (inside / "broken.md").symlink_to(inside / "gone.md")
    assert listed(inside) == ["alias.md", "real.md"]


def test_what_is_no_file_has_an_unprintable_name_or_is_very_big_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "two\nlines.md").write_text("x")
    with (tmp_path / "big.md").open("wb") as big:
        big.truncate(MOST_BYTES + 1)
    assert listed(tmp_path) == []


def test_text_that_is_not_utf_8_is_still_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbfcaf\xe9")
    assert files(tmp_path, (".md",))[0].text() == "caf\N{REPLACEMENT CHARACTER}"


def test_what_is_kept_is_made_once_and_made_anew_when_a_file_changes(tmp_path: Path) -> None:
    made: list[list[str]] = []

    def make(found: Sequence[File]) -> int:
        made.append([file.name for file in found])
        return len(made)

    kept = Kept(tmp_path, (".md",), make)
    assert made == []

    def use() -> int:
        with kept.use() as value:
            return value

    assert [use(), use()] == [1, 1]
    (tmp_path / "a.md").write_text("x")
    assert [use(), use()] == [2, 2]
    (tmp_path / "a.md").write_text("xy")
    assert use() == 3
    os.utime(tmp_path / "a.md", ns=(1, 1))
    assert use() == 4
    (tmp_path / "a.md").unlink()
    assert use() == 5


def test_files_that_do_not_fit_into_memory_are_told_as_such_and_tried_again(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("four")

    def make(found: Sequence[File]) -> str:
        if found[0].size == 4:
            raise MemoryError
        return "made"

    kept = Kept(tmp_path, (".md",), make)
    with pytest.raises(ToolError, match="the 1 files of the folder, 4 bytes, are too much"), kept.use():
        pass
    (tmp_path / "a.md").write_text("x")
    with kept.use() as value:
        assert value == "made"
