"""Limits that are reached: steps, time, and the patience of a provider."""

from collections import Counter

from examples.scenarios.planning import a_task, planned
from examples.scenarios.scenario import Scenario
from examples.scenarios.stage import Facts, Rule, Stage, answer_of, kill, messages, until
from protocol.events import Planned, Reported, Synthesized
from protocol.messages import Budget, Plan, Request, Result, Task
from protocol.steps import ModelCalled

STEPS = 12


async def _looping(stage: Stage) -> Facts:
    look: Rule = {"name": "look_up", "input": {"page": 1}}
    tasks = (
        a_task("read", "reader", "Read the handbook until the answer is found"),
        a_task("count", "north", "Count the bikes sold in the north"),
    )
    await stage.model(
        [
            {"role": "planner", "plan": planned(*tasks)},
            {"role": "worker", "text": "Page one again.", "tool_use": [look]},
            {"role": "synthesizer", "text": "The north sold 7 bikes; the handbook was not finished."},
        ]
    )
    await stage.worker("reader", "north")
    await stage.supervisor()
    run = await stage.ask(Request(text="What does the handbook say of sales?", budget=Budget(steps=STEPS)))
    answer = await answer_of(run)
    (stopped,) = [m for m in await messages(run) if isinstance(m, Result) and m.task == "read"]
    return {
        "stopped by": stopped.error.kind if stopped.error else "nothing",
        "what it had so far": stopped.output,
        "status": answer.status,
        "within the budget and a synthesis": answer.usage.model_calls + answer.usage.tool_calls <= STEPS + 1,
        "gaps": len(answer.gaps),
    }


async def _deadline(stage: Stage) -> Facts:
    await stage.worker("north", "south", "center")
    await stage.supervisor()
    tasks = (
        Task(id="n", worker="north", intent="Count the bikes sold in the north"),
        Task(id="s", worker="south", intent="Count the bikes sold in the south"),
        Task(id="c1", worker="center", intent="Count the bikes sold in the old town"),
        Task(id="c2", worker="center", intent="Count the bikes sold in the new town"),
    )
    run = await stage.ask(Request(plan=Plan(tasks=tasks), synthesis=False, deadline_s=3.0))
    answer = await answer_of(run)
    return {
        "status": answer.status,
        "in the answer": answer.text.count("sold 7 bikes"),
        "gaps": len(answer.gaps),
        "first gap": answer.gaps[0],
        "in time": 3.0 <= answer.timing.wall_s < 5.0,
        "still at work a second later": await stage.at_work("center", within_s=1.0),
    }


async def _provider(stage: Stage) -> Facts:
    """Every role meets trouble; the worker is killed in its second turn, too."""
    await stage.model(
        [
            {"role": "planner", "status": 429, "error": "rate_limit_error", "retry_after_s": 0.1, "times": 1},
            {"role": "planner", "status": 529, "error": "overloaded_error", "times": 1},
            {"role": "planner", "plan": planned(a_task("read", "reader", "Read page one of the handbook"))},
            {"role": "worker", "turns": 1, "cut": True, "times": 1},
            {"role": "worker", "turns": 1, "tool_use": [{"name": "look_up", "input": {"page": 1}}]},
            {"role": "worker", "turns": 3, "delay_s": 20.0, "times": 1},
            {"role": "worker", "turns": 3, "cut": "drop", "text": "Page one says: see page two.", "times": 1},
            {"role": "worker", "turns": 3, "text": "Page one says: see page two."},
            {"role": "synthesizer", "cut": True, "text": "See page two.", "times": 1},
            {"role": "synthesizer", "text": "See page two."},
        ]
    )
    first = await stage.worker("reader")
    await stage.supervisor()
    run = await stage.ask(Request(text="What does page one say?"))

    async def second_turn() -> bool:
        return any(line["event"] == "asked" and line["role"] == "worker" and line["turns"] == 3 for line in stage.log())

    await until(second_turn)
    await kill(first)
    await stage.worker("reader")
    answer = await answer_of(run)
    log, past = stage.log(), await messages(run)
    paid = Counter(line["key"] for line in log if line["event"] == "answered" and line["status"] == 200)
    kept = sum(isinstance(message, Planned | ModelCalled | Synthesized | Reported) for message in past)
    return {
        "status": answer.status,
        "text": answer.text,
        "refused": ", ".join(
            str(line["status"]) for line in log if line["event"] == "answered" and line["status"] > 200
        ),
        "cut off": sum(line["event"] == "cut" for line in log),
        "paid and stored": f"{paid.total()} and {kept}",
        "paid twice": sum(count > 1 for count in paid.values()),
    }


SCENARIOS = (
    Scenario(
        "looping-worker",
        story="A worker goes round in circles; its steps run out, and the answer is partial.",
        expected={
            "stopped by": "budget",
            "what it had so far": "Page one again.",
            "status": "partial",
            "within the budget and a synthesis": True,
            "gaps": 1,
        },
        play=_looping,
    ),
    Scenario(
        "deadline",
        story="The deadline comes with half of the work done; the rest is stopped, and named.",
        expected={
            "status": "partial",
            "in the answer": 2,
            "gaps": 2,
            "first gap": "c1 (center) was not finished before the deadline",
            "in time": True,
            "still at work a second later": 0,
        },
        play=_deadline,
    ),
    Scenario(
        "provider-trouble",
        story="The provider answers 429 and 529 and cuts streams, and a worker is killed: done, nothing paid twice.",
        expected={
            "status": "complete",
            "text": "See page two.",
            "refused": "429, 529",
            "cut off": 3,
            "paid and stored": "5 and 5",
            "paid twice": 0,
        },
        play=_provider,
    ),
)
