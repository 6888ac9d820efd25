"""The offline planner over the shipped teams: who gets a request, by the summaries alone."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from model_server.plan_requests import plan_request

from actors import teams
from actors.model_server.offline.planner import plan
from actors.run.plan_check import plan_faults
from actors.teams.team import Team
from protocol.messages import Card, Plan

LABELLED = Path(__file__).parents[1] / "teams" / "labelled_requests.toml"
UNSEEN = LABELLED.with_name("unseen_requests.toml")
"""Written after the rules were done, and the rules were not changed for them: what to expect of other requests."""


def planned(team: Team, text: str, *, backwards: bool = False) -> Plan:
    cards: dict[str, Sequence[Card]] = {
        worker.name: [
            Card(
                worker=worker.name,
                instance="i",
                summary=worker.summary,
                tools=tuple(tool.name for tool in worker.tools),
            )
        ]
        for worker in sorted(team.workers, key=lambda worker: worker.name, reverse=backwards)
    }
    asked = plan_request(text, cards)
    made = msgspec.convert(plan(asked).calls[0].input, Plan)
    assert plan_faults(made, 32, {worker.name: worker for worker in team.workers}) == []
    return made


def is_right(made: Plan, worker: str) -> bool:
    """Whether a plain request went to that worker: in one task, or in the last one where others gather for a text."""
    last = made.tasks[-1]
    return last.worker == worker and (len(made.tasks) == 1 or bool(last.depends_on))


def measured(path: Path, *, backwards: bool) -> tuple[float, list[str]]:
    """Which part of the requests of a file goes right, and what becomes of those that do not."""
    labelled = tomllib.loads(path.read_text())["requests"]
    wrong: list[str] = []
    for one in labelled:
        made = planned(teams.find(one["team"]), one["request"], backwards=backwards)
        if not is_right(made, one["worker"]):
            wrong.append(f"{one['worker']}, not {[task.worker for task in made.tasks]}: {one['request']}")
    return 1 - len(wrong) / len(labelled), wrong


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("path", "enough"), [(LABELLED, 0.9), (UNSEEN, 0.7)])
def test_the_right_worker_gets_a_request_by_the_summaries_alone(path: Path, enough: float, backwards: bool) -> None:
    share, wrong = measured(path, backwards=backwards)
    print(f"{path.name}: {share:.0%}", *wrong, sep="\n  ")  # noqa: T201 - shown by pytest -s, and where it fails
    assert share >= enough


@pytest.mark.parametrize("name", [name for name in teams.names() if name != "default"])
def test_each_sample_request_lets_two_workers_begin_at_once(name: str) -> None:
    team = teams.find(name)
    for sample in team.samples:
        begin = {task.worker for task in planned(team, sample).tasks if not task.depends_on}
        assert len(begin) >= 2, sample
