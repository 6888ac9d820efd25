"""The carrier's service for delivery days, tried again when it is slow."""

import urllib.request

URL = "https://carrier.example/delivery-day?postcode="
TRIES = 2


def delivery_day(postcode, timeout_ms):
    """The day the carrier promises, or TimeoutError after two tries."""
    for _ in range(TRIES):
        try:
            with urllib.request.urlopen(URL + postcode, timeout=timeout_ms / 1000) as answer:
                return answer.read().decode()
        except TimeoutError:
            continue
    raise TimeoutError(postcode)
