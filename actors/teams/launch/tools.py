"""Tools of the launch team: market segments, what a price earns, when things are due, and what copy may claim."""

import re
from pathlib import Path

from actors.tools.matching import mentioned, nearest
from actors.tools.records import Record, read_records
from actors.tools.tool import Tool, tool
from protocol.errors import ToolError

MOST_CHARACTERS = 10_000

_PRICE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:euros?|eur|€)", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[^\w% ]+")


def market(folder: Path) -> list[Tool]:
    """`size_segments` over the market segments of a folder."""

    @tool
    def size_segments(segment: str) -> str:
        """Work out how many buyers market segments have, what they find a fair price and where they buy.

        Args:
            segment: the name of a segment, such as backpackers; all of them, the largest first, if none is named
        """
        rows = read_records(
            folder, "segments.csv", ("segment", "people", "interest_pct", "fair_price_eur", "where_they_buy")
        )
        named = mentioned(segment, [row["segment"] for row in rows])
        chosen = [row for row in rows if not named or row["segment"] in named]
        return "\n".join(map(_segment, sorted(chosen, key=_buyers, reverse=True)))

    return [size_segments]


def pricing(folder: Path) -> list[Tool]:
    """`price_points` over the costs, channels and the price survey of a folder."""

    @tool
    def price_points(price: str) -> str:
        """Calculate what a price earns: unit cost, margin in each channel, bottles to break even, share that would buy.

        Args:
            price: prices in euros, such as 59 euros; every price of the survey if none is given
        """
        survey = {row.number("price_eur"): row for row in _survey(folder)}
        asked = [float(number) for number in _PRICE.findall(price)] or list(survey)
        if any(one <= 0 for one in asked):
            raise ToolError("a price must be above 0 euros")
        return "\n".join(line for one in asked for line in _price(folder, one, survey))

    return [price_points]


def schedule(folder: Path) -> list[Tool]:
    """`find_milestones` over the milestones of a folder."""

    @tool
    def find_milestones(about: str) -> str:
        """Find milestones of the launch with week, owner and all that comes before them, and those set too early.

        Args:
            about: a milestone, an owner or a week, such as press release; all of them in order if none fits
        """
        rows = read_records(folder, "milestones.csv", ("milestone", "week", "needs", "owner"))
        found = _with_needs(nearest(about, rows, lambda row: f"{row['milestone']} {row['owner']} {row['week']}"), rows)
        weeks = {row["milestone"]: row["week"] for row in rows}
        return "\n".join(_milestone(row, weeks) for row in sorted(found or rows, key=lambda row: row["week"]))

    return [find_milestones]


def claims(folder: Path) -> list[Tool]:
    """`find_product_claims` and `check_copy` over the claims and words of a brand."""

    @tool
    def find_product_claims(subject: str) -> str:
        """Find what we may claim of the product, with proof and wording, and what we may not claim.

        Args:
            subject: what the claim is about, such as bacteria or weight; all of them if none fits
        """
        rows = read_records(folder, "brand/claims.csv", ("claim", "allowed", "proof", "wording"))
        found = nearest(subject, rows, lambda row: f"{row['claim']} {row['wording']}") or rows
        return "\n".join(
            f"{row['claim']}: {'allowed' if row['allowed'] == 'yes' else 'NOT allowed'}, say: {row['wording']}"
            f" (proof: {row['proof']}) [{row.source}]"
            for row in found
        )

    @tool
    def check_copy(draft: str) -> str:
        """Check draft copy for words that the brand does not use, and say what to write instead.

        Args:
            draft: the headline, post or page as it would be published
        """
        if len(draft) > MOST_CHARACTERS:
            raise ToolError(f"check at most {MOST_CHARACTERS:,} characters at once")
        said = f" {' '.join(_PUNCTUATION.sub(' ', draft.lower().replace('-', ' ')).split())} "
        rows = read_records(folder, "brand/banned_words.csv", ("word", "instead"))
        found = [row for row in rows if f" {row['word'].lower().replace('-', ' ')} " in said]
        lines = [f"Do not write {row['word']!r}: {row['instead']} [{row.source}]" for row in found]
        return "\n".join(lines) or "No word of the list is used [brand/banned_words.csv]"

    return [find_product_claims, check_copy]


def _buyers(row: Record) -> float:
    return row.number("people") * row.number("interest_pct") / 100


def _segment(row: Record) -> str:
    size = f"{_buyers(row):,.0f} likely buyers, {row['interest_pct']} percent of {row.number('people'):,.0f} people"
    habit = f"fair price {row['fair_price_eur']} euros, buy from {row['where_they_buy']}"
    return f"{row['segment']}: {size}, {habit} [{row.source}]"


def _survey(folder: Path) -> list[Record]:
    return read_records(folder, "price_survey.csv", ("price_eur", "would_buy_pct"))


def _sum(folder: Path, name: str) -> float:
    return sum(row.number("eur") for row in read_records(folder, name, ("item", "eur")))


def _price(folder: Path, price: float, survey: dict[float, Record]) -> list[str]:
    cost, fixed = _sum(folder, "unit_costs.csv"), _sum(folder, "fixed_costs.csv")
    channels = read_records(folder, "channels.csv", ("channel", "fee_pct", "shipping_eur", "expected_share_pct"))
    lines: list[str] = []
    mean = 0.0
    for row in channels:
        left = price * (1 - row.number("fee_pct") / 100) - row.number("shipping_eur") - cost
        mean += left * row.number("expected_share_pct") / 100
        share = f"{100 * left / price:.1f} percent of the price"
        lines.append(f"At {price:g} euros the {row['channel']} leaves {left:.2f} euros, {share} [channels.csv]")
    even = f"{fixed / mean:,.0f} bottles to break even" if mean > 0 else "never breaks even"
    about = f"unit cost {cost:.2f}, mean margin {mean:.2f} euros, fixed costs {fixed:,.0f}: {even}"
    buy = f"{survey[price]['would_buy_pct']} percent would buy [price_survey.csv]" if price in survey else ""
    told = f"At {price:g} euros {about} [unit_costs.csv, fixed_costs.csv, channels.csv]"
    return [told, *lines, *([f"At {price:g} euros {buy}"] if buy else [])]


def _needs(row: Record) -> list[str]:
    return [part.strip() for part in row["needs"].split(";") if part.strip()]


def _with_needs(found: list[Record], rows: list[Record]) -> list[Record]:
    """What was found and all that has to be there before it, each once."""
    wanted = list(dict.fromkeys(row["milestone"] for row in found))
    by_name = {row["milestone"]: row for row in rows}
    for name in wanted:  # grows while it is walked, by names that are not in it yet
        wanted += [need for need in _needs(by_name[name]) if need in by_name and need not in wanted]
    return [by_name[name] for name in wanted]


def _milestone(row: Record, weeks: dict[str, str]) -> str:
    needs = _needs(row)
    late = [need for need in needs if weeks.get(need, "") >= row["week"]]
    lost = [need for need in needs if need not in weeks]
    notes = [f"owner {row['owner']}", *([f"needs {', '.join(needs)}"] if needs else [])]
    notes += [f"TOO EARLY for {', '.join(late)}"] if late else []
    notes += [f"no milestone is called {', '.join(lost)}"] if lost else []
    return f"{row['week']}, {row['milestone']}: {'; '.join(notes)} [{row.source}]"
