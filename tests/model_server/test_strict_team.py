"""A whole run of a shipped team against the strict server: the server takes every request of our client."""

from pathlib import Path
from typing import Any

import pytest

from actors import teams
from actors.settings import Settings
from protocol.events import Planned
from tests.model.asking import lines
from tests.model_server.strict_requests import MODELS
from tests.teams.sample_runs import Ran, at_work, ran

TEAM = teams.find("launch")


async def done(folder: Path, model: str, profile: str = "") -> tuple[Ran, list[dict[str, Any]]]:
    """The run of a request for three workers, with this model in every role, and the log of the server."""
    settings = Settings(
        team=TEAM.name,
        grace_s=0.2,
        outbox=str(folder / "outbox"),
        model_planner=model,
        model_worker=model,
        model_synthesizer=model,
    )
    async with at_work(TEAM, settings, profile=profile, log=folder / "log") as client:
        run = await ran(client, TEAM.samples[2])
    return run, lines(folder / "log")


def plan_of(run: Ran) -> Planned:
    (planned,) = [entry.message for entry in run.record if isinstance(entry.message, Planned)]
    return planned


@pytest.mark.parametrize("model", MODELS.values())
async def test_a_planned_run_of_three_workers_makes_no_request_that_the_model_refuses(
    model: str, tmp_path: Path
) -> None:
    run, log = await done(tmp_path, model)
    assert run.answer.status == "complete"
    assert plan_of(run).unplanned == ""
    assert len({handoff.to_agent for handoff in run.handed_out}) >= 3
    assert run.tools
    assert {(line["event"], line["status"]) for line in log if line["event"] != "asked"} == {("answered", 200)}
    asked = [line for line in log if line["event"] == "asked"]
    assert {line["model"] for line in asked} == {model}
    assert max(line["turns"] for line in asked) > 1


async def test_a_server_without_tools_and_formats_gets_one_task_for_one_worker_and_the_answer_says_so(
    tmp_path: Path,
) -> None:
    run, log = await done(tmp_path, "my-own-model", profile="unknown")
    reason = plan_of(run).unplanned
    assert reason
    assert [handoff.intent for handoff in run.handed_out] == [TEAM.samples[2]]
    assert run.answer.text.strip()
    assert reason in run.answer.gaps
    assert {(line["event"], line["status"]) for line in log if line["event"] != "asked"} == {("answered", 200)}
