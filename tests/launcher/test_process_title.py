"""The title of an actor's process, which is a help for people and never needed."""

import sys
from types import SimpleNamespace

import pytest

from actors.launcher import child

set_title = child._set_title  # pyright: ignore[reportPrivateUsage]


def library(titles: list[str]) -> SimpleNamespace:
    return SimpleNamespace(setproctitle=titles.append)


def test_it_is_set_where_the_library_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    titles: list[str] = []
    monkeypatch.setitem(sys.modules, "setproctitle", library(titles))
    monkeypatch.setattr(sys, "platform", "linux")
    set_title("handoff worker")
    assert titles == ["handoff worker"]


def test_it_is_not_set_on_macos_where_a_forked_process_may_die_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    titles: list[str] = []
    monkeypatch.setitem(sys.modules, "setproctitle", library(titles))
    monkeypatch.setattr(sys, "platform", "darwin")
    set_title("handoff worker")
    assert not titles


def test_an_actor_starts_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "setproctitle", None)
    set_title("handoff worker")
