"""The library: searching and reading the documents of a folder."""

from pathlib import Path
from typing import Annotated

import msgspec

from actors.tools.folder import File, Kept, files
from actors.tools.passages import DOCUMENTS, Index
from actors.tools.tool import Tool, tool
from protocol.errors import ToolError

MOST_CHARACTERS = 40_000
MOST_NAMES = 50

Limit = Annotated[int, msgspec.Meta(ge=1, le=20)]


def build(folder: Path) -> list[Tool]:
    """`search_documents` and `read_document` for one folder."""
    index = Kept(folder, DOCUMENTS, Index.of_documents)

    @tool
    def search_documents(query: str, limit: Limit = 5) -> str:
        """Search the documents by words and get the best passages, one a line: document name, dash, its own text.

        Args:
            query: a few words that the passage is likely to contain
            limit: how many passages, 1 to 20
        """
        with index.use() as found:
            passages = found.search(query, limit)
        if passages:
            return "\n".join(f"{passage.source} — {passage.text}" for passage in passages)
        return f"Nothing was found for {query[:200]!r}. {_names(files(folder, DOCUMENTS))}"

    @tool
    def read_document(name: str) -> str:
        """Read one whole document.

        Args:
            name: the name of the document as search_documents gives it, such as pricing.md
        """
        return _read(_named(files(folder, DOCUMENTS), name))

    return [search_documents, read_document]


def _named(found: tuple[File, ...], name: str) -> File:
    # A name is looked up, never joined to a path: what is not listed cannot be reached, however it is written.
    wanted = name.strip().strip("[]").casefold()
    for file in found:
        if wanted in (file.name.casefold(), file.name.rpartition(".")[0].casefold()):
            return file
    raise ToolError(f"there is no document {name[:200]!r}. {_names(found)}")


def _read(file: File) -> str:
    try:
        text = file.text(MOST_CHARACTERS + 1)
    except OSError as error:
        raise ToolError(f"{file.name} cannot be read: {error.strerror}") from error
    if len(text) <= MOST_CHARACTERS:
        return text
    cut = f"the first {MOST_CHARACTERS:,} characters of a file of {file.size:,} bytes"
    return f"{text[:MOST_CHARACTERS]}\n\n[Cut here: {cut}. Use search_documents for the rest.]"


def _names(found: tuple[File, ...]) -> str:
    if not found:
        return "There are no documents in the folder."
    more = f" and {len(found) - MOST_NAMES} more" if len(found) > MOST_NAMES else ""
    return f"The documents are: {', '.join(file.name for file in found[:MOST_NAMES])}{more}."
