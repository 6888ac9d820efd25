"""Caching: where cache marks may stand, and how many."""

from collections.abc import Iterator

from actors.model_server.conversation import THINKING, Body, dict_of, marks_of

MOST_MARKS = 4


def faults(body: Body) -> Iterator[str]:
    """What is wrong with the cache marks."""
    short_lived = ""
    marks = list(marks_of(body))
    for place, block, mark in marks:
        kind = block.get("type")
        if kind in THINKING:
            yield f"{place}.{kind}.cache_control: Extra inputs are not permitted"
        if kind == "text" and not block.get("text"):
            yield f"{place}.text: cache_control cannot be set for empty text blocks"
        yield from _mark_faults(mark, place)
        ttl = dict_of(mark).get("ttl", "5m")
        if ttl == "1h" and short_lived and place != "cache_control":
            yield (
                f"{place}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' "
                "cache_control block"
            )
        short_lived = short_lived or (place if ttl == "5m" else "")
    if len(marks) > MOST_MARKS:
        yield f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {len(marks)}."


def _mark_faults(mark: object, place: str) -> Iterator[str]:
    given = dict_of(mark)
    if given.get("type") != "ephemeral":
        yield f"{place}.cache_control.type: Input should be 'ephemeral'"
    if given.get("ttl", "5m") not in ("5m", "1h"):
        yield f"{place}.cache_control.ttl: Input should be '5m' or '1h'"
    for name in set(given) - {"type", "ttl"}:
        yield f"{place}.cache_control.{name}: Extra inputs are not permitted"
