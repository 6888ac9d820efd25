from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from actors.settings import Settings
from tests.launcher.launching import Events, Launcher


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=str(tmp_path / "home"))


@pytest.fixture
def events() -> Events:
    return Events()


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


@pytest.fixture
def launch(tmp_path: Path, marks: Path) -> Generator[Callable[..., Launcher]]:
    launchers: list[Launcher] = []

    def begin(*names: str) -> Launcher:
        launchers.append(Launcher(tmp_path / "home", marks, *names))
        return launchers[-1]

    yield begin
    for launcher in launchers:
        launcher.close()
