"""The text of an HTML page: what a reader sees, in lines."""

import re
import time
from html.parser import HTMLParser

from protocol.errors import ToolError

TIME_S = 5.0
"""A page can be written such that the parser needs hours for it, and nobody can end its thread."""

_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object", "head"})
_BLOCKS = frozenset(
    """address article aside blockquote br caption dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6
    header hr li main nav ol p pre section table tbody thead tr ul""".split()  # noqa: SIM905
)
_APART = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "table", "ul", "ol"})
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}


def text_of(html: str) -> tuple[str, str]:
    """Title and text of a page. Tags that are not closed, or not opened, do no harm; ToolError if it takes too long."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).split("\n"))
    return " ".join(reader.title.split()), re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.parts: list[str] = []
        self._silent: list[str] = []
        self._in_title = False
        self._until = time.monotonic() + TIME_S

    def updatepos(self, i: int, j: int) -> int:
        """Called at each step of the parser; nobody asks it for line numbers."""
        if time.monotonic() > self._until:
            raise ToolError(f"the page was not read within {TIME_S:g} s: its HTML is broken, perhaps on purpose")
        return super().updatepos(i, j)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag == "body":
            self._silent.clear()  # a head that was never closed ends here
        elif tag == "title" and not self.title:
            self._in_title = True
        elif tag in _SILENT:
            self._silent.append(tag)
        elif tag in _BLOCKS:
            self.parts.append("\n\n" if tag in _APART else "\n")
            self.parts.append(_HEADINGS.get(tag, "- " if tag == "li" else ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._silent:
            del self._silent[self._silent.index(tag) :]
        elif tag in ("td", "th"):
            self.parts.append(" | ")
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._silent:
            self.parts.append(data)
