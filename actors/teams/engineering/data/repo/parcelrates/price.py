"""The price of a parcel: its bracket in the tariff, and the surcharges on top."""

ISLAND_SURCHARGE_CENTS = 350


def bracket(tariff, weight_kg):
    """The first row of the tariff whose limit the parcel does not exceed."""
    for row in tariff:
        if weight_kg < row["up_to_kg"]:
            return row
    raise ValueError(f"no bracket for {weight_kg} kg")


def price_cents(tariff, weight_kg, island=False):
    """The price of one parcel in cents, with the surcharge for islands."""
    price = bracket(tariff, weight_kg)["price_cents"]
    return price + (ISLAND_SURCHARGE_CENTS if island else 0)
