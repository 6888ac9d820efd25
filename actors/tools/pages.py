"""Fetching a page as text. Off unless the setting `fetch_pages` or the program that builds the tool says otherwise."""

from pathlib import Path
from typing import Annotated

from actors.tools.fetching import Page, Reach, fetch
from actors.tools.given import FromSetting
from actors.tools.page_text import text_of
from actors.tools.tool import Tool, tool
from protocol.errors import ToolError

_HTML = ("text/html", "application/xhtml+xml")
_TEXT = ("application/json", "application/xml", "application/ld+json", "application/rss+xml", "application/atom+xml")
_OFF = "fetching pages is switched off here; whoever runs the workers can allow it with fetch_pages = true"


@tool(timeout_s=30.0)
def fetch_page(url: str, allowed: Annotated[bool, FromSetting("fetch_pages")] = False) -> str:
    """Fetch a page of the public web and get its text; the first line names its source.

    Args:
        url: a whole address that begins with http:// or https://
    """
    if not allowed:
        raise ToolError(_OFF)
    return told(fetch(url, Reach()))


def build(folder: Path | None = None, *, reach: Reach | None = None) -> list[Tool]:  # noqa: ARG001 - as all builders
    """`fetch_page`, allowed whatever the settings say."""
    far = reach or Reach()

    @tool(name="fetch_page", timeout_s=far.time_s + 10)
    def fetch_allowed(url: str) -> str:
        """Fetch a page of the public web and get its text; the first line names its source.

        Args:
            url: a whole address that begins with http:// or https://
        """
        return told(fetch(url, far))

    return [fetch_allowed]


def told(page: Page) -> str:
    """A page as a model gets it."""
    if page.kind not in (*_HTML, *_TEXT) and not page.kind.startswith("text/"):
        raise ToolError(f"{page.url} is {page.kind}, not text")
    try:
        text = page.body.decode(page.charset, errors="replace")
    except LookupError:
        text = page.body.decode(errors="replace")
    title, text = text_of(text) if page.kind in _HTML else ("", text.strip())
    lines = [f"[{page.url}]", *([title] if title else []), "", text or "(the page has no text)"]
    if page.cut:
        lines += ["", f"[cut off here: the page has more than {len(page.body):,} bytes]"]
    return "\n".join(lines)
