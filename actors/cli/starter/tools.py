"""Tools of the team's own. A function with @tool is a tool; one that takes the data folder makes several."""

import csv
from pathlib import Path

from actors import tool
from actors.tools.tool import Tool


def prices(folder: Path) -> list[Tool]:
    """The tools that work on the price list in the data folder."""

    @tool
    def find_price(bike: str) -> str:
        """Look up what a bike costs to rent for a day and for a week.

        Args:
            bike: the kind of bike, such as tandem
        """
        with (folder / "prices.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        asked = bike.lower()
        found = [row for row in rows if row["bike"] in asked or asked in row["bike"]]
        lines = [
            f"{row['bike']}: {row['day_eur']} euros a day, {row['week_eur']} euros a week [prices.csv]" for row in found
        ]
        return "\n".join(lines) or f"No price for {bike!r}. There are: {', '.join(row['bike'] for row in rows)}."

    return [find_price]
