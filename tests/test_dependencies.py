"""What is installed: everything that is imported is declared, and the lock files pin what is declared, with hashes."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
OURS = ("actors", "protocol", "observability")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DISTRIBUTIONS = {"nats": "nats-py", "opentelemetry": "opentelemetry-sdk"}
"""Where the name of a package to import is not that of its distribution."""

PIN = re.compile(
    r"^(\S+)==([^\s;]+)(?: ; ([^\\]+?))? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)


def requirements(*texts: str) -> dict[str, Requirement]:
    found = [Requirement(text) for text in texts]
    return {canonicalize_name(one.name): one for one in found}


EXTRAS = PROJECT["project"]["optional-dependencies"]
GROUPS = PROJECT["dependency-groups"]
NEEDED = requirements(*PROJECT["project"]["dependencies"])
DECLARED = NEEDED | requirements(*(text for extra in EXTRAS.values() for text in extra))
LOCKS = {
    "requirements.lock": NEEDED | requirements(*EXTRAS["otlp"], *EXTRAS["metrics"], *GROUPS["build"]),
    "requirements-image.lock": NEEDED
    | requirements(*EXTRAS["otlp"], *EXTRAS["metrics"], *EXTRAS["mcp"], *GROUPS["build"]),
    "requirements-dev.lock": NEEDED | requirements(*EXTRAS["otlp"], *EXTRAS["metrics"], *GROUPS["dev"]),
}


def pins(lock: str) -> dict[str, tuple[str, str | None]]:
    """The version and the marker of each package of a lock file."""
    return {name: (version, marker) for name, version, marker, _ in PIN.findall((ROOT / lock).read_text())}


def imported() -> set[str]:
    """The packages of others that our code imports."""
    found: set[str] = set()
    for package in OURS:
        for path in (ROOT / package).rglob("*.py"):
            if "data" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    found |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - set(OURS)


@pytest.mark.parametrize("name", sorted(imported()))
def test_what_is_imported_is_declared(name: str) -> None:
    assert canonicalize_name(DISTRIBUTIONS.get(name, name)) in DECLARED


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_has_a_version_that_fits_for_everything_declared(lock: str) -> None:
    pinned = pins(lock)
    for name, requirement in LOCKS[lock].items():
        assert pinned[name][0] in requirement.specifier, name


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_holds_pins_with_hashes_and_nothing_else(lock: str) -> None:
    rest = PIN.sub("", (ROOT / lock).read_text())
    assert [line for line in rest.splitlines() if line and not line.startswith("#")] == []


def test_tests_run_with_the_versions_that_are_shipped() -> None:
    assert pins("requirements.lock").items() <= pins("requirements-image.lock").items()
    assert pins("requirements.lock").items() <= pins("requirements-dev.lock").items()
    tested = pins("requirements-dev.lock")
    assert all(tested[name][0] == version for name, (version, _) in pins("requirements-image.lock").items())


def test_a_library_whose_private_names_are_used_has_one_minor_version() -> None:
    assert "2.16.9" in NEEDED["nats-py"].specifier
    assert "2.17.0" not in NEEDED["nats-py"].specifier


def test_the_process_title_is_left_alone_on_macos() -> None:
    marker = NEEDED["setproctitle"].marker
    assert marker
    assert not marker.evaluate({"sys_platform": "darwin"})
    assert marker.evaluate({"sys_platform": "linux"})


def test_the_makefile_installs_by_hash_only() -> None:
    lines = [line for line in (ROOT / "Makefile").read_text().splitlines() if "$(PIP) " in line]
    assert len(lines) == 3
    for line in lines:
        assert "--require-hashes -r" in line or "--no-deps --no-build-isolation -e ." in line
