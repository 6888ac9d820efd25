import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.teams import SHIPPED
from actors.tools import claims
from protocol.errors import ToolError

CHECK = claims.build(SHIPPED / "default" / "data")[0]


async def check(claim: str) -> list[str]:
    return (await CHECK.call({"claim": claim})).splitlines()


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Europe revenue was 2.52 million euros in Q4 2024", "revenue_by_region.csv"),
        ("Europe revenue was 2.5 million euros in Q4 2024", "revenue_by_region.csv"),
        ("Revenue was 22.25 million euros in 2025", "revenue_by_region.csv"),
        ("Revenue was 22.25 million euros in 2025", "strategy-memo-2026.md"),
        ("The unit cost of the Carrier C2 is 17,360 euros", "product_costs.csv"),
        ("The list price of the Carrier C2 is 28,000 euros", "pricing.md"),
        ("Customers in Europe opened nine charging tickets in August 2025", "support_tickets.csv"),
        ("The average hours to resolve a ticket in Europe was 28.4", "support_tickets.csv"),
        ("Asia-Pacific shipped 92 robots in 2025", "revenue_by_region.csv"),
        ("The market grows by 17% a year", "market-notes.md"),
        ("A public status page is done", "incident-2025-08-charging.md"),
        ("74 arms are in use at 19 customers", "product-notes.md"),
    ],
)
async def test_a_true_claim_is_supported_by_its_source(claim: str, source: str) -> None:
    verdict, *lines = await check(claim)
    assert verdict == "supported"
    assert any(line.startswith(f"for: [{source}] ") for line in lines)


@pytest.mark.parametrize(
    ("claim", "source", "shown"),
    [
        ("Revenue was 25 million euros in 2025", "revenue_by_region.csv", "22,250,000"),
        ("The unit cost of the Carrier C2 is 28,000 euros", "product_costs.csv", "17,360"),
        ("The unit cost of the Carrier C2 is 28,000 euros", "pricing.md", "unit cost 17,360 euros"),
        ("The payload of the Carrier C2 is 150 kg", "product-notes.md", "120 kg"),
        ("Customers in Europe opened 12 charging tickets in August 2025", "support_tickets.csv", "(9 rows): 9"),
        ("We won 44 of 56 deals in 2025", "competitor-notes.md", "41 of 56"),
        ("Credits of 96,000 euros were granted after the charging incident", "incident-2025-08-charging.md", "86,000"),
        (
            "The alarm when more than three robots fail to charge is done",
            "incident-2025-08-charging.md",
            "not done yet",
        ),
    ],
)
async def test_a_false_claim_is_contradicted_with_what_the_source_says(claim: str, source: str, shown: str) -> None:
    verdict, *lines = await check(claim)
    assert verdict == "contradicted"
    assert any(line.startswith(f"against: [{source}] ") and shown in line for line in lines)


@pytest.mark.parametrize("figure", ["2.73", "2.37"])
async def test_when_sources_disagree_both_are_shown(figure: str) -> None:
    verdict, *lines = await check(f"Europe revenue was {figure} million euros in Q3 2025")
    assert verdict == "contradicted: the sources disagree"
    assert [line.partition("]")[0] for line in sorted(lines)] == (
        ["against: [revenue_by_region.csv", "for: [strategy-memo-2026.md"]
        if figure == "2.73"
        else ["against: [strategy-memo-2026.md", "for: [revenue_by_region.csv"]
    )


@pytest.mark.parametrize(
    "claim",
    [
        "The chief executive owns a yacht",
        "Europe revenue was 2.4 million euros in Q1 2019",
        "Credits of 40,000 euros were granted in 2019",
        "The payload of the Carrier C9 is 120 kg",
        "Brightcart revenue was 3 million euros in 2025",
    ],
)
async def test_what_the_sources_do_not_speak_of_is_not_found(claim: str) -> None:
    assert (await check(claim))[0].startswith("not found")


async def test_a_claim_about_something_unheard_of_has_no_passages_at_all() -> None:
    assert await check("Zeppelins yodel") == ["not found: no document or table speaks of it"]


async def test_the_verdict_follows_the_data(tmp_path: Path) -> None:
    [checker] = claims.build(tmp_path)
    claim = {"claim": "The shop in Oslo sold 30 lamps"}
    assert (await checker.call(claim)).startswith("not found")
    (tmp_path / "note.txt").write_text("The shop in Oslo sold 30 lamps.")
    assert (await checker.call(claim)).startswith("supported\nfor: [note.txt]")
    (tmp_path / "note.txt").write_text("The shop in Oslo sold 20 lamps.")
    assert (await checker.call(claim)).startswith("contradicted\nagainst: [note.txt]")
    (tmp_path / "note.txt").unlink()
    (tmp_path / "sales.csv").write_text("shop,lamps_sold\nOslo,10\nOslo,20\nBergen,5\n")
    assert await checker.call(claim) == "supported\nfor: [sales.csv] sum of lamps_sold where shop = Oslo (2 rows): 30"


@pytest.mark.parametrize("claim", ["", " ", "?!", "42", "word " * 200])
async def test_what_is_not_one_claim_is_refused(claim: str) -> None:
    with pytest.raises(ToolError, match="one claim as one sentence"):
        await check(claim)


WORDS = ["Europe", "revenue", "2025", "Q3", "2.37", "million", "euros", "C2", "not", "9%", "-", "(", '"', "*", "grew"]


@given(st.text(max_size=120) | st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
async def test_no_claim_raises_anything_but_a_tool_error(claim: str) -> None:
    with contextlib.suppress(ToolError):
        assert (await CHECK.call({"claim": claim})).startswith(("supported", "contradicted", "not found"))
