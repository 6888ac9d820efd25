"""The default team, its real tools and its real prompts, with the offline model behind the real SDK."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from model_server.plan_requests import plan_call

from actors import teams
from actors.model.anthropic_api import AnthropicModel
from actors.model.port import Block, Call, ToolSpec, Turn
from actors.model.structured import structured
from actors.model_server.offline import NOTE
from actors.model_server.serve import offline_server
from actors.run.plan_check import plan_faults
from actors.worker.definition import Worker
from actors.worker.prompts import system_prompt, task_prompt
from protocol.errors import ToolError
from protocol.messages import Card, Context, Handoff, Plan, Task
from tests.model.asking import RUN, asking, lines, question

DEFAULT = teams.find("default")
TEAM = {worker.name: worker for worker in DEFAULT.workers}


@pytest.fixture
async def model() -> AsyncIterator[AnthropicModel]:
    async with offline_server() as url, asking(url) as model:
        yield model


async def planned(model: AnthropicModel, text: str) -> Plan:
    cards = {
        name: [Card(worker=name, instance="i", summary=one.summary, tools=tuple(tool.name for tool in one.tools))]
        for name, one in TEAM.items()
    }
    plan = msgspec.convert(structured(await model.call(plan_call(text, cards)), "plan"), Plan)
    assert plan_faults(plan, 32, TEAM) == []
    return plan


async def done(model: AnthropicModel, worker: Worker, handoff: Handoff) -> tuple[str, list[str]]:
    """What the worker says in the end, and the names of the tools it used; no tool may have refused its arguments."""
    tools = [ToolSpec(name=tool.name, description=tool.description, schema=tool.schema) for tool in worker.tools]
    turns = [Turn(role="user", content=task_prompt(handoff))]
    used: list[str] = []
    for _ in range(8):
        call = Call(run=RUN, role=worker.name, system=system_prompt(worker.prompt, 0.0), turns=turns, tools=tools)
        reply = await model.call(call, said=lambda _: None)
        if not reply.tool_uses:
            return reply.text, used
        results: list[Block] = []
        for use in reply.tool_uses:
            tool = worker.tool(use["name"])
            assert tool is not None
            used.append(tool.name)
            try:
                output = await tool.call(use["input"])
            except ToolError as error:
                raise AssertionError(f"{tool.name} refused {use['input']}: {error}") from error
            results.append({"type": "tool_result", "tool_use_id": use["id"], "content": output})
        turns = [*turns, Turn(role="assistant", content=reply.content), Turn(role="user", content=results)]
    raise AssertionError(f"{worker.name} does not come to an end: {used}")


async def run(model: AnthropicModel, plan: Plan) -> dict[str, tuple[Task, str, list[str]]]:
    outputs: dict[str, tuple[Task, str, list[str]]] = {}
    for task in plan.tasks:
        context = tuple(
            Context(task=name, worker=outputs[name][0].worker, output=outputs[name][1]) for name in task.depends_on
        )
        handoff = Handoff(
            run=RUN,
            task=task.id,
            attempt=1,
            from_agent="supervisor",
            to_agent=task.worker,
            intent=task.intent,
            success=task.success,
            context=context,
        )
        text, used = await done(model, TEAM[task.worker], handoff)
        outputs[task.id] = (task, text, used)
    return outputs


@pytest.mark.parametrize("sample", DEFAULT.samples)
async def test_every_sample_request_is_planned_and_worked_with_the_tools(model: AnthropicModel, sample: str) -> None:
    plan = await planned(model, sample)
    outputs = await run(model, plan)
    assert len(plan.tasks) > 1
    for task, text, used in outputs.values():
        assert used, f"{task.worker} used no tool"
        assert text.endswith(NOTE)


async def test_the_fastest_growing_region_is_found_by_queries_and_calculation(model: AnthropicModel) -> None:
    outputs = await run(model, await planned(model, "Which region grew fastest in 2025, by how much?"))
    [(task, text, used)] = outputs.values()
    assert task.worker == "analyst"
    assert {"list_tables", "query_tables", "calculate"} == set(used)
    assert "Highest of these: Asia-Pacific, 60.00 percent" in text
    assert "[revenue_by_region.csv]" in text


async def test_a_fact_in_a_document_is_quoted_with_its_name(model: AnthropicModel) -> None:
    outputs = await run(model, await planned(model, "What does Northwind Fleet cost per robot and month?"))
    assert any("[pricing.md]" in text and "190 euros" in text for _, text, _ in outputs.values())


async def test_a_report_is_laid_out_from_the_results_and_keeps_their_sources(model: AnthropicModel) -> None:
    plan = await planned(model, "Find what customers say about charging, then write a report")
    outputs = await run(model, plan)
    task, text, used = outputs[plan.tasks[-1].id]
    assert task.worker == "writer"
    assert "format_document" in used
    assert text.startswith("# ")
    assert ".md]" in text


async def test_a_false_claim_is_contradicted_by_the_tool(model: AnthropicModel) -> None:
    outputs = await run(model, await planned(model, "Is it true that the Carrier C2 has a payload of 200 kg?"))
    [(task, text, _)] = outputs.values()
    assert task.worker == "reviewer"
    assert "contradicted" in text


async def test_the_three_roles_are_told_apart_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with offline_server(log=log) as url, asking(url) as model:
        await run(model, await planned(model, "What is 2 + 2?"))
        await model.call(question("<request>x</request>\n\n<results>\n</results>"))
    roles = [line["role"] for line in lines(log) if line["event"] == "asked"]
    assert roles == ["planner", "worker", "worker", "synthesizer"]
