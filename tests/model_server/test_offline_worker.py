"""A worker uses whatever tools it is given, with sensible arguments, and says what came of it."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from actors.model.anthropic_api import AnthropicModel
from actors.model.port import ToolSpec
from actors.model_server.offline import NOTE
from actors.model_server.serve import offline_server
from tests.model.asking import ToolFunction, asking, converse, spec

SEARCH = spec("look_up", "Search the archive.", query="string")
READ = spec("fetch", "Get one whole paper.", document="string")
ADD = spec("work_out", "Work out an expression.", expression="string")
TABLES = spec("what_tables", "List the tables.")
SQL = spec("ask_database", "Run a query.", sql="string")
CLAIM = spec("is_it_so", "Check one claim.", claim="string")
PAPER = spec(
    "lay_out",
    "Lay out a paper.",
    title="string",
    sections={
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"heading": {"type": "string"}, "body": {"type": "string"}},
            "required": ["heading", "body"],
        },
    },
)


@pytest.fixture
async def model() -> AsyncIterator[AnthropicModel]:
    async with offline_server() as url, asking(url) as model:
        yield model


def task(intent: str, *results: tuple[str, str]) -> str:
    quoted = "".join(f'<result task="{name}" worker="w">\n{text}\n</result>' for name, text in results)
    context = f"<context>\n{quoted}\n</context>" if results else ""
    return f"<task>\n{intent}\n</task>\n\n<success>\nIt is done.\n</success>\n\n{context}"


ARCHIVE = {
    "leave.md": "# Leave\n\nThe leave policy gives every employee 25 days of holiday a year.\nTea is free.",
    "travel.md": "# Travel\n\nThe travel policy allows second class trains only. Taxis need approval.",
    "menu.md": "# Menu\n\nOn Mondays there is soup.",
}


def search(arguments: dict[str, Any]) -> str:
    words = arguments["query"].lower().split()
    found = {name: text for name, text in ARCHIVE.items() if any(word in text.lower() for word in words)}
    passages = [f"{name} — {text.splitlines()[2]}" for name, text in found.items()]
    return "\n".join(passages) or "Nothing was found."


def read(arguments: dict[str, Any]) -> str:
    if arguments["document"] not in ARCHIVE:
        raise ValueError(f"there is no {arguments['document']}")
    return ARCHIVE[arguments["document"]]


async def test_it_searches_reads_what_it_found_and_quotes_it_with_its_source(model: AnthropicModel) -> None:
    reply, used = await converse(
        model, task("Find what the leave policy says about holiday"), [(SEARCH, search), (READ, read)]
    )
    assert [use["name"] for use in used][:2] == ["look_up", "fetch"]
    assert "leave" in used[0]["input"]["query"]
    assert "find" not in used[0]["input"]["query"], "what to do is not what to look for"
    assert used[1]["input"] == {"document": "leave.md"}
    assert "25 days of holiday a year. [leave.md]" in reply.text
    assert "Tea is free" not in reply.text
    assert reply.text.endswith(NOTE)
    assert reply.stop_reason == "end_turn"


async def test_two_subjects_are_looked_up_side_by_side(model: AnthropicModel) -> None:
    reply, used = await converse(
        model, task("Find the leave policy rules and the travel policy rules"), [(SEARCH, search), (READ, read)]
    )
    queries = [use["input"]["query"] for use in used if use["name"] == "look_up"]
    assert queries == ["leave policy rules", "travel policy rules"]
    assert "[leave.md]" in reply.text
    assert "[travel.md]" in reply.text


async def test_what_nobody_wrote_about_is_said_to_be_missing_after_a_second_look(model: AnthropicModel) -> None:
    reply, used = await converse(
        model, task("Find the zeppelin maintenance schedule"), [(SEARCH, search), (READ, read)]
    )
    assert [use["name"] for use in used] == ["look_up", "look_up"]
    assert used[0]["input"] != used[1]["input"]
    assert "No document mentions zeppelin, maintenance, schedule" in reply.text


@pytest.mark.parametrize(
    "output",
    [
        "leave.md — 25 days of holiday for leave",
        "[leave.md]: 25 days of holiday for leave",
        "1. leave.md - 25 days of holiday for leave",
        json.dumps([{"title": "leave.md", "snippet": "25 days of holiday for leave"}]),
    ],
)
async def test_names_are_found_however_a_search_prints_them(model: AnthropicModel, output: str) -> None:
    _, used = await converse(model, task("Find the leave holiday rules"), [(SEARCH, lambda _: output), (READ, read)])
    assert {"document": "leave.md"} in [use["input"] for use in used if use["name"] == "fetch"]


@pytest.mark.parametrize(
    ("intent", "expression"),
    [
        ("Calculate 12 * (3 + 4)", "12 * (3 + 4)"),
        ("What is 15% of 2,400?", "2400 * 15 / 100"),
        ("What is the growth from 120 to 150?", "(150 - 120) / 120 * 100"),
        ("Work out the average of 3, 5 and 10", "(3 + 5 + 10) / 3"),
        ("What is 7 plus 8?", "7 + 8"),
        ("Calculate 2^10 - 1", "2**10 - 1"),
    ],
)
async def test_a_calculation_that_is_spelled_out_is_done_as_it_stands(
    model: AnthropicModel, intent: str, expression: str
) -> None:
    reply, used = await converse(model, task(intent), [(ADD, lambda _: "42.5"), (TABLES, lambda _: "")])
    assert [use["input"] for use in used] == [{"expression": expression}]
    assert f"{expression} = 42.5" in reply.text


async def test_figures_in_earlier_results_are_calculated_with(model: AnthropicModel) -> None:
    before = "- Revenue was 4.2 million euros in 2023. [a.md]\n- Revenue was 5.1 million euros in 2024. [b.md]"
    reply, used = await converse(
        model, task("Calculate the growth of revenue", ("figures", before)), [(ADD, lambda _: "21.43")]
    )
    assert used[0]["input"] == {"expression": "(5100000 - 4200000) / 4200000 * 100"}
    assert "21.43 percent" in reply.text


async def test_figures_that_are_not_alike_are_not_mixed(model: AnthropicModel) -> None:
    before = "The robot weighs 120 kg in 2023. The robot costs 28000 euros in 2024."
    _, used = await converse(model, task("What is the growth of the robot?", ("f", before)), [(ADD, lambda _: "1")])
    assert used == []


LISTING = "sales (sales.csv), 8 rows: quarter TEXT, region TEXT, revenue INTEGER; first row: 2023-Q1, North, 10"
VALUES = {"quarter": ["2023-Q1", "2024-Q1"], "region": ["North", "South", "Far East"]}


def database(arguments: dict[str, Any]) -> str:
    statement: str = arguments["sql"]
    for column, values in VALUES.items():
        if statement.startswith(f"SELECT DISTINCT {column} "):
            return "\n".join([column, *values])
    return "year | region | total_revenue\n2023 | North | 10\n2024 | North | 15"


async def asked_in_sql(model: AnthropicModel, intent: str) -> str:
    _, used = await converse(model, task(intent), [(TABLES, lambda _: LISTING), (SQL, database)])
    assert used[0]["name"] == "what_tables"
    return str(used[-1]["input"]["sql"])


@pytest.mark.parametrize(
    ("intent", "parts"),
    [
        ("What is the total revenue by region?", ["SUM(revenue)", "GROUP BY region"]),
        ("What was the average revenue in the Far East?", ["AVG(revenue)", "region IN ('Far East')"]),
        ("Which region had the highest revenue in 2024?", ["IN ('2024')", "DESC"]),
        ("Which region grew fastest?", ["substr(quarter, 1, 4) AS year", "GROUP BY substr(quarter, 1, 4), region"]),
        ("How many sales were there in the South?", ["COUNT(*)", "'South'"]),
        ("Compare sales revenue of North and South in 2023 and 2024", ["'North', 'South'", "'2023', '2024'"]),
    ],
)
async def test_sql_is_made_of_the_listing_the_values_and_the_words(
    model: AnthropicModel, intent: str, parts: list[str]
) -> None:
    statement = await asked_in_sql(model, intent)
    for part in parts:
        assert part in statement


async def test_growth_is_queried_by_year_and_then_calculated(model: AnthropicModel) -> None:
    tools: list[tuple[ToolSpec, ToolFunction]] = [
        (TABLES, lambda _: LISTING),
        (SQL, database),
        (ADD, lambda arguments: f"{arguments['expression']} = 50"),
    ]
    reply, used = await converse(model, task("How did revenue of the North grow in 2024?"), tools)
    assert used[-1]["input"] == {"expression": "(15 - 10) / 10 * 100"}
    assert "Growth of North: 50 percent" in reply.text
    assert "2024, North: total revenue 15 [sales.csv]" in reply.text


@pytest.mark.parametrize(
    "listing",
    [
        "sales(region TEXT, revenue INTEGER)",
        "- sales: region, revenue",
        "CREATE TABLE sales (region TEXT, revenue INT)",
    ],
)
async def test_tables_are_read_however_they_are_listed(model: AnthropicModel, listing: str) -> None:
    _, used = await converse(model, task("Total revenue by region"), [(TABLES, lambda _: listing), (SQL, database)])
    assert "FROM sales GROUP BY region" in used[-1]["input"]["sql"]


async def test_a_query_that_fails_is_tried_once_more_plainly_and_then_reported(model: AnthropicModel) -> None:
    def broken(arguments: dict[str, Any]) -> str:
        if "DISTINCT" in arguments["sql"]:
            return database(arguments)
        raise ValueError("no such column")

    reply, used = await converse(model, task("Total revenue by region"), [(TABLES, lambda _: LISTING), (SQL, broken)])
    statements = [str(use["input"].get("sql", "")) for use in used]
    asked = [statement for statement in statements if statement and "DISTINCT" not in statement]
    assert len(asked) == 2
    assert asked[-1] == "SELECT * FROM sales LIMIT 20"
    assert "could not be used: no such column" in reply.text


async def test_claims_are_taken_from_the_context_and_checked_all_at_once(model: AnthropicModel) -> None:
    before = "- The robot weighs 20 kg. [a.md]\n- It is blue.\n- It costs 300 euros in total. [b.md]"
    reply, used = await converse(
        model, task("Check the claims", ("facts", before)), [(CLAIM, lambda _: "supported\nfor: [a.md] see there")]
    )
    assert [use["input"]["claim"] for use in used] == ["The robot weighs 20 kg.", "It costs 300 euros in total."]
    assert "- supported: The robot weighs 20 kg. [a.md]" in reply.text
    assert "- Checked 2 claims: 2 supported." in reply.text


async def test_a_claim_in_the_intent_is_checked_by_itself(model: AnthropicModel) -> None:
    _, used = await converse(model, task("Check whether the robot weighs 20 kg"), [(CLAIM, lambda _: "not found")])
    assert [use["input"]["claim"] for use in used] == ["the robot weighs 20 kg"]


async def test_the_words_that_ask_for_a_check_are_not_checked_themselves(model: AnthropicModel) -> None:
    _, used = await converse(model, task("Check every figure in the strategy memo"), [(CLAIM, lambda _: "not found")])
    assert used == []


async def test_a_document_is_made_of_the_context_and_handed_over_as_it_was_laid_out(model: AnthropicModel) -> None:
    intent = "Write a report on the robot, from the results of the tasks before this one."
    reply, used = await converse(
        model,
        task(intent, ("weight-of-robot", "It weighs 20 kg. [a.md]"), ("gap", "No document mentions wings.")),
        [(PAPER, lambda arguments: f"# {arguments['title']}\n\nlaid out")],
    )
    assert used[0]["input"] == {
        "title": "Robot",
        "sections": [
            {"heading": "Weight of robot", "body": "It weighs 20 kg. [a.md]"},
            {"heading": "Open points", "body": "- No document mentions wings."},
        ],
    }
    assert reply.text == f"# Robot\n\nlaid out\n\n{NOTE}"


async def test_without_tools_a_text_is_made_of_the_context(model: AnthropicModel) -> None:
    reply, _ = await converse(model, task("Write a report on the robot", ("weight", "It weighs 20 kg. [a.md]")), [])
    assert "## Weight" in reply.text
    assert "It weighs 20 kg. [a.md]" in reply.text


async def test_with_nothing_to_go_by_it_says_so(model: AnthropicModel) -> None:
    reply, _ = await converse(model, task("Write a poem"), [])
    assert "could not be done: Write a poem" in reply.text


async def test_a_tool_of_no_known_shape_gets_the_smallest_input_that_is_valid(model: AnthropicModel) -> None:
    pick = spec(
        "pick_lock",
        "Pick a lock.",
        brand={"type": "string", "enum": ["Abus", "Yale"]},
        pins={"type": "integer", "minimum": 3},
        slowly="boolean",
        tags={"type": "array", "items": {"type": "string"}, "minItems": 2},
        owner={"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        share={"type": "number", "maximum": 0.5},
        nothing={"anyOf": [{"type": "null"}, {"type": "integer"}]},
    )
    reply, used = await converse(model, task("Open the Yale lock with 5 pins"), [(pick, lambda _: "open")])
    assert len(used) == 1
    given = used[0]["input"]
    assert (given["brand"], given["pins"], given["slowly"], given["nothing"]) == ("Yale", 5, False, 5)
    assert len(given["tags"]) == 2
    assert isinstance(given["owner"]["name"], str)
    assert given["share"] <= 0.5
    assert "open [pick_lock]" in reply.text


async def test_a_tool_that_only_fails_ends_the_work_and_is_named(model: AnthropicModel) -> None:
    def broken(_: dict[str, Any]) -> str:
        raise ValueError("out of order")

    for one in (SEARCH, READ, ADD, SQL, CLAIM, PAPER, TABLES, spec("other", "Do something.", a="integer", b="string")):
        reply, used = await converse(
            model, task("Calculate 1 + 2 for the claim in paper.md", ("x", "5 of 7.")), [(one, broken)]
        )
        assert len(used) <= 3, one.name
        if used:
            assert f"{one.name} could not be used: out of order" in reply.text


async def test_a_tool_that_always_has_more_to_say_does_not_keep_it_for_ever(model: AnthropicModel) -> None:
    endless: list[tuple[ToolSpec, ToolFunction]] = [
        (spec(f"tool_{n}", "Look.", query="string"), lambda _: "nothing") for n in range(12)
    ]
    reply, _ = await converse(model, task("Look for the holy grail of testing"), endless)
    assert reply.text.endswith(NOTE)


async def test_lines_that_name_their_sources_are_quoted_one_by_one(model: AnthropicModel) -> None:
    weigh = spec("weigh_parcel", "Weigh a parcel.", parcel="string")
    said = "The box weighs 5 kg [box.csv]\nThe bag weighs 2 kg. It is open [bag.csv, more/list.md]\n   loose end"
    reply, _ = await converse(model, task("Weigh the parcel"), [(weigh, lambda _: said)])
    assert reply.text.splitlines()[:3] == [
        "- The box weighs 5 kg [box.csv]",
        "- The bag weighs 2 kg. It is open [bag.csv, more/list.md]",
        "     loose end",
    ]


async def test_a_writer_with_tools_of_its_own_writes_what_they_gave(model: AnthropicModel) -> None:
    weigh = spec("weigh_parcel", "Weigh a parcel.", parcel="string")
    tools: list[tuple[ToolSpec, ToolFunction]] = [(weigh, lambda _: "5 kg [box.csv]"), (PAPER, json.dumps)]
    _, used = await converse(model, task("Write about the parcel", ("size", "It is large. [a.md]")), tools)
    (paper,) = [use["input"] for use in used if use["name"] == "lay_out"]
    assert [part["heading"] for part in paper["sections"]] == ["Size", "Weigh parcel"]
    assert paper["sections"][1]["body"] == "- 5 kg [box.csv]"


async def test_neither_a_code_that_was_found_nor_a_verb_is_said_to_be_missing(model: AnthropicModel) -> None:
    found = {"guide.md": "# Guide\n\nError E-207 means that the index is damaged."}
    reply, _ = await converse(
        model,
        task('Find error E-207 of the index, with regard to: "Work out the damage"'),
        [(SEARCH, lambda _: f"guide.md — {found['guide.md'].splitlines()[2]}")],
    )
    assert "Error E-207 means that the index is damaged. [guide.md]" in reply.text
    assert "No document mentions" not in reply.text


async def test_a_code_is_the_same_with_its_dash_and_without(model: AnthropicModel) -> None:
    tools: list[tuple[ToolSpec, ToolFunction]] = [(SEARCH, lambda _: "guide.md — Error E-207 means a damaged index.")]
    reply, _ = await converse(model, task("Who invented e207?"), tools)
    assert "No document mentions" not in reply.text
