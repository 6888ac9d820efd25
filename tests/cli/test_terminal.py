import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from actors.cli.terminal import clean, listing, one_line, table, write_words


@given(st.text())
def test_nothing_that_a_terminal_obeys_gets_through(text: str) -> None:
    assert all(char >= " " or char in "\n\t" for char in clean(text))
    assert not {"\x1b", "\x7f", "\x9b", "\r", "\u202e"} & set(clean(text))


def test_words_stay_as_they_are() -> None:
    assert clean("naïve\n\t→ 日本 \x1b[31mred\x1b[0m") == "naïve\n\t→ 日本 [31mred[0m"


@given(st.text(), st.integers(2, 40))
def test_a_line_is_never_longer_than_it_may_be(text: str, most: int) -> None:
    assert len(one_line(text, most)) <= most
    assert "\n" not in one_line(text, most)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_words_are_not_broken_on_a_terminal_and_lines_are_not_broken_for_a_pipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    line = "- Customers opened nine charging tickets between 12 and 20 August. [incident.md]"
    for into, lines in ((Terminal(), 3), (io.StringIO(), 1)):
        monkeypatch.setattr("sys.stdout", into)
        write_words(f"{line}\nshort")
        *broken, short, end = into.getvalue().split("\n")
        assert (len(broken), short, end) == (lines, "short", "")
        assert " ".join(part.strip() for part in broken) == line


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_table_for_a_terminal_fits_and_its_last_column_is_seen(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    into = Terminal()
    table(
        ["team", "tools", "summary"], [["x" * 50, "y" * 50, "[red]the end " * 40], ["日本" * 30, "\x1b[2J", "z"]], into
    )
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in into.getvalue().splitlines()]
    assert len(lines) == 3
    assert all(cell_len(line) <= width for line in lines)
    assert "[red]the" in lines[1]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_whole_table_for_a_terminal_fits_and_nothing_is_cut(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    into = Terminal()
    words = [f"word{number}" for number in range(100)]
    table(["task", "intent"], [["x" * 50, " ".join(words)]], into, whole=True)
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in into.getvalue().splitlines()]
    assert all(cell_len(line) <= width for line in lines)
    assert [word for line in lines for word in line.split() if word.startswith("word")] == words
    assert sum(line.count("x") for line in lines) == 50


def test_a_table_for_a_pipe_is_whole_and_aligned() -> None:
    into = io.StringIO()
    table(["a", "bb"], [["x" * 200, "1"], ["y", "two\nlines"]], into)
    lines = into.getvalue().splitlines()
    assert lines[1] == "x" * 200 + "  1"
    assert lines[2].endswith("  two lines")
    assert len({line.rindex("  ") for line in lines}) == 1


@pytest.mark.parametrize("width", [60, 80])
def test_a_listing_on_a_narrow_terminal_cuts_no_name_and_sets_in_what_is_long(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    into = Terminal()
    monkeypatch.setattr("sys.stdout", into)
    words = " ".join(f"word{number}" for number in range(30))
    listing(["team", "worker", "tools", "summary"], [["x" * 25, "y" * 25, "", words], ["a", "b", "c", "d"]], below=2)
    lines = into.getvalue().splitlines()
    assert lines[:2] == ["team" + " " * 23 + "worker", "x" * 25 + "  " + "y" * 25]
    assert all(len(line) <= width for line in lines)
    assert [line.split() for line in lines[-3:]] == [["a", "b"], ["c"], ["d"]]
    assert " ".join(line.strip() for line in lines[2:-3]) == words


def test_a_listing_that_fits_is_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    into = Terminal()
    monkeypatch.setattr("sys.stdout", into)
    listing(["team", "summary"], [["a", "Sums."]], below=1)
    assert into.getvalue() == "team  summary\na     Sums.\n"
