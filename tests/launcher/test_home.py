"""The home of the embedded bus holds its password: no other user may have a hand in it."""

import os
from pathlib import Path

import pytest

from actors.launcher.home import Home
from protocol.errors import InvalidError


def refused(folder: Path) -> str:
    with pytest.raises(InvalidError) as refusal:
        Home(folder).prepare()
    (fault,) = refusal.value.faults
    return fault


@pytest.mark.parametrize("mode", [0o701, 0o710, 0o720, 0o755, 0o777, 0o1777])
def test_a_home_that_is_open_to_others_is_refused(tmp_path: Path, mode: int) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(mode)
    assert f"chmod 700 {home}" in refused(home)
    assert list(home.iterdir()) == []
    home.chmod(0o700)
    Home(home).prepare()


def test_a_store_that_is_open_to_others_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    Home(home).prepare()
    (home / "jetstream").chmod(0o770)
    assert str(home / "jetstream") in refused(home)


def test_a_home_that_belongs_to_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    Home(home).prepare()
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    assert "HANDOFF_HOME" in refused(home)
