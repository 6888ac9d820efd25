import os
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path

import click
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


@pytest.mark.parametrize(
    ("error", "code", "kind", "messages"),
    [
        (InvalidError(["one", "two"]), 2, "invalid", ["one", "two"]),
        (UnreachableError("no bus"), 3, "unreachable", ["no bus"]),
        (DeniedError("not you"), 3, "denied", ["not you"]),
        (BusError("full"), 1, "failed", ["full"]),
        (KeyboardInterrupt(), 130, "interrupted", []),
        (click.UsageError("say more"), 2, "usage", ["say more"]),
        (ExceptionGroup("all", [UnreachableError("gone"), InvalidError(["one"])]), 2, "invalid", ["gone", "one"]),
    ],
)
def test_with_json_an_error_is_data_on_standard_output_too(
    here: Here, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, kind: str, messages: list[str]
) -> None:
    failing(monkeypatch, error)
    ended = here("x", "--json")
    assert ended.code == code
    assert ended.data == {"error": {"kind": kind, "exit_code": code, "messages": messages}}
    assert all(message in ended.err for message in messages)


def test_with_json_an_unexpected_error_is_data_too(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, ZeroDivisionError("by zero"))
    ended = here("x", "--json")
    assert (ended.code, ended.data["error"]["kind"]) == (1, "unexpected")
    assert "by zero" in ended.data["error"]["messages"][0]


def test_json_after_two_dashes_is_no_option(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(monkeypatch, BusError("full"))
    assert here("ask", "--", "--json") == (1, "", "handoff: full\n")


def test_what_a_command_wrote_is_its_only_data(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = here("doctor", "--json", "--nats", "nats://127.0.0.1:1", "--timeout", "0.1")
    assert ended.code == 3
    assert isinstance(ended.data, list)


def test_with_json_every_command_that_takes_it_gives_its_errors_as_data(here: Here) -> None:
    nowhere = ("--nats", "nats://127.0.0.1:1", "--timeout", "0.1", "--json")
    for command in (
        ("ask", "hi"),
        ("plan", "hi"),
        ("runs",),
        ("show", "last"),
        ("trace", "last"),
        ("workers",),
        ("teams",),
        ("dead",),
        ("dead", "show", "1"),
        ("dead", "redrive", "1"),
        ("inbox",),
        ("inbox", "--as", "ada", "--answer", "abcd/t", "yes"),
        ("cancel", "last"),
        ("approve", "last"),
        ("approve", "last", "--task", "t"),
    ):
        assert here(*command, *nowhere).data["error"]["kind"] == "unreachable", command
        assert here(*command, "--no-such-option", *nowhere).data["error"]["kind"] == "usage", command
