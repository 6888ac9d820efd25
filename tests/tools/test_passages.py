from hypothesis import given
from hypothesis import strategies as st

from actors.tools.passages import MOST_CHARACTERS, Index, Passage, cut


def test_paragraphs_and_list_items_are_passages_under_their_heading() -> None:
    text = "# Title\n\nFirst\nparagraph.\n\n## Part ##\nIntro:\n- one\n- two\n  goes on\n\n* three\n"
    assert list(cut("a.md", text)) == [
        Passage("a.md", "Title", "First paragraph."),
        Passage("a.md", "Part", "Intro:"),
        Passage("a.md", "Part", "one"),
        Passage("a.md", "Part", "two goes on"),
        Passage("a.md", "Part", "three"),
    ]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    found = list(cut("a.md", "A sentence of some length. " * 60))
    assert len(found) == 3
    assert all(passage.text.endswith("length.") for passage in found)


@given(st.text(max_size=3000))
def test_a_passage_is_never_empty_and_never_too_long(text: str) -> None:
    assert all(0 < len(passage.text) <= MOST_CHARACTERS for passage in cut("a.md", text))


@given(st.text(alphabet="ab .!?\n", max_size=3000))
def test_nothing_of_a_text_without_headings_and_lists_is_lost(text: str) -> None:
    assert "".join("".join(passage.text.split()) for passage in cut("a.md", text)) == "".join(text.split())


def test_the_passage_with_more_of_the_words_comes_first() -> None:
    index = Index([Passage("a", "", "the price"), Passage("b", "", "the price of robots"), Passage("c", "", "a list")])
    assert [passage.source for passage in index.search("price of robots", 5)] == ["b", "a"]


def test_a_query_of_fillers_only_is_still_a_query() -> None:
    assert Index([Passage("a", "", "to be or not to be")]).search("to be", 1)
    assert Index([Passage("a", "", "to be")]).search("?!", 1) == []
