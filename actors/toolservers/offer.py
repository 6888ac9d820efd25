"""An offer: a tool as its server describes it, and whether it can be taken as it is. Servers are not trusted."""

import re
from collections.abc import Iterable
from typing import Any, cast

import msgspec

from observability.logger import get_logger

MOST_TOOLS = 128
LONGEST_DESCRIPTION = 4_000
LARGEST_SCHEMA = 64 * 1024
_NOT_AT_THE_TOP = ("oneOf", "anyOf", "allOf")
"""The Messages API refuses these at the top of a schema; the server checks the arguments by them all the same."""

_PARAMETER = re.compile(r"[A-Za-z0-9_.-]{1,64}")

log = get_logger()


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """One tool of a server, by the server's own name for it. `reads` says that it changes nothing."""

    name: str
    description: str
    schema: dict[str, Any]
    reads: bool = False


def taken(server: str, offers: Iterable[Offer]) -> list[Offer]:
    """The offers that can be passed on; one that would make every request to a model invalid is left, and logged."""
    kept: dict[str, Offer] = {}
    for offer in offers:
        if fault := _fault(offer, kept):
            log.warning("toolserver.tool_left", server=server, tool=offer.name[:64], reason=fault)
        else:
            kept[offer.name] = _fitted(offer)
    return list(kept.values())


def _fault(offer: Offer, kept: dict[str, Offer]) -> str | None:
    if not offer.name.strip():
        return "it has no name"
    if offer.name in kept:
        return "there is one of that name already"
    if len(kept) >= MOST_TOOLS:
        return f"there are more than {MOST_TOOLS}"
    if len(msgspec.json.encode(offer.schema)) > LARGEST_SCHEMA:
        return f"its schema is larger than {LARGEST_SCHEMA:,} bytes"
    return schema_fault(offer.schema) or _parameter_fault(offer.schema)


def schema_fault(schema: dict[str, Any]) -> str | None:
    """Why this is no JSON schema of an object; None if it is one."""
    # Imported when first needed, with the extra that brings it.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    if schema.get("type") != "object":
        return f"its arguments must be an object (got {schema.get('type')!r})"
    try:
        cast("Any", Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        return f"its schema is not valid: {error.message[:200]}"
    except RecursionError:
        return "its schema is nested too deeply"
    return None


def _parameter_fault(schema: dict[str, Any]) -> str | None:
    """Which parameter has a name that the Messages API refuses, together with the whole request; None if none has."""
    for name in cast("dict[str, Any]", schema.get("properties", {})):
        if not _PARAMETER.fullmatch(name):
            return f"the name of its parameter {name[:64]!r} is not 1 to 64 characters of A-Z a-z 0-9 _ . -"
    return None


def _fitted(offer: Offer) -> Offer:
    text = " ".join(offer.description.split()) or offer.name
    if len(text) > LONGEST_DESCRIPTION:
        text = text[:LONGEST_DESCRIPTION] + " …"
    schema = {key: value for key, value in offer.schema.items() if key not in _NOT_AT_THE_TOP}
    return msgspec.structs.replace(offer, description=text, schema={"properties": {}} | schema)
