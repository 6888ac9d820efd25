"""Plans that change: bad ones, a false premise, a person who reviews."""

from examples.scenarios.scenario import Scenario
from examples.scenarios.stage import Facts, Rule, Stage, answer_of, messages
from protocol.controls import Approve, Reject
from protocol.events import Planned, PlanRejected, Replanned, Waiting
from protocol.messages import Handoff, Request


def planned(*tasks: Rule) -> Rule:
    """What the scripted planner hands in."""
    return {"goal": "Find out", "tasks": list(tasks)}


def a_task(name: str, worker: str, intent: str, *needs: str) -> Rule:
    """A task as a planner writes it."""
    return {"id": name, "worker": worker, "intent": intent, "success": "It is said", "depends_on": list(needs)}


async def _config_issue(stage: Stage) -> Facts:
    fix = planned(a_task("fix", "engineer", "Fix the crash of the billing service under load"))
    setting = planned(a_task("config", "ops", "Raise max_connections of billing to 200"))
    reason = "This is no bug: max_connections is 20. Ops can change it."
    await stage.model(
        [
            {"role": "planner", "contains": "<why>", "plan": setting},
            {"role": "planner", "plan": fix},
            {"role": "worker", "tool_use": [{"name": "decline_task", "input": {"reason": reason}}]},
            {"role": "synthesizer", "text": "It was a setting, no bug; billing takes 200 connections now."},
        ]
    )
    await stage.worker("engineer", "ops")
    await stage.supervisor()
    run = await stage.ask(Request(text="Billing crashes under load. Fix the bug."))
    answer = await answer_of(run)
    past = await messages(run)
    (anew,) = [message for message in past if isinstance(message, Replanned)]
    return {
        "status": answer.status,
        "revisions": answer.revisions,
        "why": anew.reasons[0],
        "handed to": ", ".join(message.to_agent for message in past if isinstance(message, Handoff)),
        "gaps": len(answer.gaps),
    }


async def _bad_plans(stage: Stage) -> Facts:
    one, two = a_task("a", "north", "Count the bikes sold", "b"), a_task("b", "south", "Count the bikes sold", "a")
    circle, vague = planned(one, two), planned(a_task("a", "north", "analyze the data"))
    good = planned(a_task("a", "north", "Count the bikes sold in the north"))
    await stage.model([{"role": "planner", "plan": plan, "times": 1} for plan in (circle, vague, good)])
    await stage.worker("north", "south")
    await stage.supervisor()
    run = await stage.ask(Request(text="How many bikes were sold in the north?", synthesis=False))
    answer = await answer_of(run)
    refused = [message.faults[0] for message in await messages(run) if isinstance(message, PlanRejected)]
    return {
        "refused first": refused[0],
        "refused second": refused[1],
        "status": answer.status,
        "text": answer.text,
        "planner asked": answer.spending["planner"].model_calls,
    }


async def _review(stage: Stage) -> Facts:
    north = a_task("n", "north", "Count the bikes sold in the north")
    south = a_task("s", "south", "Count the bikes sold in the south")
    await stage.model(
        [
            {"role": "planner", "contains": "the south too", "plan": planned(north, south)},
            {"role": "planner", "plan": planned(north)},
        ]
    )
    await stage.worker("north", "south")
    await stage.supervisor()
    run = await stage.ask(Request(text="How many bikes were sold?", review=True, synthesis=False))
    await stage.stored(run, Waiting)
    await run.control(Reject(comment="ask the south too"))
    await stage.stored(run, Waiting, 2)
    before = sum(isinstance(message, Handoff) for message in await messages(run))
    await run.control(Approve())
    answer = await answer_of(run)
    past = await messages(run)
    return {
        "plans": sum(isinstance(message, Planned) for message in past),
        "handed out before approval": before,
        "handed to": ", ".join(sorted(message.to_agent for message in past if isinstance(message, Handoff))),
        "status": answer.status,
    }


SCENARIOS = (
    Scenario(
        "config-issue",
        story="An engineer finds that the bug is a setting and declines; the plan changes to ops.",
        expected={
            "status": "complete",
            "revisions": 2,
            "why": "fix (engineer) declined: This is no bug: max_connections is 20. Ops can change it.",
            "handed to": "engineer, ops",
            "gaps": 0,
        },
        play=_config_issue,
    ),
    Scenario(
        "bad-plans",
        story="The planner hands in a circle, then a vague plan, then a good plan.",
        expected={
            "refused first": "the tasks wait for each other in a circle: a → b → a",
            "refused second": "task 'a' is vague ('analyze the data'): it names nothing specific: say what, of what, "
            "and for which period or place",
            "status": "complete",
            "text": "north sold 7 bikes",
            "planner asked": 3,
        },
        play=_bad_plans,
    ),
    Scenario(
        "review",
        story="A person refuses the first plan with a comment and approves the second; nothing runs before.",
        expected={"plans": 2, "handed out before approval": 0, "handed to": "north, south", "status": "complete"},
        play=_review,
    ),
)
