"""Passages: documents cut into short excerpts, and a full-text index over them."""

import re
import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from actors.tools.folder import File

DOCUMENTS = (".md", ".txt")
MOST_CHARACTERS = 700
MOST_WORDS = 32

_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*$")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W_]+")
_FILLERS = (
    " a about an and are as at be by did do does for from had has have how in is it its of on or our that the"
    " their there these they this to was we were what when where which who why will with "
)


class Passage(NamedTuple):
    """An excerpt of a document, in its own words, under its nearest heading."""

    source: str
    heading: str
    text: str


def words(text: str) -> list[str]:
    """The words of a text that carry meaning, in lower case."""
    return [word for word in map(str.lower, _WORD.findall(text)) if f" {word} " not in _FILLERS]


def sentences(text: str) -> list[str]:
    """The sentences of a passage."""
    return [sentence for sentence in _SENTENCE_END.split(text) if sentence]


def passages(files: Sequence[File]) -> list[Passage]:
    """All passages of the documents."""
    return [passage for file in files for passage in cut(file.name, file.text())]


def cut(source: str, text: str) -> Iterator[Passage]:
    """The passages of one document: its paragraphs and list items, long ones in parts."""
    heading = ""
    for block in re.split(r"\n\s*\n|\n(?=#)|(?<=\S)\n(?=[-*] )", text.replace("\r\n", "\n")):
        first, _, rest = block.strip().partition("\n")
        title = _HEADING.match(first[:300])
        if title:
            heading = title[1]
        body = rest if title else re.sub(r"^\s*[-*] ", "", block)
        yield from (Passage(source, heading, part) for part in _parts(" ".join(body.split())))


def _parts(text: str) -> Iterator[str]:
    part = ""
    for sentence in sentences(text):
        if part and len(part) + 1 + len(sentence) > MOST_CHARACTERS:
            yield part
            part = ""
        part = f"{part} {sentence}".strip()
        while len(part) > MOST_CHARACTERS:
            yield part[:MOST_CHARACTERS]
            part = part[MOST_CHARACTERS:]
    if part:
        yield part


class Index:
    """Finds passages by words, the best first. Not for two threads at once."""

    def __init__(self, found: Sequence[Passage]) -> None:
        self.passages = found
        self._database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._database.close)
        self._database.execute(
            "create virtual table passage using fts5(source, heading, text, tokenize = 'porter unicode61')"
        )
        self._database.executemany("insert into passage values (?, ?, ?)", found)

    @classmethod
    def of_documents(cls, files: Sequence[File]) -> "Index":
        """The index over these documents."""
        return cls(passages(files))

    def search(self, query: str, limit: int) -> list[Passage]:
        """The passages that say most of what is asked; the query has no syntax, only words."""
        asked = (words(query) or _WORD.findall(query))[:MOST_WORDS]
        if not asked:
            return []
        rows = self._database.execute(
            "select rowid from passage where passage match ? order by bm25(passage, 2.0, 2.0, 1.0), rowid limit ?",
            (" OR ".join(f'"{word}"' for word in dict.fromkeys(asked)), limit),
        )
        return [self.passages[row - 1] for (row,) in rows]
