import os
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path

import pytest

from actors.cli import main
from actors.cli.app import COMMANDS, handoff
from protocol.errors import BusError, DeniedError, InvalidError, UnreachableError
from tests.cli.running import Here


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def main(*_: object, obj: dict[str, object], **__: object) -> int:
        obj["home"] = Path(os.environ["HANDOFF_HOME"])
        raise error

    monkeypatch.setattr(handoff, "main", main)


class Impatient(MetaPathFinder):
    """A person who presses Ctrl-C while the door is loaded."""

    def find_spec(self, fullname: str, *_: object) -> None:
        if fullname == "actors.cli.door":
            raise KeyboardInterrupt


def test_an_interrupt_while_loading_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "actors.cli.door")
    monkeypatch.setattr(sys, "meta_path", [Impatient(), *sys.meta_path])
    assert main() == 130


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InvalidError(["one", "two"]), 2, "handoff: one\nhandoff: two\n"),
        (UnreachableError("no bus"), 3, "handoff: no bus\n"),
        (DeniedError("not you"), 3, "handoff: not you\n"),
        (BusError("full"), 1, "handoff: full\n"),
        (
            FileNotFoundError(2, "No such file or directory", "x.json"),
            1,
            "handoff: x.json: No such file or directory\n",
        ),
        (
            ExceptionGroup("all", [UnreachableError("gone"), ExceptionGroup("", [UnreachableError("gone")])]),
            3,
            "handoff: gone\n",
        ),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_every_error_has_words_and_a_code(
    here: Here, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, said: str
) -> None:
    failing(monkeypatch, error)
    assert here("x") == (code, "", said)


def test_an_unexpected_error_is_one_line_and_its_details_are_kept(
    here: Here, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    failing(monkeypatch, ZeroDivisionError("by\nzero"))
    ended = here("x")
    assert ended.code == 1
    assert ended.err.startswith("handoff: unexpected error, ZeroDivisionError: by zero\n")
    assert str(home / "logs" / "cli.log") in ended.err
    assert "Traceback" not in ended.err
    assert "Traceback" in (home / "logs" / "cli.log").read_text()


def test_the_details_are_kept_even_where_the_home_cannot_be_written(
    here: Here, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    home.write_text("a file")
    failing(monkeypatch, ZeroDivisionError())
    ended = here("x")
    kept = Path(ended.err.strip().rpartition(" ")[2])
    assert "ZeroDivisionError" in kept.read_text()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_and_explains_itself(here: Here, name: str) -> None:
    ended = here(name, "--help")
    assert ended.code == 0
    assert ended.out.startswith(f"Usage: handoff {name}")
    assert len(ended.out.splitlines()) > 5


def test_a_slip_of_the_pen_is_answered_with_what_may_be_meant(here: Here) -> None:
    ended = here("runz")
    assert ended.code == 2
    assert "Did you mean run" in ended.err


def test_the_version_is_told(here: Here) -> None:
    assert here("--version").out.startswith("handoff 0.")
