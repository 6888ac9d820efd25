import json
import os
import subprocess
import sys

import pytest

from tests.launcher.launching import ROOT

LOOK = """
import json, os, sys, threading
import {module}
threads = len(os.listdir("/proc/self/task")) if sys.platform == "linux" else threading.active_count()
files = [fd for fd in range(3, 64) if os.path.exists(f"/dev/fd/{{fd}}")]
print(json.dumps([threads, len(files), list(sys.modules)]))
"""


def after_importing(module: str) -> tuple[int, int, set[str]]:
    """How many threads and open files a process has, and which modules."""
    program = [sys.executable, "-c", LOOK.format(module=module)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    threads, files, modules = json.loads(
        subprocess.run(program, env=environment, check=True, capture_output=True).stdout
    )
    return threads, files, set(modules)


def test_preloading_leaves_all_that_is_heavy_and_nothing_that_a_fork_would_break() -> None:
    _, files_before, _ = after_importing("sys")
    threads, files, modules = after_importing("actors.launcher.preload")
    assert threads == 1
    assert files == files_before  # an event loop would have files of its own
    assert {"anthropic", "nats", "msgspec", "structlog", "actors.launcher.child", "actors.bus.port"} <= modules


@pytest.mark.parametrize("module", ["actors.launcher.embedded", "actors.launcher.processes"])
def test_the_launcher_itself_loads_neither_the_model_nor_a_client(module: str) -> None:
    _, _, modules = after_importing(module)
    assert not {"anthropic", "nats", "httpx2"} & modules
