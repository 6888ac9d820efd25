"""Tools of the experts: notice by years of service, limits of medicines, devices, and what a loan costs."""

import re
from pathlib import Path

from actors.tools.matching import mentioned, nearest
from actors.tools.records import Record, read_records
from actors.tools.tool import Tool, tool
from protocol.errors import ToolError

_YEARS = re.compile(r"(\d+(?:\.\d+)?)\s*-?\s*years?", re.IGNORECASE)
_SPELLED = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_NUMBER_WORDS = {word: number for number, word in enumerate(_SPELLED.split(" "))}


def legal(folder: Path) -> list[Tool]:
    """`notice_period` over the steps of a folder."""

    @tool
    def notice_period(service: str) -> str:
        """Find the notice that the employer must give, by the years of service of the employee.

        Args:
            service: the years of service, such as 9 years; all steps if no number is given
        """
        steps = read_records(folder, "legal/notice_periods.csv", ("service_years_from", "notice_months"))
        years = _years(service)
        if years is None:
            return "\n".join(
                f"From {row['service_years_from']} years of service: {row['notice_months']} months [{row.source}]"
                for row in steps
            )
        step = max((row for row in steps if row.number("service_years_from") <= years), key=_from, default=None)
        if step is None:
            raise ToolError(f"there is no step for {years:g} years of service in legal/notice_periods.csv")
        due = f"the employer's notice is {step['notice_months']} months"
        since = f"the step from {step['service_years_from']} years"
        return f"After {years:g} years of service {due}, {since} [{step.source}]"

    return [notice_period]


def medical(folder: Path) -> list[Tool]:
    """`medicine_limits` over the medicines of a folder."""

    @tool
    def medicine_limits(medicine: str) -> str:
        """Find the limits of a medicine without prescription: single dose, most in a day, and when not to take it.

        Args:
            medicine: its name, such as ibuprofen; all of them if none is named
        """
        known = read_records(
            folder, "medical/medicines.csv", ("medicine", "most_a_day_mg", "single_dose_mg", "not_with")
        )
        named = mentioned(medicine, [row["medicine"] for row in known])
        return "\n".join(_limits(row) for row in known if not named or row["medicine"] in named)

    return [medicine_limits]


def technical(folder: Path) -> list[Tool]:
    """`find_device` over the devices of a folder."""

    @tool
    def find_device(device: str) -> str:
        """Find devices of the inventory: printers, servers, access points and notebooks, with room and year.

        Args:
            device: a number, a kind or a room, such as PR-02, printer or hall 3
        """
        known = read_records(folder, "technical/devices.csv", ("device", "model", "room", "bought", "replace_in"))
        found = nearest(device, known, lambda row: f"{row['device']} {row['model']} {row['room']}") or known
        return "\n".join(
            f"{row['device']}: {row['model']} in {row['room']}, bought {row['bought']}, to be replaced in"
            f" {row['replace_in']} [{row.source}]"
            for row in found
        )

    return [find_device]


def financial(folder: Path) -> list[Tool]:
    """`loan_cost` over the loans of a folder."""

    @tool
    def loan_cost(loan: str) -> str:
        """Calculate what a loan costs: the monthly rate, the interest over its life and the sum of all payments.

        Args:
            loan: the name of a loan, such as press line; all of them if none is named
        """
        known = read_records(
            folder, "financial/loans.csv", ("loan", "amount_eur", "yearly_rate_pct", "years", "lender")
        )
        named = mentioned(loan, [row["loan"] for row in known])
        return "\n".join(_cost(row) for row in known if not named or row["loan"] in named)

    return [loan_cost]


def _years(text: str) -> float | None:
    spelled = " ".join(str(_NUMBER_WORDS.get(word.lower(), word)) for word in text.split())
    found = _YEARS.search(spelled) or re.search(r"(\d+(?:\.\d+)?)", spelled)
    return float(found[1]) if found else None


def _from(step: Record) -> float:
    return step.number("service_years_from")


def _limits(row: Record) -> str:
    dose = f"{row['single_dose_mg']} mg at once, {row['most_a_day_mg']} mg a day at most"
    return f"{row['medicine']}: {dose}, not with {row['not_with']} [{row.source}]"


def _cost(loan: Record) -> str:
    """Equal monthly payments, the usual formula of an annuity; without interest simply equal parts."""
    amount, months = loan.number("amount_eur"), loan.number("years") * 12
    rate = loan.number("yearly_rate_pct") / 100 / 12
    if months <= 0:
        raise ToolError(f"{loan['loan']} runs for no time: mend financial/loans.csv")
    monthly = amount * rate / (1 - (1 + rate) ** -months) if rate else amount / months
    about = f"{loan['loan']}: {amount:,.0f} euros at {loan['yearly_rate_pct']} percent over {loan['years']} years"
    sums = f"interest {monthly * months - amount:,.2f}, in all {monthly * months:,.2f}"
    return f"{about} from {loan['lender']}: {monthly:,.2f} euros a month, {sums} [{loan.source}]"
