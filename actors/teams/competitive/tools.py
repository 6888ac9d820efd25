"""Tools of the competitive team: products side by side, their prices, and what buyers say of them."""

import re
import statistics
from collections import Counter
from pathlib import Path

from actors.tools.matching import mentioned, nearest
from actors.tools.records import Record, read_records
from actors.tools.tool import Tool, tool
from protocol.errors import ToolError

MOST_QUOTES = 3
_NAMES = ("product", "maker")
_LOW_IS_GOOD = ("weight_kg", "charge_hours")


def comparison(folder: Path) -> list[Tool]:
    """`compare_products` and `rank_products` over the specifications of a folder."""

    @tool
    def compare_products(products: str) -> str:
        """Compare products side by side by their specifications, and say which one leads on each point.

        Args:
            products: the names of the products, such as Brisk Cargo and Mulo Duo, and points such as range;
                all of them if fewer than two products or no points are named
        """
        rows = _chosen(_specs(folder), products, least=2)
        columns = _columns(rows)
        return "\n".join(_point(rows, column) for column in mentioned(products, columns) or columns)

    @tool
    def rank_products(point: str) -> str:
        """Rank all products by one point of their specifications, the best first.

        Args:
            point: such as range, payload, battery, torque, weight, charge time or warranty
        """
        rows = _specs(folder)
        found = nearest(point, _columns(rows), str, 1)
        if not found:
            raise ToolError(f"there is no point {point[:200]!r}. The points are: {', '.join(_columns(rows))}")
        column = found[0]
        ranked = _ranked(rows, column)
        return "\n".join(
            f"{place}. {row['product']} with {row[column]} {_unit(column)} [{row.source}]"
            for place, row in enumerate(ranked, start=1)
        )

    return [compare_products, rank_products]


def prices(folder: Path) -> list[Tool]:
    """`price_history` over the street prices of a folder."""

    @tool
    def price_history(product: str) -> str:
        """Work out how the street price of products moved: first, last and change, and the price per kg of payload.

        Args:
            product: the name of a product, such as Lento Family; all of them if none is named
        """
        rows = read_records(folder, "prices.csv", ("month", "product", "street_price_eur"))
        payload = {row["product"]: row.number("payload_kg") for row in _specs(folder)}
        names = list(dict.fromkeys(row["product"] for row in rows))
        return "\n".join(_moved(name, rows, payload) for name in mentioned(product, names) or names)

    return [price_history]


def opinions(folder: Path) -> list[Tool]:
    """`review_summary` over the reviews of a folder."""

    @tool
    def review_summary(product: str) -> str:
        """Sum up what buyers say in reviews: mean stars, topics, praise and complaints in their own words.

        Args:
            product: the name of a product or a topic, such as Mulo Duo or service; all products if none is named
        """
        rows = read_records(folder, "reviews.csv", ("product", "date", "stars", "topic", "text"))
        topics = mentioned(product, [row["topic"] for row in rows])
        chosen = _chosen(rows, product, least=1)
        about = [row for row in chosen if row["topic"] in topics] or chosen
        names = list(dict.fromkeys(row["product"] for row in about))
        return "\n".join(line for name in names for line in _opinion([row for row in about if row["product"] == name]))

    return [review_summary]


def _specs(folder: Path) -> list[Record]:
    return read_records(folder, "specs.csv", (*_NAMES, "payload_kg"))


def _chosen(rows: list[Record], text: str, *, least: int) -> list[Record]:
    names = mentioned(text, [row["product"] for row in rows])
    return [row for row in rows if row["product"] in names] if len(names) >= least else rows


def _columns(rows: list[Record]) -> list[str]:
    return [column for column in rows[0].fields if column not in _NAMES] if rows else []


def _unit(column: str) -> str:
    return re.sub(r"_", " ", column.rpartition("_")[2] if "_" in column else column)


def _ranked(rows: list[Record], column: str) -> list[Record]:
    return sorted(rows, key=lambda row: row.number(column), reverse=column not in _LOW_IS_GOOD)


def _point(rows: list[Record], column: str) -> str:
    name = column.replace("_", " ")
    values = ", ".join(f"{row['product']} {row[column]}" for row in rows)
    if column == "wheels":
        return f"{name}: {values} [{rows[0].source}]"
    best = _ranked(rows, column)[0]
    return f"{name}: {values}; {best['product']} leads [{best.source}]"


def _moved(name: str, rows: list[Record], payload: dict[str, float]) -> str:
    dated = sorted((row["month"], row.number("street_price_eur")) for row in rows if row["product"] == name)
    (since, first), (until, last) = dated[0], dated[-1]
    change = f"{last - first:+,.0f} euros or {100 * (last / first - 1):+.1f} percent since {since}"
    per_kg = f", {last / payload[name]:.2f} euros per kg of payload" if payload.get(name) else ""
    return f"{name} costs {last:,.0f} euros in {until}, {change}{per_kg} [prices.csv, specs.csv]"


def _opinion(rows: list[Record]) -> list[str]:
    name, stars = rows[0]["product"], [row.number("stars") for row in rows]
    topics = ", ".join(topic for topic, _ in Counter(row["topic"] for row in rows).most_common(MOST_QUOTES))
    lines = [f"{name} has {statistics.mean(stars):.2f} stars from {len(rows)} reviews, on {topics} [{rows[0].source}]"]
    worst_first = sorted(rows, key=lambda row: row.number("stars"))[:MOST_QUOTES]
    return lines + [
        f'{name}, {row["stars"]} stars on {row["topic"]}: "{row["text"]}", {row["date"]} [{row.source}]'
        for row in worst_first
    ]
