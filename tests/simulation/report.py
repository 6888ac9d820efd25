"""What is said of a seed that fails: the seed, the commit, and the command that tries it again."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def how_to_repeat(name: str, seed: int) -> str:
    """Name the seed of a scenario, the commit, and the command that tries this seed again."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)  # noqa: PLW1510
    again = f"PYTHONHASHSEED=0 SIMULATION_FROM={seed} SIMULATION_TO={seed + 1} pytest tests/simulation/{name}.py"
    return f"seed {seed} of {name} fails at commit {commit.stdout.strip() or 'unknown'}\ntry again: {again}\n"
