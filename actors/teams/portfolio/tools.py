"""Tools of the portfolio team: what a client holds, how prices moved, and what would bring it back to its policy."""

import itertools
import statistics
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from actors.tools.matching import mentioned
from actors.tools.records import Record, read_records
from actors.tools.tool import Tool, tool
from protocol.errors import ToolError

SMALLEST_TRADE_EUR = 2_000
MOST_OF_A_SHARE_PCT = 10
_SOURCES = "holdings.csv, prices.csv"


class Share(NamedTuple):
    """A part of a portfolio: an asset class with its target and band, all in percent and euros."""

    asset_class: str
    value: float
    percent: float
    target: float
    band: float

    @property
    def outside(self) -> bool:
        """Whether it has left its band."""
        return abs(self.percent - self.target) > self.band


def allocations(folder: Path) -> list[Tool]:
    """`allocation` over the portfolios of a folder."""

    @tool
    def allocation(client: str) -> str:
        """Work out the allocation of portfolios: value and weight of each asset class and holding, against the target.

        Args:
            client: the name of the client, such as Lindqvist family; all of them if none is named
        """
        return "\n".join(line for one in _clients(folder, client) for line in _allocation(folder, one))

    return [allocation]


def performance(folder: Path) -> list[Tool]:
    """`price_performance` over the prices of a folder."""

    @tool
    def price_performance(instrument: str) -> str:
        """Work out how instruments performed: return, high, low and volatility of the year, from month-end prices.

        Args:
            instrument: the name of a fund or share, such as Copperline Mining; all of them if none is named
        """
        rows = _prices(folder)
        known = list(dict.fromkeys(row["instrument"] for row in rows))
        return "\n".join(_performance(name, rows) for name in mentioned(instrument, known) or known)

    return [price_performance]


def proposals(folder: Path) -> list[Tool]:
    """`propose_trades` over the portfolios of a folder."""

    @tool
    def propose_trades(client: str) -> str:
        """Propose the trades that bring portfolios back to their policy: classes outside their band, shares too large.

        Args:
            client: the name of the client, such as Varga endowment; all of them if none is named
        """
        return "\n".join(line for one in _clients(folder, client) for line in _proposal(folder, one))

    return [propose_trades]


def _clients(folder: Path, text: str) -> list[Record]:
    known = read_records(folder, "clients.csv", ("client", "policy", "cash_eur"))
    named = mentioned(text, [one["client"] for one in known])
    return [one for one in known if not named or one["client"] in named]


def _prices(folder: Path) -> list[Record]:
    return read_records(folder, "prices.csv", ("date", "instrument", "price_eur"))


def _latest(folder: Path) -> dict[str, float]:
    # Dates sort as text, so the last one of each instrument stays.
    return {row["instrument"]: row.number("price_eur") for row in sorted(_prices(folder), key=lambda row: row["date"])}


def _values(folder: Path, client: Record) -> dict[str, float]:
    """What each holding of a client is worth at the latest price."""
    prices = _latest(folder)
    found: dict[str, float] = {}
    for row in read_records(folder, "holdings.csv", ("client", "instrument", "units")):
        if row["client"] == client["client"]:
            if row["instrument"] not in prices:
                raise ToolError(f"prices.csv has no price of {row['instrument']!r}: add one")
            found[row["instrument"]] = row.number("units") * prices[row["instrument"]]
    return found


def _classes(folder: Path) -> dict[str, str]:
    rows = read_records(folder, "instruments.csv", ("instrument", "asset_class"))
    return {row["instrument"]: row["asset_class"] for row in rows}


def _shares(folder: Path, client: Record, values: dict[str, float]) -> list[Share]:
    classes = _classes(folder)
    sums: dict[str, float] = defaultdict(float, cash=client.number("cash_eur"))
    for instrument, value in values.items():
        sums[classes.get(instrument, "other")] += value
    total = sum(sums.values())
    if total <= 0:
        raise ToolError(f"{client['client']} holds nothing: there is no allocation to work out")
    targets = {
        row["asset_class"]: (row.number("target_pct"), row.number("band_pct"))
        for row in read_records(folder, "targets.csv", ("policy", "asset_class", "target_pct", "band_pct"))
        if row["policy"] == client["policy"]
    }
    return [
        Share(name, sums[name], 100 * sums[name] / total, *targets.get(name, (0.0, 0.0)))
        for name in dict.fromkeys([*targets, *sums])
    ]


def _allocation(folder: Path, client: Record) -> list[str]:
    values, name = _values(folder, client), client["client"]
    total = sum(values.values()) + client.number("cash_eur")
    lines = [
        f"{name}: portfolio worth {total:,.0f} euros under the policy {client['policy']} [{_SOURCES}, clients.csv]"
    ]
    for share in _shares(folder, client, values):
        state = "outside" if share.outside else "inside"
        figures = f"{share.value:,.0f} euros or {share.percent:.1f} percent"
        target = f"target {share.target:g} percent, {state} the band of {share.band:g} points"
        lines.append(f"{name}: {share.asset_class} {figures}, {target} [{_SOURCES}, targets.csv]")
    for instrument, value in values.items():
        part = f"{value:,.0f} euros, {100 * value / total:.1f} percent of the portfolio"
        lines.append(f"{name} holds {instrument} worth {part} [{_SOURCES}]")
    return lines


def _performance(name: str, rows: list[Record]) -> str:
    dated = sorted((row["date"], row.number("price_eur")) for row in rows if row["instrument"] == name)
    prices = [price for _, price in dated]
    if len(prices) < 3:
        raise ToolError(f"prices.csv has {len(prices)} prices of {name!r}; at least 3 are needed")
    changes = [100 * (after / before - 1) for before, after in itertools.pairwise(prices)]
    gained = 100 * (prices[-1] / prices[0] - 1)
    span = f"from {prices[0]:g} on {dated[0][0]} to {prices[-1]:g} euros on {dated[-1][0]}"
    spread = f"high {max(prices):g}, low {min(prices):g}, monthly volatility {statistics.stdev(changes):.2f} percent"
    return f"{name} returned {gained:+.1f} percent {span}; {spread} [prices.csv]"


def _proposal(folder: Path, client: Record) -> list[str]:
    values, name = _values(folder, client), client["client"]
    total = sum(values.values()) + client.number("cash_eur")
    lines: list[str] = []
    for share in _shares(folder, client, values):
        amount = total * share.target / 100 - share.value
        if share.outside and abs(amount) >= SMALLEST_TRADE_EUR and share.asset_class != "cash":
            verb = "buy" if amount > 0 else "sell"
            why = f"it is at {share.percent:.1f} percent, target {share.target:g} percent"
            lines.append(f"{name}: {verb} {abs(amount):,.0f} euros of {share.asset_class}, because {why} [targets.csv]")
    lines += _too_large(folder, name, values, total)
    return lines or [f"{name}: no trade is needed, every class is inside its band [targets.csv]"]


def _too_large(folder: Path, name: str, values: dict[str, float], total: float) -> list[str]:
    kinds = {row["instrument"]: row["kind"] for row in read_records(folder, "instruments.csv", ("instrument", "kind"))}
    large = [
        one for one, value in values.items() if kinds.get(one) == "share" and 100 * value / total > MOST_OF_A_SHARE_PCT
    ]
    return [
        f"{name}: sell {values[one] - total * MOST_OF_A_SHARE_PCT / 100:,.0f} euros of {one}, because a single share"
        f" is at {100 * values[one] / total:.1f} percent, limit {MOST_OF_A_SHARE_PCT} percent [{_SOURCES}]"
        for one in large
    ]
