"""What docs/TESTING.md shows is run, as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from actors.model_server.scripted import Rule

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "TESTING.md").read_text()
FILES = ("my_team.py", "test_tools.py", "locksmith.json", "test_team.py")


@pytest.mark.process
def test_the_files_of_the_page_pass_as_they_are(tmp_path: Path) -> None:
    blocks = re.findall(r"^```(?:python|json)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == len(FILES)
    for name, block in zip(FILES, blocks, strict=True):
        (tmp_path / name).write_text(block)
    path = os.pathsep.join([str(ROOT), str(tmp_path)])
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-W",
        "error",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:asyncio",
        str(tmp_path),
    ]
    ran = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 passed" in ran.stdout


def test_every_field_of_a_rule_is_on_the_page_and_no_other() -> None:
    table = PAGE.partition("## The script")[2].partition("## The log")[0]
    told = {name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert told == {field.name for field in msgspec.structs.fields(Rule)}
