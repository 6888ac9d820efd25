import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.teams import SHIPPED
from actors.tools import library
from actors.tools.library import MOST_CHARACTERS
from actors.tools.tool import Tool
from protocol.errors import ToolError

PRICING = """# Pricing

Valid since February.

## Robots

- Carrier C2: list price 28,000 euros.
- Picker P1: list price 52,000 euros.

The average discount was 9.5% in 2025.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    (inside / "notes").mkdir(parents=True)
    (inside / "pricing.md").write_text(PRICING)
    (inside / "incident.txt").write_text("The docks stopped charging on 12 August 2025.\n\nNobody was hurt.")
    (inside / "notes" / "visit.md").write_text("A visit to the warehouse in Oslo.")
    (inside / "data.csv").write_text("warehouse,robots\nOslo,3\n")
    (tmp_path / "secret.md").write_text("the secret warehouse")
    return inside


async def search(folder: Path, query: str, limit: int = 5) -> str:
    found, _ = library.build(folder)
    return await found.call({"query": query, "limit": limit})


def reader(folder: Path) -> Tool:
    return library.build(folder)[1]


async def test_a_search_gives_the_documents_own_words_with_its_name(folder: Path) -> None:
    assert await search(folder, "price of the Picker", 1) == "pricing.md — Picker P1: list price 52,000 euros."


async def test_words_are_found_in_other_forms_and_cases(folder: Path) -> None:
    assert "incident.txt — The docks stopped charging" in await search(folder, "CHARGED dock")


async def test_the_name_of_a_document_and_its_heading_count_too(folder: Path) -> None:
    assert (await search(folder, "incident")).startswith("incident.txt — ")
    assert "list price 28,000 euros" in await search(folder, "robots")


async def test_the_limit_is_kept_and_bad_limits_are_refused(folder: Path) -> None:
    assert len((await search(folder, "price euros discount charging", 2)).splitlines()) == 2
    for limit in (0, 21):
        with pytest.raises(ToolError):
            await search(folder, "price", limit)


async def test_documents_in_folders_below_are_found_under_their_path(folder: Path) -> None:
    assert await search(folder, "Oslo") == "notes/visit.md — A visit to the warehouse in Oslo."
    assert await reader(folder).call({"name": "notes/visit.md"}) == "A visit to the warehouse in Oslo."


async def test_nothing_found_is_an_answer_that_names_the_documents(folder: Path) -> None:
    text = await search(folder, "zeppelin")
    assert text.startswith("Nothing was found for 'zeppelin'.")
    assert "incident.txt, notes/visit.md, pricing.md" in text


async def test_an_empty_folder_is_said_to_be_empty(tmp_path: Path) -> None:
    assert "no documents in the folder" in await search(tmp_path, "anything")


async def test_a_new_or_changed_document_is_found_without_a_restart(folder: Path) -> None:
    find, _ = library.build(folder)
    assert "Nothing was found" in await find.call({"query": "zeppelin"})
    (folder / "new.md").write_text("A zeppelin arrived.")
    assert await find.call({"query": "zeppelin"}) == "new.md — A zeppelin arrived."
    (folder / "new.md").write_text("The balloon left again.")
    assert await find.call({"query": "balloon"}) == "new.md — The balloon left again."


async def test_many_searches_at_once_all_get_their_answer(folder: Path) -> None:
    find, _ = library.build(folder)
    texts = await asyncio.gather(*(find.call({"query": "Picker", "limit": 1}) for _ in range(20)))
    assert set(texts) == {"pricing.md — Picker P1: list price 52,000 euros."}


@pytest.mark.parametrize(
    "query",
    [
        '"',
        '""',
        "*",
        "price*",
        "NEAR(price euros)",
        "price AND",
        "OR OR",
        "text:price",
        "-price",
        "^price",
        "(",
        "{a b}:",
        "\x00",
        "_",
        "'",
    ],
)
async def test_search_syntax_has_no_meaning_and_does_no_harm(folder: Path, query: str) -> None:
    assert await search(folder, query)


SAMPLE_SEARCH = library.build(SHIPPED / "default" / "data")[0]


@given(query=st.text(max_size=80) | st.text(alphabet='"*:^(){}+-_ aNEAR', max_size=30), limit=st.integers(1, 20))
def test_no_query_raises(query: str, limit: int) -> None:
    text: str = SAMPLE_SEARCH.function(query=query, limit=limit)
    assert text.startswith("Nothing was found") or 1 <= len(text.splitlines()) <= limit


async def test_a_document_is_read_whole_by_name_with_or_without_suffix_case_and_brackets(folder: Path) -> None:
    for name in ("pricing.md", "pricing", "PRICING.md", "[pricing.md]"):
        assert await reader(folder).call({"name": name}) == PRICING


@pytest.mark.parametrize(
    "name",
    [
        "../secret.md",
        "notes/../../secret.md",
        "./pricing.md",
        "..\\secret.md",
        "secret.md",
        "link.md",
        "way/secret.md",
        "pricing.md\x00",
        "\x00",
        "",
        ".",
        "..",
        "notes",
        "data.csv",
        "/etc/passwd",
        "~/secret.md",
        "file:///etc/passwd",
        "a" * 5000,
    ],
)
async def test_a_name_that_is_not_a_document_of_the_folder_is_refused(folder: Path, name: str) -> None:
    (folder / "link.md").symlink_to(folder.parent / "secret.md")
    (folder / "way").symlink_to(folder.parent, target_is_directory=True)
    with pytest.raises(ToolError, match=r"there is no document .* The documents are: incident\.txt"):
        await reader(folder).call({"name": name})


async def test_an_absolute_path_is_refused_even_if_it_leads_into_the_folder(folder: Path) -> None:
    with pytest.raises(ToolError):
        await reader(folder).call({"name": str(folder / "pricing.md")})


async def test_a_link_out_of_the_folder_is_not_searched_either(folder: Path) -> None:
    (folder / "link.md").symlink_to(folder.parent / "secret.md")
    assert "Nothing was found" in await search(folder, "secret")


async def test_a_long_document_is_cut_with_a_note(folder: Path) -> None:
    (folder / "long.txt").write_text("x" * (MOST_CHARACTERS + 1))
    text = await reader(folder).call({"name": "long.txt"})
    assert text.startswith(
        "x" * MOST_CHARACTERS + "\n\n[Cut here: the first 40,000 characters of a file of 40,001 bytes."
    )
    (folder / "long.txt").write_text("x" * MOST_CHARACTERS)
    assert await reader(folder).call({"name": "long.txt"}) == "x" * MOST_CHARACTERS
