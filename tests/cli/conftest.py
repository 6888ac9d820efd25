import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from actors.cli.door import run
from tests.cli.running import FOREIGN, Ended, Here


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that does not exist yet."""
    return tmp_path / "home"


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of this machine, and no handoff.toml."""
    for name in list(os.environ):
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def here(
    clean_environment: None, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Here]:
    """Run a command inside the test's own process, on the test's own home."""
    monkeypatch.setenv("HANDOFF_HOME", str(home))

    def call(*arguments: str, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = run(arguments)
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    yield call
    # A command sets up logs for its whole process, which here goes on to other tests.
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
