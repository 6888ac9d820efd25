"""The shape of a tool: what it is good for, told from the names and types of its parameters alone."""

import re
from typing import Literal

import msgspec

from actors.model_server.offline.acting import has_effect
from actors.model_server.offline.request import OfferedTool
from actors.model_server.offline.schema import Schema, kind, properties, required, resolved

Shape = Literal["search", "read", "list", "sql", "calculate", "claim", "document", "table", "other"]

_STRINGS: tuple[tuple[Shape, str], ...] = (
    ("sql", r"sql|statement_sql|select"),
    ("calculate", r"expression|expr|formula|calculation|arithmetic"),
    ("claim", r"claim|claims|assertion|statement|fact"),
    ("search", r"query|q|search|keywords?|terms?|question|topic|search_\w+"),
    ("read", r"name|document|doc|file|filename|file_?name|path|document_\w+|doc_\w+|page|url|uri"),
)

_LISTING = re.compile(
    r"\b(?:lists?|tables?|documents?|files?|what|which|all|every|names|catalogu?e?|index|inventory)\b", re.IGNORECASE
)
"""What a tool without parameters speaks of if it says what there is."""


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A tool with its shape; `parameter` is the one that matters."""

    tool: OfferedTool
    shape: Shape
    parameter: str = ""


def offer(tool: OfferedTool) -> Offer:
    """The tool, with what it is good for."""
    known = {name: resolved(one, tool.input_schema) for name, one in properties(tool.input_schema).items()}
    needed = required(tool.input_schema)
    if not known:
        return Offer(tool=tool, shape="list" if _LISTING.search(_told(tool)) and not has_effect(tool) else "other")
    if sections := _typed(known, "array", r"sections|chapters|parts"):
        return Offer(tool=tool, shape="document", parameter=sections)
    if _typed(known, "array", r"columns|headers?|titles") and (rows := _typed(known, "array", r"rows|data|cells")):
        return Offer(tool=tool, shape="table", parameter=rows)
    # What needs more than one thing to be known cannot be told by the name of one of them.
    if len(needed) <= 1 and not has_effect(tool) and (found := _by_string(tool, known, needed)):
        return found
    return Offer(tool=tool, shape="other")


def _told(tool: OfferedTool) -> str:
    return f"{tool.name.replace('_', ' ')} {tool.description}"


def _by_string(tool: OfferedTool, known: dict[str, Schema], needed: list[str]) -> Offer | None:
    among = {name: known[name] for name in needed if name in known} or known
    for shape, pattern in _STRINGS:
        if name := _typed(among, "string", pattern):
            says_sql = re.search(r"\bSQL\b|\bSELECT\b", f"{tool.description} {known[name].get('description', '')}")
            return Offer(tool=tool, shape="sql" if shape == "search" and says_sql else shape, parameter=name)
    return None


def _typed(known: dict[str, Schema], wanted: str, pattern: str) -> str | None:
    matching = (name for name in known if re.fullmatch(pattern, name, re.IGNORECASE))
    return next((name for name in matching if kind(known[name]) in (wanted, "")), None)
