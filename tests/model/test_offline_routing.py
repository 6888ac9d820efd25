"""The offline planner over the shipped teams: who gets a request, by the summaries alone."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from actors import teams
from actors.model.offline.planner import plan
from actors.model.offline.request import Asked, OfferedTool, Said
from actors.run.plan_check import plan_faults
from actors.supervisor.prompts import plan_tool, planning
from actors.teams.team import Team
from protocol.messages import Card, Plan, Request

LABELLED = Path(__file__).parents[1] / "teams" / "labelled_requests.toml"
ENOUGH = 0.9


def planned(team: Team, text: str) -> Plan:
    cards: dict[str, Sequence[Card]] = {
        worker.name: [
            Card(
                worker=worker.name,
                instance="i",
                summary=worker.summary,
                tools=tuple(tool.name for tool in worker.tools),
            )
        ]
        for worker in team.workers
    }
    offered = plan_tool(cards)
    asked = Asked(
        model="m",
        max_tokens=4096,
        messages=[Said(role="user", content=planning(Request(text=text), (), 32))],
        tools=[OfferedTool(name=offered.name, description=offered.description, input_schema=offered.schema)],
        tool_choice={"type": "tool", "name": offered.name},
    )
    made = msgspec.convert(plan(asked).calls[0].input, Plan)
    assert plan_faults(made, 32, {worker.name: worker for worker in team.workers}) == []
    return made


def answering(made: Plan) -> str:
    """Who answers: the one who builds on the others, or the first where nobody does."""
    return (made.tasks[-1] if made.tasks[-1].depends_on else made.tasks[0]).worker


def test_the_right_worker_gets_nine_of_ten_labelled_requests() -> None:
    labelled = tomllib.loads(LABELLED.read_text())["requests"]
    known = {name: teams.find(name) for name in teams.names()}
    wrong = [one for one in labelled if answering(planned(known[one["team"]], one["request"])) != one["worker"]]
    assert len(wrong) <= (1 - ENOUGH) * len(labelled), wrong


@pytest.mark.parametrize("name", [name for name in teams.names() if name != "default"])
def test_each_sample_request_lets_two_workers_begin_at_once(name: str) -> None:
    team = teams.find(name)
    for sample in team.samples:
        begin = {task.worker for task in planned(team, sample).tasks if not task.depends_on}
        assert len(begin) >= 2, sample
