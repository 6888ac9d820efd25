"""Lines that a person types: at a terminal with an editable prompt, otherwise from a pipe or a file."""

import contextlib
import sys
from collections.abc import Generator
from typing import Protocol

from actors.cli.line_reader import LineReader


class TypedLines(Protocol):
    """Gives one line after the other; EOFError at the end."""

    async def line(self, prompt: str = "") -> str:
        """The next line, without its end; a terminal shows the prompt before it."""
        ...


@contextlib.contextmanager
def typed_lines(*, is_terminal: bool) -> Generator[TypedLines]:
    """Lines from standard input.

    On a terminal, everything that is written to standard output and standard error inside the block appears above the
    prompt, and what was typed so far stays below it.
    """
    if not is_terminal:
        yield LineReader(sys.stdin.fileno())
        return
    # Loaded here alone: it takes 60 ms and 17 MB, and no other command needs it.
    from actors.cli.prompt_lines import PromptLines, writing_above_prompt

    with writing_above_prompt():
        yield PromptLines()
