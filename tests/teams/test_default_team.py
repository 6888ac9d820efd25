from pathlib import Path

import pytest

from actors import teams
from actors.teams import SHIPPED
from actors.teams.team import Team
from protocol.errors import InvalidError

SAMPLE_DATA = SHIPPED / "default" / "data"

TOOLS = {
    "researcher": ["search_documents", "read_document"],
    "analyst": ["calculate", "list_tables", "query_tables"],
    "writer": ["format_document", "make_table"],
    "reviewer": ["check_claim"],
}


async def call(team: Team, worker: str, tool: str, **arguments: object) -> str:
    owner = team.worker(worker)
    found = owner.tool(tool) if owner else None
    assert found is not None
    return await found.call(arguments)


def test_four_workers_have_their_own_tools() -> None:
    team = teams.find("default")
    assert {worker.name: [tool.name for tool in worker.tools] for worker in team.workers} == TOOLS
    assert team.samples
    assert team.summary


def test_every_worker_is_told_to_cite_and_every_argument_is_explained() -> None:
    for worker in teams.find("default").workers:
        assert "as [name]" in worker.prompt
        for tool in worker.tools:
            assert all(argument["description"] for argument in tool.schema["properties"].values())


async def test_the_team_works_on_the_folder_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("The lamp costs 12 euros.")
    (tmp_path / "sales.csv").write_text("item,sold\nlamp,3\n")
    team = teams.find("default", tmp_path)
    assert await call(team, "researcher", "search_documents", query="lamp") == "note.md — The lamp costs 12 euros."
    assert await call(team, "analyst", "query_tables", sql="SELECT sold FROM sales") == "sold\n3"
    assert (await call(team, "reviewer", "check_claim", claim="The lamp costs 12 euros")).startswith("supported")


@pytest.mark.parametrize(("name", "state"), [("gone", "does not exist"), ("file.md", "is not a folder")])
def test_a_data_folder_that_is_none_is_refused(tmp_path: Path, name: str, state: str) -> None:
    (tmp_path / "file.md").write_text("x")
    with pytest.raises(InvalidError, match=f"{name}' {state}"):
        teams.find("default", tmp_path / name)


def test_the_sample_data_is_there_and_worth_asking() -> None:
    names = {path.suffix: [] for path in SAMPLE_DATA.iterdir()} | {
        suffix: sorted(path.name for path in SAMPLE_DATA.glob(f"*{suffix}")) for suffix in (".md", ".csv")
    }
    assert len(names[".md"]) == 10
    assert names[".csv"] == ["product_costs.csv", "revenue_by_region.csv", "support_tickets.csv"]
    assert set(names) == {".md", ".csv"}


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("SELECT SUM(revenue_eur) FROM revenue_by_region WHERE quarter LIKE '2024%'", "17380000"),
        ("SELECT SUM(revenue_eur) FROM revenue_by_region WHERE quarter LIKE '2025%'", "22250000"),
        ("SELECT SUM(unit_cost_eur) FROM product_costs WHERE product = 'Carrier C2'", "17360"),
        ("SELECT SUM(unit_cost_eur) FROM product_costs WHERE product = 'Picker P1'", "34100"),
        ("SELECT SUM(unit_cost_eur) FROM product_costs WHERE product = 'Dock D1'", "1820"),
        ("SELECT COUNT(*) FROM support_tickets WHERE category = 'charging' AND opened LIKE '2025-08%'", "9"),
        ("SELECT COUNT(*) FROM support_tickets WHERE category = 'outage' AND region = 'North America'", "6"),
    ],
)
async def test_the_tables_hold_what_the_documents_say(sql: str, value: str) -> None:
    assert (await call(teams.find("default"), "analyst", "query_tables", sql=sql)).splitlines()[1] == value


async def test_the_planted_contradiction_is_there_and_can_be_found() -> None:
    team = teams.find("default")
    memo = await call(team, "researcher", "read_document", name="strategy-memo-2026.md")
    assert "Europe revenue was 2.73 million euros in Q3 2025" in memo
    sql = "SELECT revenue_eur FROM revenue_by_region WHERE quarter = '2025-Q3' AND region = 'Europe'"
    assert await call(team, "analyst", "query_tables", sql=sql) == "revenue_eur\n2370000"
