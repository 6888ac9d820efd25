"""Results that are not what one hoped for: contradictions, a death, an empty hand."""

from examples.scenarios.planning import a_task, planned
from examples.scenarios.scenario import Scenario
from examples.scenarios.stage import Facts, Rule, Stage, answer_of, kill, messages
from protocol.events import Judged, Judging
from protocol.messages import Handoff, Plan, Request, Result, Task

CLAIM = "revenue of 2025: 41 or 44 million"
VERDICT = "the ledger (41 million), because it was audited"
SIBLINGS = ("north", "south", "east", "west", "center")


def _disputed() -> list[Rule]:
    tasks = (
        a_task("books", "ledger", "Find the revenue of 2025 in the ledger"),
        a_task("news", "press", "Find the revenue of 2025 in the press release"),
    )
    report = {"contradictions": [{"tasks": ["books", "news"], "claim": CLAIM}], "confidence": 0.8}
    return [
        {"role": "planner", "plan": planned(*tasks)},
        {"role": "synthesizer", "text": "41 or 44 million."},
        {"role": "report", "tool_use": [{"name": "report", "input": report}]},
    ]


async def _contradiction(stage: Stage) -> Facts:
    verdicts = {"verdicts": [{"number": 1, "resolution": VERDICT}]}
    judge: Rule = {"contains": "<disputed>", "tool_use": [{"name": "submit_verdicts", "input": verdicts}]}
    return await _judged(stage, [judge, *_disputed()], "ledger", "press")


async def _judge_worker(stage: Stage) -> Facts:
    return await _judged(stage, _disputed(), "ledger", "press", "judge")


async def _judged(stage: Stage, rules: list[Rule], *workers: str) -> Facts:
    await stage.model(rules)
    await stage.worker(*workers)
    await stage.supervisor()
    run = await stage.ask(Request(text="What was the revenue of 2025?"))
    answer = await answer_of(run)
    past = await messages(run)
    return {
        "status": answer.status,
        "they disagree about": answer.contradictions[0].claim,
        "the judge says": answer.contradictions[0].resolution,
        "it stands in the answer": VERDICT in answer.text,
        "judged by": "a worker" if any(isinstance(m, Judging) for m in past) else "a role",
        "judged": sum(isinstance(message, Judged) for message in past),
        "models asked": len([line for line in stage.log() if line["event"] == "asked"]),
    }


async def _sibling_dies(stage: Stage) -> Facts:
    processes = {name: await stage.worker(name) for name in SIBLINGS}
    await stage.supervisor()
    tasks = tuple(Task(id=name, worker=name, intent=f"Count the bikes sold in the {name}") for name in SIBLINGS)
    run = await stage.ask(Request(plan=Plan(tasks=tasks), synthesis=False, deadline_s=5.0))
    await stage.stored(run, Handoff, 5)
    await kill(processes["center"])
    answer = await answer_of(run)
    done = [message.task for message in await messages(run) if isinstance(message, Result)]
    return {
        "results": ", ".join(sorted(done)),
        "status": answer.status,
        "in the answer": sum(f"{name} sold 7 bikes" in answer.text for name in SIBLINGS),
        "gaps": "; ".join(answer.gaps),
    }


async def _empty(stage: Stage) -> Facts:
    await stage.worker("searcher", "north")
    await stage.supervisor()
    tasks = (
        Task(id="search", worker="searcher", intent="List complaints about brakes", success="A list, be it empty"),
        Task(id="count", worker="north", intent="Count the bikes sold", depends_on=("search",)),
    )
    run = await stage.ask(Request(plan=Plan(tasks=tasks), synthesis=False))
    answer = await answer_of(run)
    past = await messages(run)
    (found,) = [message for message in past if isinstance(message, Result) and message.task == "search"]
    return {
        "output": found.output,
        "result": found.status,
        "attempts": sum(isinstance(message, Handoff) and message.task == "search" for message in past),
        "what builds on it": answer.text,
        "status": answer.status,
    }


_COMMON: Facts = {
    "status": "complete",
    "they disagree about": CLAIM,
    "the judge says": VERDICT,
    "it stands in the answer": True,
    "judged": 1,
}

SCENARIOS = (
    Scenario(
        "contradiction",
        story="Two workers contradict each other; the judge, a role on a model, decides with a reason.",
        expected={**_COMMON, "judged by": "a role", "models asked": 4},
        play=_contradiction,
    ),
    Scenario(
        "judge-worker",
        story="The same in a team that has a worker called judge: it is asked, and no model.",
        expected={**_COMMON, "judged by": "a worker", "models asked": 3},
        play=_judge_worker,
    ),
    Scenario(
        "sibling-dies",
        story="One of five siblings is killed and never comes back; the four results survive.",
        expected={
            "results": "east, north, south, west",
            "status": "partial",
            "in the answer": 4,
            "gaps": "center (center) was not finished before the deadline",
        },
        play=_sibling_dies,
    ),
    Scenario(
        "empty-result",
        story="A worker finds nothing, and that is what it says: a success.",
        expected={
            "output": "",
            "result": "completed",
            "attempts": 1,
            "what builds on it": "north sold 7 bikes",
            "status": "complete",
        },
        play=_empty,
    ),
)
