"""Markdown on a terminal, without ornament."""

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown


class _Heading(Heading):
    """A heading that stands at the left, in bold."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """One line."""
        del console, options
        self.text.justify = "left"
        self.text.stylize("bold")
        yield self.text


class Page(Markdown):
    """A text of Markdown."""

    elements = {**Markdown.elements, "heading_open": _Heading}  # noqa: RUF012  so it is in the base class
