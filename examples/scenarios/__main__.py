"""`python -m examples.scenarios NAME|all|list`: exit code 0 if what was expected was seen, 1 if not, 2 for usage."""

import asyncio
import sys
from collections.abc import Sequence

from examples.scenarios import limits, planning, results
from examples.scenarios.scenario import Scenario, say, show

SCENARIOS = {one.name: one for one in (*planning.SCENARIOS, *results.SCENARIOS, *limits.SCENARIOS)}
USAGE = "python -m examples.scenarios NAME... | all | list"


def main(names: Sequence[str]) -> int:
    """Play the scenarios of these names."""
    if list(names) == ["list"]:
        for scenario in SCENARIOS.values():
            say(f"{scenario.name:<18} {scenario.story}")
        return 0
    wanted = list(SCENARIOS) if list(names) == ["all"] else list(names)
    unknown = [f"there is no scenario {name!r}" for name in wanted if name not in SCENARIOS]
    if unknown or not wanted:
        sys.stderr.write("\n".join([*unknown, f"usage: {USAGE}"]) + "\n")
        return 2
    return asyncio.run(_play([SCENARIOS[name] for name in wanted]))


async def _play(scenarios: Sequence[Scenario]) -> int:
    failed = [scenario.name for scenario in scenarios if not await show(scenario)]
    if len(scenarios) > 1:
        say(f"{len(scenarios) - len(failed)} of {len(scenarios)} as expected" + "".join(f"\n✗ {f}" for f in failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
