"""From results to an answer, through the real SDK against the scripted model, on real processes."""

import asyncio
from typing import Any

from actor_processes import Stage
from waiting import LIMIT_S

from protocol.events import Condensed, Expired, Replanned, Retrying, Skipped, Synthesized
from protocol.messages import Answer, Handoff, Plan, Request, Task


def a_task(name: str, worker: str, intent: str, *needs: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "worker": worker, "intent": intent, "success": "it is said", "depends_on": needs, **more}


def planned(*tasks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "planner", "plan": {"tasks": tasks}}


async def answered(stage: Stage, **more: Any) -> Answer:
    stage.last = await stage.client.submit(Request(text="Say hello to Ada", **more))
    return await asyncio.wait_for(stage.last.answer(), LIMIT_S)


async def events(stage: Stage, kind: type[Any]) -> list[Any]:
    return [entry.message for entry in await stage.last.past() if isinstance(entry.message, kind)]


def synthesis_prompts(stage: Stage) -> list[str]:
    return [line["last"] for line in stage.asked() if line["role"] == "synthesizer"]


async def test_what_a_lost_task_takes_with_it_is_named_and_the_rest_is_used(stage: Stage) -> None:
    tasks = (
        a_task("t1", "fail", "look up the first half"),
        a_task("t2", "echo", "look up the second half"),
        a_task("t3", "echo", "translate the first half", "t1"),
        a_task("t4", "echo", "translate the second half", "t2"),
        a_task("t5", "echo", "join both halves", "t3", "t4", optional=["t3"]),
        a_task("t6", "echo", "print both halves", "t3", "t4"),
    )
    await stage.model({"rules": [planned(*tasks), {"role": "synthesizer", "text": "One half."}]})
    await stage.worker("fail", "echo")
    await stage.supervisor()
    answer = await answered(stage)
    assert (answer.status, answer.text) == ("partial", "One half.")
    assert answer.gaps == (
        "t1 (fail) failed after 1 attempt: it is broken",
        "t3 (echo) was skipped: needs t1 (failed)",
        "t6 (echo) was skipped: needs t3 (skipped)",
    )
    assert {event.task for event in await events(stage, Skipped)} == {"t3", "t6"}
    (joined,) = [h for h in await events(stage, Handoff) if h.task == "t5"]
    assert [part.task for part in joined.context] == ["t4"]
    (prompt,) = synthesis_prompts(stage)
    assert "t3 (echo) was skipped: needs t1 (failed)" in prompt
    assert prompt.index('task="t2"') < prompt.index('task="t4"') < prompt.index('task="t5"')


async def test_a_finding_that_breaks_the_plan_leads_to_another(stage: Stage) -> None:
    finding = {"name": "report_finding", "input": {"finding": "the book is a forgery"}}
    rules = [
        {"contains": "<why>", **planned(a_task("tell", "echo", "say that it is a forgery"))},
        planned(a_task("read", "reader", "read page one"), a_task("praise", "echo", "praise the book", "read")),
        {"role": "worker", "turns": 1, "tool_use": [finding]},
        {"role": "worker", "turns": 3, "text": "It is a forgery."},
    ]
    await stage.model({"rules": rules})
    await stage.worker("reader", "echo")
    await stage.supervisor()
    answer = await answered(stage)
    assert (answer.status, answer.revisions) == ("complete", 2)
    (anew,) = await events(stage, Replanned)
    assert anew.reasons == ("read (reader) found: the book is a forgery",)
    assert [handoff.task for handoff in await events(stage, Handoff)] == ["read", "tell"], "nobody praised it"


async def test_the_synthesizer_may_ask_for_more_work_once(stage: Stage) -> None:
    hello = a_task("hello", "echo", "say hello to Ada")
    report: dict[str, Any] = {"name": "report", "input": {"more": ["what Bob says"], "confidence": 0.5}}
    rules = [
        {"contains": "<why>", **planned(hello, a_task("bob", "echo", "say what Bob says"))},
        planned(hello),
        {"role": "synthesizer", "text": "Hello."},
        {"role": "report", "tool_use": [report]},
    ]
    await stage.model({"rules": rules})
    await stage.worker("echo")
    await stage.supervisor()
    answer = await answered(stage)
    assert (answer.status, answer.revisions, answer.gaps) == ("partial", 2, ("what Bob says",))
    assert answer.confidence == 0.45, "lowered by the gap"
    assert len(await events(stage, Synthesized)) == 2
    assert [handoff.task for handoff in await events(stage, Handoff)] == ["hello", "bob"]


async def test_results_too_long_for_one_reading_are_condensed_in_rounds(stage: Stage) -> None:
    stage.environment["HANDOFF_READING"] = "400"
    tasks = [a_task(f"t{n}", "echo", f"say number {n}: " + "x" * 180) for n in range(6)]
    rules = [
        planned(*tasks),
        {"contains": "You make results of specialist workers shorter", "text": "Short."},
        {"role": "synthesizer", "text": "All six."},
    ]
    await stage.model({"rules": rules})
    await stage.worker("echo")
    await stage.supervisor()
    answer = await answered(stage)
    assert (answer.status, answer.text) == ("complete", "All six.")
    assert len(await events(stage, Condensed)) == 3, "two results in each portion"
    prompt = synthesis_prompts(stage)[-1]
    assert prompt.count("Short.") == 3
    assert "xxx" not in prompt


async def test_at_the_deadline_what_there_is_becomes_one_text(stage: Stage) -> None:
    rules = [planned(a_task("e", "echo", "say hello to Ada"), a_task("n", "nap", "30"))]
    await stage.model({"rules": [*rules, {"role": "synthesizer", "text": "Only hello."}]})
    await stage.worker("echo", "nap")
    await stage.supervisor()
    answer = await answered(stage, deadline_s=3.0)
    assert (answer.status, answer.text) == ("partial", "Only hello.")
    assert answer.gaps == ("n (nap) was not finished before the deadline",)
    assert len(await events(stage, Expired)) == 1
    assert 3.0 <= answer.timing.wall_s < 6.0


async def test_what_words_cannot_cure_is_tried_again_in_the_same_words_after_a_rest(stage: Stage) -> None:
    rules = [
        {"role": "worker", "status": 500, "error": "api_error", "times": 1},
        {"role": "worker", "text": "Page one says 7."},
        {"role": "synthesizer", "text": "7."},
    ]
    stage.environment["HANDOFF_MODEL_RETRIES"] = "0"
    await stage.model({"rules": rules})
    await stage.worker("reader")
    await stage.supervisor()
    answer = await answered(stage, plan=Plan(tasks=(Task(id="r", worker="reader", intent="read page one"),)))
    assert (answer.status, answer.text) == ("complete", "7.")
    (again,) = await events(stage, Retrying)
    first, second = [entry for entry in await stage.last.past() if isinstance(entry.message, Handoff)]
    assert second.time >= again.not_before > first.time
