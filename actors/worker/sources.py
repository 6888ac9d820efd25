"""Sources of a result: what its text cites, and the pages found by the model that it names."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec

from actors.model.port import Block
from actors.worker.moves import reply_of
from protocol.messages import Source
from protocol.steps import ModelCalled, Step

MOST = 30
MOST_REF, MOST_TITLE, MOST_QUOTE = 1000, 200, 400
"""Characters. A longer reference is left out, since half an address leads nowhere."""

_URL = re.compile(r"https?://[^\s<>\"\]]+")
_AFTER = "/.,;:!?)'*_`"
"""What may stand behind an address in a text without belonging to it."""


def sources_of(steps: Sequence[Step], text: str) -> tuple[Source, ...]:
    """The sources of a task whose result is `text`: first the citations in it, then the pages that it names."""
    blocks = [block for step in steps if isinstance(step, ModelCalled) for block in reply_of(step).content]
    pages = dict(_pages(blocks))
    found: dict[tuple[str, str], Source] = {}
    for block in blocks:
        # A remark before the last tool call is not part of the result.
        if block.get("type") == "text" and block["text"].strip() in text:
            for source in _cited(block, pages):
                found.setdefault((source.ref, source.quote), source)
    quoted = {source.ref for source in found.values()}
    named = _named(text)
    for url, title in pages.items():
        if url not in quoted and url.rstrip("/") in named:
            found.setdefault((url, ""), Source(ref=url, title=title))
    return tuple(_bounded(source) for source in found.values() if 0 < len(source.ref) <= MOST_REF)[:MOST]


def within(sources: Sequence[Source], room: int) -> tuple[Source, ...]:
    """As many of the sources, from the first on, as fit into `room` bytes of JSON."""
    kept: list[Source] = []
    for source in sources:
        room -= len(msgspec.json.encode(source)) + 1
        if room < 0:
            break
        kept.append(source)
    return tuple(kept)


def _pages(blocks: Sequence[Block]) -> Iterator[tuple[str, str]]:
    """The addresses and titles of the pages that the tools of the provider found or read."""
    for block in blocks:
        content: Any = block.get("content")
        if block.get("type") == "web_search_tool_result" and isinstance(content, list):
            for result in map(_fields, cast("list[object]", content)):
                yield _text(result, "url"), _text(result, "title")
        elif block.get("type") == "web_fetch_tool_result":
            yield _text(_fields(content), "url"), _text(_fields(_fields(content).get("content")), "title")


def _cited(block: Block, pages: dict[str, str]) -> Iterator[Source]:
    given: Any = block.get("citations")
    for citation in map(_fields, cast("list[object]", given) if isinstance(given, list) else []):
        title = _text(citation, "title") or _text(citation, "document_title")
        ref = _text(citation, "url") or _text(citation, "source") or _document(citation, title, pages)
        yield Source(ref=ref, title=title, quote=_text(citation, "cited_text").strip())


def _document(citation: dict[str, Any], title: str, pages: dict[str, str]) -> str:
    """The reference of a cited document: the address of a page with its title, else the title, which is a file name."""
    ref = next((url for url, known in pages.items() if title and known == title), title)
    ref = ref or f"document {citation.get('document_index')}"
    page = citation.get("start_page_number")
    return f"{ref}#page={page}" if isinstance(page, int) else ref


def _named(text: str) -> set[str]:
    """The addresses in a text, without what may stand behind them."""
    found: set[str] = set()
    for match in _URL.finditer(text):
        url = match.group()
        found.add(url)
        while url and url[-1] in _AFTER:
            url = url[:-1]
            found.add(url)
    return found


def _bounded(source: Source) -> Source:
    return Source(ref=source.ref, title=source.title[:MOST_TITLE], quote=source.quote[:MOST_QUOTE])


def _fields(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
