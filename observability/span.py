"""A span: something that took time, and what it belongs to. Ours, so that it can be made and read without a library."""

from collections.abc import Mapping
from typing import Literal

import msgspec

Kind = Literal["internal", "client", "producer", "consumer"]
Status = Literal["unset", "ok", "error"]
Value = str | int | float | bool | tuple[str, ...]
Attributes = Mapping[str, Value]


LONGEST_S = 30 * 86_400.0


def nanoseconds(seconds: float) -> int:
    """A duration that somebody else told: never less than none, nor more than a month, whatever they said."""
    return round(min(max(seconds, 0.0), LONGEST_S) * 1e9)


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """Another span that this one has to do with, though it is no parent of it."""

    trace: str
    span: str
    attributes: Attributes = {}


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened within a span and took no time."""

    name: str
    time_ns: int
    attributes: Attributes = {}


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One bar of a trace. `trace` is the run; `service` and `instance` are who did it; `parent` is empty for the root.

    The id is derived from what the span stands for, so everybody who writes it writes the same one.
    """

    name: str
    kind: Kind = "internal"
    trace: str
    id: str
    parent: str = ""
    start_ns: int
    end_ns: int
    service: str
    instance: str = ""
    attributes: Attributes = {}
    status: Status = "unset"
    error: str = ""
    links: tuple[Link, ...] = ()
    events: tuple[Moment, ...] = ()

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.end_ns - self.start_ns) / 1e9
