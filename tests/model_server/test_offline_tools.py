"""A worker of any domain: which of its tools the offline model takes, what it gives them, and what it makes of it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from actors.model.anthropic_api import AnthropicModel
from actors.model.port import ToolSpec
from actors.model_server.offline.naming import codes, names, phrase, quantities
from actors.model_server.offline.titles import heading, title
from actors.model_server.serve import offline_server
from actors.worker.answers import SPECS
from tests.model.asking import ToolFunction, asking, converse, spec


def text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def kennel(*tools: ToolSpec, said: str = "Rex is a terrier [dogs.csv]") -> list[tuple[ToolSpec, ToolFunction]]:
    return [(one, lambda _: said) for one in tools]


def task(intent: str, *results: str) -> str:
    quoted = "".join(f'<result task="t{n}" worker="w">\n{one}\n</result>' for n, one in enumerate(results))
    return f"<task>\n{intent}\n</task>\n\n<context>\n{quoted}\n</context>"


DOG = spec("find_dog", "Find dogs of the kennel and their breed.", dog=text("its name, such as Rex Amber; all if none"))
FEED = spec("feed_plan", "Work out the food of dogs by weight.", weight=text("the weight, such as 12 kg"))
VET = spec("look_up_vet", "Look up visits to the vet.", visit=text("the number of a visit, such as V-12"))
BREEDS = spec("rank_breeds", "Rank breeds by one point.", point=text("such as size, patience or appetite"))
COMPARE = spec("compare_dogs", "Compare dogs.", dogs=text("the names of the dogs, such as Rex Amber and Fido Blue"))
CALL = spec("call_owner", "Call an owner.", owner=text("the name, such as Ann Lee"), message=text("what to say"))


@pytest.fixture
async def model() -> AsyncIterator[AnthropicModel]:
    async with offline_server() as url, asking(url) as model:
        yield model


@pytest.mark.parametrize(
    ("tool", "intent", "given"),
    [
        (DOG, "Which breed is the dog Rex Amber?", ["Rex Amber"]),
        (DOG, "Which breeds are the dogs Rex Amber and Fido Blue?", ["Rex Amber", "Fido Blue"]),
        (DOG, "Which dogs are there?", ["dogs"]),
        (FEED, "How much food does a dog of 31 kg need?", ["31 kg"]),
        (VET, "What was found at the vet, visit V-20 and visit V-31?", ["V-20", "V-31"]),
        (BREEDS, "Which breeds have the most patience?", ["patience"]),
        (BREEDS, "Rank the breeds by size and appetite", ["size", "appetite"]),
        (COMPARE, "Compare Rex Amber and Fido Blue", ["Rex Amber and Fido Blue"]),
    ],
)
async def test_a_tool_is_given_what_its_examples_look_like(
    model: AnthropicModel, tool: ToolSpec, intent: str, given: list[str]
) -> None:
    _, used = await converse(model, task(intent), kennel(tool))
    assert [next(iter(use["input"].values())) for use in used] == given


@pytest.mark.parametrize(
    ("intent", "tools"),
    [
        ("Which breed is the dog Rex Amber?", {"find_dog"}),
        ("How much food does a weight of 12 kg need?", {"feed_plan"}),
        ("Compare Rex Amber and Fido Blue", {"compare_dogs"}),
        ("Work out the food for 12 kg and look up the visit V-7 to the vet", {"feed_plan", "look_up_vet"}),
    ],
)
async def test_only_the_tools_that_suit_are_used(model: AnthropicModel, intent: str, tools: set[str]) -> None:
    _, used = await converse(model, task(intent), kennel(DOG, FEED, VET, COMPARE, CALL))
    assert {use["name"] for use in used} == tools


async def test_the_codes_of_earlier_results_are_taken_where_the_task_names_none(model: AnthropicModel) -> None:
    _, used = await converse(
        model, task("Look up what the vet found", "Two visits stand out: V-3 and V-9. [visits.csv]"), kennel(VET)
    )
    assert [use["input"]["visit"] for use in used] == ["V-3", "V-9"]


async def test_a_tool_that_acts_is_used_only_if_asked_for_and_after_the_rest(model: AnthropicModel) -> None:
    owner = "The owner of Rex Amber is Ann Lee [owners.csv]"
    _, idle = await converse(model, task("Who is the owner of the dog Rex Amber?"), kennel(DOG, CALL, said=owner))
    assert [use["name"] for use in idle] == ["find_dog"]
    asked = task(
        'Find the owner of the dog. Call her. The whole request: "Rex is out again: find the owner. Call her."'
    )
    _, used = await converse(model, asked, kennel(DOG, CALL, said="Ann Lee owns it [owners.csv]"))
    assert [use["name"] for use in used] == ["find_dog", "call_owner"]
    assert used[1]["input"] == {"owner": "Ann Lee", "message": "Rex is out again"}


async def test_a_tool_that_names_what_it_knows_is_asked_once_more(model: AnthropicModel) -> None:
    def known(arguments: dict[str, Any]) -> str:
        found = arguments["point"] == "barking"
        return "1. beagle [breeds.csv]" if found else "There is nothing on that. Topics: barking, digging."

    noise = spec("rank_noise", "Rank breeds by a point of conduct.", point=text("a point of conduct"))
    reply, used = await converse(model, task("Rank the breeds by their barking at night"), [(noise, known)])
    assert [use["input"]["point"] for use in used][1:] == ["barking"]
    assert "1. beagle [breeds.csv]" in reply.text
    assert "Topics" not in reply.text


async def test_an_empty_answer_is_told_as_what_was_not_found(model: AnthropicModel) -> None:
    reply, _ = await converse(
        model, task("Which breed is the dog Rex Amber?"), kennel(DOG, said="No dog is called so.")
    )
    assert "Nothing was found by find_dog: No dog is called so." in reply.text


async def test_the_tools_to_decline_and_to_report_are_left_alone(model: AnthropicModel) -> None:
    reply, used = await converse(
        model, task("Decline the task and report the finding on the dog Rex Amber"), kennel(DOG, *SPECS)
    )
    assert {use["name"] for use in used} == {"find_dog"}
    assert "Rex is a terrier [dogs.csv]" in reply.text


async def test_what_a_heading_says_counts_for_the_sentences_under_it(model: AnthropicModel) -> None:
    page = "# Rules\n\n## Opening hours\n\nFrom eight to six.\n\n## Prices\n\nTen euros a night."
    search = spec("search", "Search.", query="string")
    read = spec("read", "Read.", document="string")
    tools: list[tuple[ToolSpec, ToolFunction]] = [
        (search, lambda _: "rules.md — From eight to six."),
        (read, lambda _: page),
    ]
    reply, _ = await converse(model, task("What are the opening hours?"), tools)
    assert "- Opening hours: From eight to six. [rules.md]" in reply.text
    assert "Ten euros" not in reply.text


async def test_what_cannot_be_calculated_is_said(model: AnthropicModel) -> None:
    add = spec("work_out", "Work out an expression.", expression="string")
    search = spec("search", "Search.", query="string")
    tools: list[tuple[ToolSpec, ToolFunction]] = [(add, lambda _: "0"), (search, lambda _: "[]")]
    reply, _ = await converse(model, task("Work out the margin of the kennel"), tools)
    assert "Not calculated: what is needed to work out the margin of the kennel was not found." in reply.text


async def test_a_calculated_figure_is_not_looked_up_and_an_aside_is_left_out(model: AnthropicModel) -> None:
    check = spec("check", "Check one claim.", claim="string")
    before = (
        "- Growth of dogs: 50 percent ((3 - 2) / 2 * 100 = 50)\n- We had 3 dogs in 2025, in spite of the fire. [a.md]"
    )
    reply, used = await converse(model, task("Check the claims", before), [(check, lambda _: "contradicted")])
    assert [use["input"]["claim"] for use in used] == ["We had 3 dogs in 2025."]
    assert "calculated, so in no source: Growth of dogs: 50 percent" in reply.text


def test_names_codes_and_quantities_are_told_from_other_words() -> None:
    assert names("What does the Halcyon supply agreement say to Ada Quist?") == [
        "Halcyon supply agreement",
        "Ada Quist",
    ]
    assert names("Find the bug. Then write it down") == []
    assert codes("error E-207 of R2, not 2025") == ["E-207", "R2"]
    assert quantities("after 9 years at 59 euros") == ["9 years", "59 euros"]
    assert phrase("Find the trend of LDL for Dov Harlan") == "trend LDL Dov Harlan"


@pytest.mark.parametrize(
    ("task_id", "request_text", "shown"),
    [
        ("dogs-barking", "Find the dogs that are barking, and write a note", "Dogs that are barking"),
        ("food-rex", "What food does Rex get? How old is he?", "What food does Rex get?"),
        ("something-else", "What food does Rex get?", "Something else"),
    ],
)
def test_a_heading_is_the_part_of_the_request_that_a_task_stands_for(
    task_id: str, request_text: str, shown: str
) -> None:
    assert heading(task_id, request_text) == shown


def test_a_title_says_what_is_written_and_on_what() -> None:
    assert title("Write a report on the robot") == "Robot"
    assert title("Write a lesson plan", "Which exercises are there for Charts? Then write a lesson plan") == (
        "Lesson plan: Charts"
    )
    assert title("Draft a note to customers", "Parcels are too dear: find the bug, and draft a note to customers") == (
        "Note to customers: parcels are too dear"
    )
