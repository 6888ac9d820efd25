"""One line of `handoff doctor`."""

from typing import Literal

import msgspec


class StoreUse(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a store is used, in bytes. A `limit` of 0 is none; `discards` is `old` if the oldest messages go."""

    bytes: int
    limit: int
    share: float
    discards: Literal["new", "old"]


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at. `stores` has the use of each store, for the check of the storage."""

    name: str
    state: Literal["ok", "warn", "fail"]
    found: str
    advice: str = ""
    stores: dict[str, StoreUse] = {}
