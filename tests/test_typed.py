"""What type checkers say of a program that uses this library."""

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest
from waiting import LIMIT_S

PROGRAM = (Path(__file__).parent / "user_program.py").read_text()
TYPO = PROGRAM.replace("Worker, tool", "Wroker, tool", 1)
Checker = Callable[..., subprocess.CompletedProcess[str]]
CONFIG = {"typeCheckingMode": "strict", "pythonVersion": "3.11"}


def mypy(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    return checked([sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), *names], folder)


def pyright(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    (folder / "pyrightconfig.json").write_text(json.dumps(CONFIG))
    return checked([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, *names], folder)


def checked(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False)


@pytest.mark.process
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_users_program_passes_a_strict_check_and_a_misspelled_name_does_not(checker: Checker, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    passed = checker(tmp_path, "program.py")
    assert passed.returncode == 0, passed.stdout + passed.stderr
    (tmp_path / "typo.py").write_text(TYPO)
    failed = checker(tmp_path, "typo.py")
    assert failed.returncode == 1
    assert "Wroker" in failed.stdout


@pytest.mark.parametrize("package", ["actors", "protocol", "observability"])
def test_each_package_says_that_it_is_typed(package: str) -> None:
    assert files(package).joinpath("py.typed").is_file()
