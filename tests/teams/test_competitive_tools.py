import pytest

from actors.teams.competitive import tools
from protocol.errors import ToolError
from tests.teams.calling import call, data_of

DATA = data_of("competitive")


async def test_two_products_stand_side_by_side_with_the_leader_of_each_point() -> None:
    found = await call(tools.comparison, DATA, "compare_products", "Brisk Cargo against the mulo")
    assert "range km: Brisk Cargo 80, Mulo Duo 95; Mulo Duo leads [specs.csv]" in found
    assert "payload kg: Brisk Cargo 110, Mulo Duo 80; Brisk Cargo leads [specs.csv]" in found
    assert "Haulier" not in found


async def test_only_the_points_that_are_named_are_compared() -> None:
    found = await call(tools.comparison, DATA, "compare_products", "Brisk Cargo and Mulo Duo on range and payload")
    assert [line.split(":")[0] for line in found.splitlines()] == ["payload kg", "range km"]


async def test_less_weight_is_better() -> None:
    found = await call(tools.comparison, DATA, "rank_products", "weight")
    assert found.splitlines()[0] == "1. Packet Compact with 26 kg [specs.csv]"


async def test_all_products_are_compared_where_only_one_is_named() -> None:
    assert "Packet Compact 70" in await call(tools.comparison, DATA, "compare_products", "Brisk Cargo")


@pytest.mark.parametrize("asked", ["range", "which product has the longest range"])
async def test_products_are_ranked_by_a_point(asked: str) -> None:
    found = await call(tools.comparison, DATA, "rank_products", asked)
    assert [line.split(" with ")[0] for line in found.splitlines()[:2]] == ["1. Mulo Duo", "2. Brisk Cargo"]


async def test_a_point_nobody_measured_is_told_with_those_there_are() -> None:
    with pytest.raises(ToolError, match=r"there is no point 'colour'\. The points are: wheels, payload_kg"):
        await call(tools.comparison, DATA, "rank_products", "colour")


async def test_a_price_is_followed_over_its_months() -> None:
    found = await call(tools.prices, DATA, "price_history", "How did the Lento Family move?")
    change = 100 * (4590 / 5290 - 1)
    assert f"Lento Family costs 4,590 euros in 2026-05, -700 euros or {change:+.1f} percent since 2025-06" in found
    assert "45.90 euros per kg of payload" in found


async def test_reviews_are_summed_up_with_their_worst_first() -> None:
    found = await call(tools.opinions, DATA, "review_summary", "what do buyers of the Mulo Duo say")
    assert "Mulo Duo has 3.75 stars from 4 reviews" in found
    assert "Waited four weeks for a motor part" in found.splitlines()[1]


async def test_reviews_are_found_by_topic_over_all_products() -> None:
    found = await call(tools.opinions, DATA, "review_summary", "service")
    assert {line.split(" has ")[0] for line in found.splitlines() if " has " in line} == {
        "Brisk Cargo",
        "Mulo Duo",
        "Haulier One",
    }


def test_the_sheets_say_what_the_specifications_say() -> None:
    for line in (DATA / "specs.csv").read_text().splitlines()[1:]:
        name, _, _, payload, reach, battery, torque, *_ = line.split(",")
        sheet = (DATA / "sheets" / f"{name.lower().replace(' ', '-')}.md").read_text()
        for figure in (f"{payload} kg", f"{reach} km", f"{int(battery):,} Wh", f"{torque} newton metres"):
            assert figure in sheet, f"{name}: {figure}"
