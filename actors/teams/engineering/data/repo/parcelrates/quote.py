"""A quote: the price of a parcel, and the day the carrier says it will arrive."""

from parcelrates.carrier import delivery_day
from parcelrates.price import price_cents


def quote(tariff, parcel, config):
    """Price and delivery day; the day is left out if the carrier does not answer in time."""
    price = price_cents(tariff, parcel["weight_kg"], parcel.get("island", False))
    try:
        day = delivery_day(parcel["postcode"], timeout_ms=config["carrier_timeout_ms"])
    except TimeoutError:
        day = None
    return {"price_cents": price, "delivery_day": day}
