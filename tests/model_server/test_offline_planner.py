"""The planner works from the tool it is given: any workers, any request, a plan that passes its own schema."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_server.plan_requests import plan_call, plan_request

from actors.model.structured import structured
from actors.model_server.offline.clauses import clauses
from actors.model_server.offline.planner import plan
from actors.model_server.offline.request import Asked, OfferedTool, Said
from actors.model_server.serve import offline_server
from actors.run.plan_check import plan_faults
from protocol.messages import Card, Plan
from tests.model.asking import asking

TEAM = {
    "researcher": "Searches and reads the documents and reports what they say; does not calculate.",
    "analyst": "Queries the tables with SQL and calculates: totals, growth, averages, comparisons.",
    "writer": "Writes a finished document (brief, report, summary) from the results of other tasks.",
    "reviewer": "Checks claims and figures against documents and tables.",
}


def cards(workers: dict[str, str]) -> dict[str, list[Card]]:
    return {name: [Card(worker=name, instance="i", summary=text)] for name, text in workers.items()}


def planned(text: str, workers: dict[str, str] | None = None, faults: tuple[str, ...] = ()) -> Plan:
    asked = plan_request(text, cards(TEAM if workers is None else workers), faults)
    return msgspec.convert(plan(asked).calls[0].input, Plan)


def who(made: Plan) -> list[str]:
    return [task.worker for task in made.tasks]


async def test_a_plan_comes_by_its_format_through_the_sdk() -> None:
    async with offline_server() as url, asking(url) as model:
        reply = await model.call(plan_call("What does the refund policy say?", cards(TEAM)))
    assert reply.stop_reason == "end_turn"
    made = msgspec.convert(structured(reply, "plan"), Plan)
    assert who(made) == ["researcher"]
    assert plan_faults(made, 32, TEAM) == []


@pytest.mark.parametrize(
    ("text", "workers"),
    [
        ("What does the refund policy say?", ["researcher"]),
        ("Calculate the average growth of the totals", ["analyst"]),
        ("What is 15% of 2400?", ["analyst"]),
        ("Is it true that the robot weighs 20 kg?", ["reviewer"]),
        ("Good morning", ["researcher"]),
    ],
)
def test_a_plain_question_is_one_task_for_who_fits_best(text: str, workers: list[str]) -> None:
    assert who(planned(text)) == workers


def test_the_parts_of_a_request_become_tasks_and_writing_waits_for_gathering() -> None:
    made = planned(
        "Find the causes of the outage and the promised repairs, calculate total costs by region, "
        "then write a short report and check its claims."
    )
    assert who(made) == ["researcher", "analyst", "writer", "reviewer"]
    research, analysis, writing, review = made.tasks
    assert "causes of the outage and the promised repairs" in research.intent
    assert "total costs by region" in analysis.intent
    assert (research.depends_on, analysis.depends_on) == ((), ())
    assert writing.depends_on == (research.id, analysis.id)
    assert review.depends_on == (writing.id,)
    assert all(task.success for task in made.tasks)


def test_what_speaks_of_results_waits_for_them_and_what_speaks_of_a_subject_does_not() -> None:
    made = planned(
        "Find the outages of 2024 and 2025, calculate the ratio of them, and what did customers say about it?"
    )
    first, ratio, customers = made.tasks
    assert ratio.depends_on == (first.id,)
    assert customers.depends_on == ()
    assert "with regard to" in customers.intent


def test_a_wish_for_a_text_alone_is_gathered_for_first() -> None:
    made = planned("Write a brief on our competitors")
    assert who(made) == ["researcher", "writer"]
    assert made.tasks[1].depends_on == (made.tasks[0].id,)


@pytest.mark.parametrize(
    "text",
    [
        "Check every figure in the strategy memo",
        "Check whether every figure in the strategy memo is right",
        "Check that the figures in the strategy memo match the tables",
    ],
)
def test_a_document_to_be_checked_is_read_first(text: str) -> None:
    made = planned(text)
    assert who(made) == ["researcher", "reviewer"]
    assert made.tasks[0].intent.endswith("figure in the strategy memo")


@pytest.mark.parametrize("order", [", then ", ". Then, ", ". After that ", " and then "])
def test_what_is_to_be_done_then_waits_for_what_is_to_be_done_before(order: str) -> None:
    first, second = planned(f"Read the leave policy{order}count the rows of the table").tasks
    assert second.depends_on == (first.id,)
    at_once = planned("Read the leave policy and count the rows of the table").tasks
    assert [task.depends_on for task in at_once] == [(), ()]


def test_one_worker_does_one_thing_after_the_other_in_two_tasks() -> None:
    first, second = planned("Crash the shed, then count the bikes", {"keeper": "Keeps the shed and its bikes."}).tasks
    assert second.depends_on == (first.id,)


@pytest.mark.parametrize(
    ("text", "worker"),
    [
        ("Open the jammed front door", "locksmith"),
        ("Water the roses in the garden", "gardener"),
        ("How do I pick a padlock?", "locksmith"),
    ],
)
def test_workers_never_seen_before_are_chosen_by_what_they_say_of_themselves(text: str, worker: str) -> None:
    workers = {"gardener": "Waters plants and cuts roses.", "locksmith": "Opens doors, padlocks and safes."}
    assert who(planned(text, workers)) == [worker]


def test_the_tools_of_a_worker_count_too() -> None:
    cards = {
        "alpha": [Card(worker="alpha", instance="1", summary="Helps.", tools=("brew_coffee",))],
        "beta": [Card(worker="beta", instance="1", summary="Helps.", tools=("fold_paper",))],
    }
    asked = plan_request("Please fold this paper", cards)
    assert [task["worker"] for task in plan(asked).calls[0].input["tasks"]] == ["beta"]


def test_one_worker_alone_gets_everything() -> None:
    made = planned(
        "Find the causes, calculate the costs, then write a report", {"generalist": "Does all kinds of work."}
    )
    assert set(who(made)) == {"generalist"}
    assert plan_faults(made, 32, {"generalist"}) == []


def test_a_worker_named_as_unfit_is_left_out_of_the_next_plan() -> None:
    workers = {"finder": "Finds documents.", "seeker": "Searches documents."}
    first = planned("Find the policy documents", workers)
    fault = f"task 'x' is for {first.tasks[0].worker!r}, and there is no such worker (known: finder, seeker)"
    second = planned("Find the policy documents", workers, (fault,))
    assert first.tasks[0].worker not in who(second)


def test_too_many_tasks_are_joined_until_they_are_few_enough() -> None:
    text = "; ".join(f"find document number {n}" for n in range(8)) + "; write a report"
    assert len(planned(text).tasks) > 3
    fewer = planned(text, faults=("the plan has 9 tasks; at most 3 are allowed",))
    assert len(fewer.tasks) <= 3
    assert "document number 7" in " ".join(task.intent for task in fewer.tasks)


def test_a_vague_intent_is_made_longer() -> None:
    text = "Find causes; compare costs"
    short = planned(text)
    longer = planned(text, faults=("task 'causes': the intent is too vague",))
    assert len(longer.tasks[0].intent) >= len(short.tasks[0].intent)
    assert "Find causes; compare costs" in longer.tasks[0].intent


def test_an_id_that_is_taken_is_not_used_again() -> None:
    first = planned("What does the refund policy say?").tasks[0].id
    second = planned("What does the refund policy say?", faults=(f"task {first!r} failed before",)).tasks[0].id
    assert first != second


def test_only_what_the_schema_knows_is_given_and_all_it_requires() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "tasks": {"type": "array", "items": {"$ref": "#/$defs/Job"}},
            "urgency": {"type": "string", "enum": ["low", "high"]},
        },
        "required": ["tasks", "urgency"],
        "$defs": {
            "Job": {
                "type": "object",
                "properties": {
                    "worker": {"type": "string", "enum": ["solo"], "description": "solo: Does things."},
                    "intent": {"type": "string"},
                    "seconds": {"type": "number", "minimum": 5},
                },
                "required": ["worker", "seconds"],
            }
        },
    }
    asked = Asked(
        model="m",
        max_tokens=100,
        messages=[Said(role="user", content="<request>Do it</request>")],
        tools=[OfferedTool(name="p", input_schema=schema)],
        tool_choice={"type": "tool", "name": "p"},
    )
    assert asked.role == "planner"
    made = plan(asked).calls[0].input
    assert made == {"tasks": [{"worker": "solo", "intent": "Do it", "seconds": 5}], "urgency": "low"}


VOCABULARY = "find compare write check calculate the report of revenue and then , . ; what why it them 2024 policy?"
WORDS = st.sampled_from(VOCABULARY.split(" "))


@given(st.lists(WORDS, min_size=1, max_size=40).map(" ".join) | st.text(min_size=1, max_size=200))
def test_whatever_is_asked_the_plan_may_run(text: str) -> None:
    made = planned(text)
    assert plan_faults(made, 32, TEAM) == []
    assert made == planned(text)


@given(st.text(max_size=300))
def test_clauses_never_lose_the_request(text: str) -> None:
    assert "".join(clauses(text)) or not text.split()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Find a and b", ["Find a and b"]),
        ("Find X and Y, compare Z, then write W", ["Find X and Y", "compare Z", "write W"]),
        ("Which region grew, and why?", ["Which region grew", "why?"]),
        ("Costs rose by 3.5 percent. Why?", ["Costs rose by 3.5 percent", "Why?"]),
        ("1. Find the cause\n2. Write it down", ["Find the cause", "Write it down"]),
    ],
)
def test_a_request_is_cut_where_something_new_is_asked(text: str, parts: list[str]) -> None:
    assert clauses(text) == parts
