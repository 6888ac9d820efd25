"""The price of a call: what genai-prices knows; what it does not know is unknown, never 0."""

from protocol.messages import Usage

_FREE = "offline-"


def price_usd(model: str, usage: Usage, searches: int = 0) -> float | None:
    """What the call and its web searches cost by the name of the model that answered; nothing for the offline model."""
    if model.startswith(_FREE):
        return 0.0
    # Imported when first needed: it takes 0.2 s.
    from genai_prices import Usage as Priced
    from genai_prices import calc_price

    counted = Priced(
        input_tokens=usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        web_searches=searches,
    )
    try:
        return float(calc_price(counted, model_ref=model, provider_id="anthropic").total_price)
    except (LookupError, ValueError):
        return None
