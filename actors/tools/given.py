"""Arguments that a tool is given by its worker: the model neither sees them nor can set them.

@tool(effect=True)
def send(text: str, key: CallKey) -> str: ...

@tool
def look(url: str, allowed: Annotated[bool, FromSetting("fetch_pages")] = False) -> str: ...
"""

import secrets
import typing
from dataclasses import dataclass
from typing import Any, Literal, NewType

from protocol.errors import ToolError

CallKey = NewType("CallKey", str)
"""Names one call of a tool, the same whenever that call is made again by a worker that took over.

It has the run, the task, the attempt, the turn of the model, and the place of the call in that turn, joined by dots:
it can be a file name, and no other call has it.
"""


@dataclass(frozen=True)
class FromSetting:
    """Marks an argument that has the value of a setting; outside of a worker it has its default."""

    name: str


Source = FromSetting | Literal["key"]


def fresh_key() -> CallKey:
    """A key for a call that no run asked for, such as one in a test."""
    return CallKey(secrets.token_hex(16))


def source_of(hint: Any) -> Source | None:
    """Where an argument with this annotation comes from; None if it comes from the model."""
    if hint is CallKey:
        return "key"
    if typing.get_origin(hint) is not typing.Annotated:
        return None
    return next((mark for mark in hint.__metadata__ if isinstance(mark, FromSetting)), None)


def value_of(mark: FromSetting, settings: object) -> Any:
    """The value of the setting that is meant."""
    if not hasattr(settings, mark.name):
        raise ToolError(f"the tool asks for a setting {mark.name!r}, and there is none of that name")
    return getattr(settings, mark.name)
