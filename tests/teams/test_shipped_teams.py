"""What holds for every team that comes along: it loads, its workers differ, its samples and data are there."""

import contextlib
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from actors import teams
from actors.teams.team import Team
from actors.worker.definition import Worker
from protocol.errors import ToolError
from tests.teams.calling import data_of

NAMES = (
    "clinical",
    "competitive",
    "contract",
    "curriculum",
    "default",
    "engineering",
    "experts",
    "launch",
    "portfolio",
    "support",
)
OWN = tuple(name for name in NAMES if name != "default")
SOURCE = re.compile(r"\[[\w/.-]+\.(?:md|csv|json|py|log|toml)|^[\w/.-]+\.md — ")
LABELLED = Path(__file__).parent / "labelled_requests.toml"


@pytest.fixture(params=NAMES)
def team(request: pytest.FixtureRequest) -> Team:
    return teams.find(request.param)


def test_ten_teams_come_along() -> None:
    assert tuple(teams.names()) == NAMES


def test_a_team_has_three_to_five_workers_with_tools_of_their_own(team: Team) -> None:
    assert 3 <= len(team.workers) <= 5
    owned = [tool.name for worker in team.workers for tool in worker.tools]
    assert len(owned) == len(set(owned))
    assert all(worker.tools for worker in team.workers)


def test_every_worker_is_told_to_cite_and_every_argument_is_explained(team: Team) -> None:
    for worker in team.workers:
        assert "as [name]" in worker.prompt, worker.name
        assert len(worker.summary) <= 260, worker.name
        for tool in worker.tools:
            assert all(argument["description"] for argument in tool.schema["properties"].values()), tool.name


@pytest.mark.parametrize("name", OWN)
def test_a_team_for_a_domain_has_tools_data_and_three_samples_of_its_own(name: str) -> None:
    folder = data_of(name)
    assert (folder.parent / "tools.py").is_file()
    assert len([path for path in folder.rglob("*") if path.is_file()]) >= 5
    assert len(teams.find(name).samples) == 3


@pytest.mark.parametrize("name", OWN)
async def test_the_tools_of_two_workers_answer_a_whole_sample_request_with_sources(name: str) -> None:
    team = teams.find(name)
    for sample in team.samples:
        answers = {worker.name: await sourced(worker, sample) for worker in team.workers}
        assert sum(bool(found) for found in answers.values()) >= 2, sample


async def sourced(worker: Worker, request: str) -> list[str]:
    """The lines with a source that the worker's tools give for a request, where one text is all they need."""
    lines: list[str] = []
    for tool in worker.tools:
        needed = tool.schema.get("required", [])
        if len(needed) == 1 and tool.schema["properties"][needed[0]]["type"] == "string" and not tool.effect:
            with contextlib.suppress(ToolError):
                lines += (await tool.call({needed[0]: request})).splitlines()
    return [line for line in lines if SOURCE.search(line)]


def test_the_labelled_requests_name_workers_that_there_are() -> None:
    labelled = tomllib.loads(LABELLED.read_text())["requests"]
    assert len(labelled) == 60
    assert len({one["request"] for one in labelled}) == 60
    for one in labelled:
        found = teams.find(one["team"]).worker(one["worker"])
        assert found is not None, one
        assert one["request"] not in found.summary
    assert set(Counter(one["team"] for one in labelled)) == set(NAMES)
