from pathlib import Path

import pytest

from actors.teams.portfolio import tools
from protocol.errors import ToolError
from tests.teams.calling import call, data_of

DATA = data_of("portfolio")


async def test_the_weights_of_a_portfolio_are_held_against_its_policy() -> None:
    found = await call(tools.allocations, DATA, "allocation", "what is the allocation of the lindqvist family")
    value = 1200 * 118 + 900 * 102 + 1000 * 35 + 650 * 27 + 18_000
    assert f"Lindqvist family: portfolio worth {value:,} euros under the policy balanced" in found
    equity = 100 * (1200 * 118 + 1000 * 35) / value
    assert f"or {equity:.1f} percent, target 50 percent, outside the band of 5 points" in found
    assert "Osei" not in found


async def test_every_client_is_shown_where_none_is_named() -> None:
    assert (await call(tools.allocations, DATA, "allocation", "everybody")).count("portfolio worth") == 3


@pytest.mark.parametrize(
    ("instrument", "gain"),
    [("Copperline Mining", "-30.0"), ("polaris", "+18.0"), ("return of the hearth trust", "-10.0")],
)
async def test_the_return_follows_from_the_first_and_the_last_price(instrument: str, gain: str) -> None:
    found = await call(tools.performance, DATA, "price_performance", instrument)
    assert f"returned {gain} percent from " in found
    assert len(found.splitlines()) == 1


async def test_trades_bring_each_class_outside_its_band_back_to_its_target() -> None:
    found = await call(tools.proposals, DATA, "propose_trades", "Varga endowment")
    value = 1900 * 118 + 1500 * 46 + 700 * 35 + 300 * 51.2 + 9_500
    assert f"sell {1900 * 118 + 1500 * 46 + 700 * 35 - 0.8 * value:,.0f} euros of equity" in found
    assert f"buy {0.15 * value - 300 * 51.2:,.0f} euros of bonds" in found


async def test_a_single_share_above_its_limit_is_to_be_sold_down() -> None:
    found = await call(tools.proposals, DATA, "propose_trades", "Lindqvist")
    assert "of Copperline Mining, because a single share is at 11.5 percent, limit 10 percent" in found


async def test_a_holding_without_a_price_is_named(tmp_path: Path) -> None:
    (tmp_path / "clients.csv").write_text("client,policy,cash_eur\nAnn,careful,1\n")
    (tmp_path / "prices.csv").write_text("date,instrument,price_eur\n2026-01-01,Gold,5\n")
    (tmp_path / "holdings.csv").write_text("client,instrument,units\nAnn,Silver,3\n")
    with pytest.raises(ToolError, match=r"prices\.csv has no price of 'Silver': add one"):
        await call(tools.allocations, tmp_path, "allocation", "Ann")
