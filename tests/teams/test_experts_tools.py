from pathlib import Path

import pytest

from actors.teams.experts import tools
from protocol.errors import ToolError
from tests.teams.calling import call, data_of

DATA = data_of("experts")


@pytest.mark.parametrize(
    ("service", "months"),
    [("9 years", 3), ("after nine years of service", 3), ("0.5 years", 1), ("25", 7), ("exactly 10 years", 4)],
)
async def test_the_notice_is_that_of_the_last_step_reached(service: str, months: int) -> None:
    found = await call(tools.legal, DATA, "notice_period", service)
    assert f"the employer's notice is {months} months" in found


async def test_all_steps_are_shown_where_no_years_are_given() -> None:
    assert len((await call(tools.legal, DATA, "notice_period", "notice of an employee")).splitlines()) == 8


@pytest.mark.parametrize("asked", ["ibuprofen", "how much Ibuprofen may I take in a day"])
async def test_a_medicine_is_found_with_its_limits(asked: str) -> None:
    assert await call(tools.medical, DATA, "medicine_limits", asked) == (
        "ibuprofen: 400 mg at once, 1200 mg a day at most, not with stomach ulcer; kidney disease; late pregnancy"
        " [medical/medicines.csv]"
    )


async def test_a_device_is_found_by_kind_and_room() -> None:
    found = await call(tools.technical, DATA, "find_device", "the printer in hall 3")
    assert found.splitlines()[0].startswith("PR-02: Inkwell 600 printer in hall 3, bought 2024-06")


async def test_a_loan_costs_its_annuity() -> None:
    found = await call(tools.financial, DATA, "loan_cost", "what does the press line cost a month")
    monthly = 420_000 * 0.00325 / (1 - 1.00325**-84)
    assert f"{monthly:,.2f} euros a month" in found
    assert f"interest {monthly * 84 - 420_000:,.2f}" in found
    assert "solar" not in found


async def test_a_loan_without_interest_is_paid_in_equal_parts(tmp_path: Path) -> None:
    (tmp_path / "financial").mkdir()
    table = tmp_path / "financial" / "loans.csv"
    table.write_text("loan,amount_eur,yearly_rate_pct,years,lender\ngift,1200,0,1,Ann\n")
    assert "100.00 euros a month, interest 0.00, in all 1,200.00" in await call(
        tools.financial, tmp_path, "loan_cost", ""
    )


async def test_a_loan_that_runs_for_no_time_is_told(tmp_path: Path) -> None:
    (tmp_path / "financial").mkdir()
    table = tmp_path / "financial" / "loans.csv"
    table.write_text("loan,amount_eur,yearly_rate_pct,years,lender\ngift,1200,1,0,Ann\n")
    with pytest.raises(ToolError, match="gift runs for no time"):
        await call(tools.financial, tmp_path, "loan_cost", "gift")
