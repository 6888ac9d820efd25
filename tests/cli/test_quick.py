import subprocess
import sys
from pathlib import Path

from waiting import LIMIT_S

from tests.cli.running import environment

HEAVY = {"anthropic", "nats", "msgspec", "structlog", "rich", "asyncio", "starlette", "uvicorn", "opentelemetry"}


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "actors", "--help"],
        capture_output=True,
        text=True,
        env=environment(tmp_path),
        timeout=LIMIT_S,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines()}
    assert "click" in loaded
    assert not loaded & HEAVY
    assert "ask " in done.stdout
