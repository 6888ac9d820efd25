from pathlib import Path

import pytest

from actors.teams.launch import tools
from protocol.errors import ToolError
from tests.teams.calling import call, data_of

DATA = data_of("launch")
UNIT_COST = 8.40 + 6.10 + 1.20 + 2.30
FIXED = 96_000 + 28_000 + 120_000 + 16_000


async def test_the_segment_with_the_most_buyers_comes_first() -> None:
    found = await call(tools.market, DATA, "size_segments", "which segment is largest")
    assert found.splitlines()[0].startswith("weekend hikers: 532,000 likely buyers, 14 percent of 3,800,000 people")
    assert len(found.splitlines()) == 5


async def test_a_named_segment_stands_alone() -> None:
    found = await call(tools.market, DATA, "size_segments", "how many backpackers would buy")
    assert found == (
        "backpackers: 341,000 likely buyers, 31 percent of 1,100,000 people, fair price 64 euros, buy from online shops"
        " [segments.csv]"
    )


async def test_a_price_earns_what_fees_shipping_and_costs_leave() -> None:
    found = await call(tools.pricing, DATA, "price_points", "margin at 59 euros")
    shops = 59 * 0.6 - 0.80 - UNIT_COST
    mean = 0.35 * (59 * 0.97 - 4.50 - UNIT_COST) + 0.5 * shops + 0.15 * (59 * 0.85 - 4.50 - UNIT_COST)
    assert f"the outdoor shops leaves {shops:.2f} euros" in found
    assert f"{FIXED / mean:,.0f} bottles to break even" in found
    assert "At 59 euros 21 percent would buy [price_survey.csv]" in found


async def test_every_price_of_the_survey_is_shown_where_none_is_given() -> None:
    assert (await call(tools.pricing, DATA, "price_points", "what should it cost")).count("would buy") == 5


async def test_a_price_below_cost_never_breaks_even() -> None:
    assert "never breaks even" in await call(tools.pricing, DATA, "price_points", "10 euros")


async def test_a_price_of_nothing_is_refused() -> None:
    with pytest.raises(ToolError, match="a price must be above 0 euros"):
        await call(tools.pricing, DATA, "price_points", "0 euros")


async def test_the_milestone_that_is_planned_before_what_it_needs_is_named() -> None:
    found = await call(tools.schedule, DATA, "find_milestones", "everything")
    assert (
        "2026-W17, photos and film: owner Sam Iyer; needs first 5000 bottles; TOO EARLY for first 5000 bottles" in found
    )
    weeks = [line.split(",")[0] for line in found.splitlines()]
    assert (weeks, found.count("TOO EARLY")) == (sorted(weeks), 1)


async def test_a_need_that_nobody_has_planned_is_named(tmp_path: Path) -> None:
    (tmp_path / "milestones.csv").write_text("milestone,week,needs,owner\nlaunch,2026-W22,luck,Ann\n")
    assert "no milestone is called luck" in await call(tools.schedule, tmp_path, "find_milestones", "launch")


async def test_a_milestone_is_found_with_its_week_and_owner() -> None:
    found = await call(tools.schedule, DATA, "find_milestones", "when is the press release due")
    assert "2026-W20, press release: owner Sam Iyer; needs water test certificate [milestones.csv]" in found


@pytest.mark.parametrize(
    ("subject", "state"), [("bacteria", "allowed, say: Removes 99.9999"), ("viruses", "NOT allowed")]
)
async def test_a_claim_is_allowed_only_with_its_proof(subject: str, state: str) -> None:
    found = await call(tools.claims, DATA, "find_product_claims", subject)
    assert found.splitlines()[0].startswith(f"{subject}: {state}")


async def test_banned_words_are_found_whole_and_in_any_spelling() -> None:
    found = await call(tools.claims, DATA, "check_copy", "The BEST bottle: eco friendly, 100% yours. Purely tested.")
    assert [line.split("'")[1] for line in found.splitlines()] == ["100%", "eco-friendly", "best"]


async def test_copy_without_banned_words_passes() -> None:
    assert (await call(tools.claims, DATA, "check_copy", "Drink from the river.")).startswith("No word of the list")


def test_the_study_and_the_segments_speak_of_the_same_people() -> None:
    people = sum(int(line.split(",")[1]) for line in (DATA / "segments.csv").read_text().splitlines()[1:])
    assert f"About {people / 1e6:g} million people" in (DATA / "market" / "market-study.md").read_text()
