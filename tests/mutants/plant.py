"""Plants deliberate bugs one after the other in a copy of the tree; tests must find each: `make mutants`.

`make mutants ARGS="outbox"` tries the mutants whose name contains that word. Ends with 1 if a mutant survives, and
with 2 if one cannot be planted or the tests fail without any bug. The working tree is never changed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from mutants.catalogue import MUTANTS  # noqa: E402
from mutants.mutant import Mutant, MutantError, mutated  # noqa: E402

LIMIT_S = 60.0
"""The tests must find a bug within this time; --seconds raises it for a machine that is busy with something else."""

UNCHANGED_LIMIT_S = 600.0
NEEDED = ("actors", "benchmarks", "docs", "examples", "observability", "protocol", "tests", "pyproject.toml")
PASSED, FAILED = 0, 1
"""Exit codes of pytest. Any other one says that the tests could not be run."""


class NotRunError(Exception):
    """pytest neither passed nor failed; `output` is what it printed."""


def copy_tree(to: Path) -> None:
    """Copy what the tests need, with its times, so that what is compiled stays valid."""
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, copy_function=shutil.copy2)
        elif source.exists():
            shutil.copy2(source, to / name)


def run_tests(tests: Sequence[str], root: Path, limit_s: float) -> str:
    """Run tests in a copy of the tree up to the first that fails; returns its name, or "" if all pass in time."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
    path = os.pathsep.join((str(root), str(root / "tests")))
    env = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    try:
        done = subprocess.run(  # noqa: PLW1510  the exit code is the answer
            command, cwd=root, env=env, timeout=limit_s, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    except subprocess.TimeoutExpired:
        return ""
    if done.returncode not in (PASSED, FAILED):
        raise NotRunError(done.stdout)
    if done.returncode == PASSED:
        return ""
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return found[1] if found else "a test"


def try_mutant(mutant: Mutant, root: Path, limit_s: float) -> str:
    """Plant one bug, run its tests, and take the bug out again; returns the test that found it, or ""."""
    planted, kept = root / mutant.file, root / "kept"
    shutil.copy2(planted, kept)  # with its times, so that what is compiled stays valid
    planted.write_text(mutated(mutant, root))
    try:
        return run_tests(mutant.tests, root, limit_s)
    except NotRunError as error:
        raise NotRunError(f"'{mutant.name}': its tests could not be run\n{error}") from error
    finally:
        shutil.move(kept, planted)


def try_all(chosen: Sequence[Mutant], root: Path, limit_s: float) -> list[Mutant]:
    """Try each mutant and print a line about it; returns those that survive."""
    survivors: list[Mutant] = []
    for mutant in chosen:
        began = time.monotonic()
        found_by = try_mutant(mutant, root, limit_s)
        if not found_by:
            survivors.append(mutant)
        verdict = f"found by {found_by}" if found_by else "SURVIVES"
        print(f"{time.monotonic() - began:5.1f} s  {mutant.name}: {verdict}", flush=True)  # noqa: T201
    return survivors


def main() -> int:
    """Run by the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("word", nargs="?", default="", help="only mutants whose name contains it")
    parser.add_argument("--seconds", type=float, default=LIMIT_S, help="for one mutant (default: 60)")
    given = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if given.word in mutant.name]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        root = Path(folder)
        copy_tree(root)
        tests = sorted({test for mutant in chosen for test in mutant.tests})
        try:
            if failed := run_tests(tests, root, UNCHANGED_LIMIT_S):
                print(f"{failed} fails without any bug: mend that first")  # noqa: T201
                return 2
            survivors = try_all(chosen, root, given.seconds)
        except (MutantError, NotRunError) as error:
            print(error)  # noqa: T201
            return 2
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants were found")  # noqa: T201
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
