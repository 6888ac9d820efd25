"""Every scenario of the examples does what it says, as the command that a reader would type."""

import subprocess
import sys
from pathlib import Path

import pytest

from examples.scenarios.__main__ import SCENARIOS, main
from examples.scenarios.scenario import compared

ROOT = Path(__file__).parents[2]
README = (ROOT / "examples" / "scenarios" / "README.md").read_text()


@pytest.mark.process
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_goes_as_expected(name: str) -> None:
    command = [sys.executable, "-m", "examples.scenarios", name]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.endswith("  as expected\n\n")
    assert ended.stdout.count("✓") == len(SCENARIOS[name].expected)


def test_what_is_missing_or_different_is_told_and_counts() -> None:
    lines, same = compared({"status": "complete", "gaps": 0, "text": "x"}, {"status": "partial", "gaps": 0})
    assert not same
    assert lines == [
        "✗ status: expected complete, seen partial",
        "✓ gaps: 0",
        "✗ text: expected x, seen nothing",
    ]


def test_a_name_that_does_not_exist_is_refused_with_what_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nonsense"]) == 2
    assert "there is no scenario 'nonsense'" in capsys.readouterr().err
    assert main([]) == 2


def test_the_list_and_the_page_name_every_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    for name in SCENARIOS:
        assert f"| `{name}` |" in README
        assert name in out
