import threading
from typing import Any

import pytest

from actors.tools.tool import tool
from protocol.errors import InvalidError


def undocumented(text: str) -> str:
    return text


def many(*texts: str) -> str:
    """Say many things."""
    return "".join(texts)


def annotated(**annotations: object) -> Any:
    """A function whose annotations are these, and not the ones in its source."""

    def say(text: str) -> str:
        """Say it."""
        return text

    say.__annotations__ = annotations
    return say


def unspeakable(thread: threading.Thread) -> str:
    """Join a thread."""
    return thread.name


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (undocumented, "tool 'undocumented' has no docstring"),
        (annotated(), "tool 'say': argument 'text' has no type annotation"),
        (many, r"\*texts: str cannot be passed by name"),
        (annotated(text="Strng"), "annotation cannot be resolved: name 'Strng' is not defined"),
        (unspeakable, "its arguments have no JSON schema"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused_when_it_is_decorated(function: Any, fault: str) -> None:
    with pytest.raises(InvalidError, match=fault):
        tool(function)


def test_all_faults_of_a_function_are_told_at_once() -> None:
    with pytest.raises(InvalidError) as caught:
        tool(name="no spaces", timeout_s=0)(undocumented)
    assert len(caught.value.faults) == 3
