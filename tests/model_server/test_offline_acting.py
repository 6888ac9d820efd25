"""A tool that does something is used only if the task asks for that act and says all that it needs."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from actors.model.anthropic_api import AnthropicModel
from actors.model.port import ToolSpec
from actors.model_server.serve import offline_server
from tests.model.asking import ToolFunction, asking, converse, spec

COUNT = spec("count_bikes", "Count the bikes of one kind in the shed.", kind="string")
CRASH = spec("crash_shed", "Crash the shed.")
DELETE = spec("delete_file", "Delete one file.", path="string")
NOTE = spec("send_note", "Send a note to somebody outside.", to="string", text="string")
PAY = spec("pay_bill", "Pay a bill.", amount="number")
ADD = spec("add", "Add two numbers.", a="integer", b="integer")


def text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


ROTA = spec("find_on_call", "Find who is on call in the rota of an area.", area=text("accounts or sync"))
LEVEL = spec("service_level", "Find the level of tickets.", ticket=text("a customer, such as Dunmore Clinic"))
PAGE = spec(
    "page_person",
    "Page a person at once.",
    person=text("the name of the person, such as Ann Lee or accounts"),
    message=text("what is wrong"),
)
TICKET = "S-2048 of Dunmore Clinic, open: nobody can sign in, page the person on call [levels.csv]"


def shed(*tools: ToolSpec) -> list[tuple[ToolSpec, ToolFunction]]:
    return [(one, lambda _: "4 bikes [shed.csv]") for one in tools]


def task(intent: str, *results: str) -> str:
    quoted = "".join(f'<result task="t{n}" worker="w">\n{one}\n</result>' for n, one in enumerate(results))
    return f"<task>\n{intent}\n</task>\n\n<context>\n{quoted}\n</context>"


@pytest.fixture
async def model() -> AsyncIterator[AnthropicModel]:
    async with offline_server() as url, asking(url) as model:
        yield model


@pytest.mark.parametrize(
    ("intent", "tools"),
    [
        ("How many tandem bikes are in the shed?", ["count_bikes"]),
        ("Which bikes are in notes.txt?", ["count_bikes"]),
        ("Why did the shed crash?", ["count_bikes"]),
        ("If there are no bikes, crash the shed", ["count_bikes"]),
        ("Crash the shed", ["crash_shed"]),
        ("Please delete notes.txt", ["delete_file"]),
        ("Count the bikes, and crash the shed", ["count_bikes", "crash_shed"]),
        ("What is the weather in Lisbon?", []),
    ],
)
async def test_what_acts_is_used_only_if_that_act_is_asked_for(
    model: AnthropicModel, intent: str, tools: list[str]
) -> None:
    _, used = await converse(model, task(intent), shed(COUNT, CRASH, DELETE, NOTE))
    assert [use["name"] for use in used] == tools


@pytest.mark.parametrize(
    ("intent", "given"),
    [
        ("Send Ada a note that the shed is full", {"to": "Ada", "text": "the shed is full"}),
        ("Send a note to Ada Quist: the shed is full", {"to": "Ada Quist", "text": "the shed is full"}),
        ('Send the note "Dinner at six" to bob@example.com', {"to": "bob@example.com", "text": "Dinner at six"}),
        ("The shed is full again. Send a note to the tenants", {"to": "tenants", "text": "The shed is full again"}),
    ],
)
async def test_whom_and_what_are_told_apart(model: AnthropicModel, intent: str, given: dict[str, str]) -> None:
    _, used = await converse(model, task(intent), shed(NOTE))
    assert [use["input"] for use in used] == [given]


@pytest.mark.parametrize(
    ("tool", "intent", "lost"),
    [
        (NOTE, "Send a note", "to and text"),
        (NOTE, "Send a note to Ada", "text"),
        (NOTE, "Send a note that the shed is full", "to"),
        (PAY, "Pay the bill", "amount"),
        (ADD, "Add 7", "b"),
    ],
)
async def test_what_is_not_said_is_not_guessed(model: AnthropicModel, tool: ToolSpec, intent: str, lost: str) -> None:
    reply, used = await converse(model, task(intent), shed(tool))
    assert used == []
    assert f"{tool.name} was not used: it is not clear what to give for {lost}." in reply.text


@pytest.mark.parametrize(("intent", "given"), [("Add 20 and 22", (20, 22)), ("Add 5 and 5", (5, 5))])
async def test_each_number_is_given_once(model: AnthropicModel, intent: str, given: tuple[int, int]) -> None:
    _, used = await converse(model, task(intent), shed(ADD))
    assert [(use["input"]["a"], use["input"]["b"]) for use in used] == [given]


async def test_each_word_goes_to_one_parameter(model: AnthropicModel) -> None:
    weather = spec("weather", "Tell the weather of a city.", city=text("such as Oslo"), day=text("such as Monday"))
    translate = spec("translate", "Translate a text.", text="string", language=text("such as French"))
    _, used = await converse(model, task("What is the weather in Lisbon on Tuesday?"), shed(weather))
    assert [use["input"] for use in used] == [{"city": "Lisbon", "day": "Tuesday"}]
    _, used = await converse(model, task("Translate good morning to German"), shed(translate))
    assert [use["input"] for use in used] == [{"text": "good morning", "language": "German"}]


async def test_what_earlier_tasks_found_is_sent_where_the_act_speaks_of_it(model: AnthropicModel) -> None:
    _, used = await converse(model, task("Send the summary to bob@example.com", "Sales rose. [a.md]"), shed(NOTE))
    assert [use["input"] for use in used] == [{"to": "bob@example.com", "text": "Sales rose. [a.md]"}]


async def paged(model: AnthropicModel, asked: str, rota: str) -> tuple[str, list[dict[str, Any]]]:
    tools: list[tuple[ToolSpec, ToolFunction]] = [
        (LEVEL, lambda _: TICKET),
        (ROTA, lambda _: rota),
        (PAGE, lambda given: f"{given['person']} was paged"),
    ]
    reply, used = await converse(model, asked, tools)
    return reply.text, [use["input"] for use in used if use["name"] == "page_person"]


WANTED = "Nobody at Dunmore Clinic can sign in: who is on call in the rota for accounts? Page that person"
PIET = "Piet Bakker is on call for accounts, backup Hana Sato [rota.csv]"
MINA = "Mina Roth is on call for accounts, backup Luis Ferro [rota.csv]"


async def test_who_was_found_is_paged_and_not_who_was_named_before(model: AnthropicModel) -> None:
    _, pages = await paged(model, task(WANTED), PIET)
    assert pages == [{"person": "Piet Bakker", "message": "Nobody at Dunmore Clinic can sign in"}]


async def test_who_was_found_by_an_earlier_task_is_paged(model: AnthropicModel) -> None:
    asked = f'Page that person. The whole request: "{WANTED}"'
    _, pages = await paged(model, task(asked, PIET), "Nothing was found.")
    assert pages == [{"person": "Piet Bakker", "message": "Nobody at Dunmore Clinic can sign in"}]


async def test_nobody_is_paged_where_two_may_be_meant(model: AnthropicModel) -> None:
    asked = f'Page that person. The whole request: "{WANTED}"'
    said, pages = await paged(model, task(asked, PIET, MINA), "Nothing was found.")
    assert pages == []
    assert "page_person was not used: it is not clear what to give for person." in said
