"""A whole run of a shipped team against the strict server: the server takes every request of our client.

sonnet-5-5 and opus-5-5 join the list as soon as our client asks for plans by an output format instead of a forced tool.
"""

from pathlib import Path

import pytest

from actors import teams
from actors.settings import Settings
from tests.model.asking import lines
from tests.teams.sample_runs import at_work, ran


@pytest.mark.parametrize("profile", ["haiku-5-5", "sonnet-4-6"])
async def test_a_planned_run_makes_no_request_that_the_model_refuses(profile: str, tmp_path: Path) -> None:
    team, log = teams.find("support"), tmp_path / "log"
    settings = Settings(team=team.name, grace_s=0.2, outbox=str(tmp_path / "outbox"))
    async with at_work(team, settings, profile=profile, log=log) as client:
        run = await ran(client, team.samples[0])
    assert run.answer.status == "complete"
    assert run.tools
    found = lines(log)
    assert {(line["event"], line["status"]) for line in found if line["event"] != "asked"} == {("answered", 200)}
    assert max(line["turns"] for line in found if line["event"] == "asked") > 1
