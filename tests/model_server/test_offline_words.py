"""Words, figures, listings and schemas: the pure parts, on any text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.model_server.offline.figures import expressions, figures, numbers
from actors.model_server.offline.listing import is_empty, names, passages, rows, tables
from actors.model_server.offline.schema import Hints, filled
from actors.model_server.offline.sections import parts, section, with_note, without_note
from actors.model_server.offline.words import STOP_WORDS, keywords, sentences, shortened, stem, stems


@pytest.mark.parametrize(
    "forms",
    [
        ("calculate", "calculates", "calculating", "calculation"),
        ("compare", "compares", "comparing", "comparison"),
        ("policy", "policies"),
        ("write", "writes", "writing", "written"),
        ("summary", "summarise", "summaries"),
        ("search", "searches", "searching"),
        ("find", "finds", "found"),
    ],
)
def test_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


def test_words_of_different_meaning_have_different_stems() -> None:
    assert len(stems("revenue region robot report price policy")) == 6


def test_sentences_end_where_they_end() -> None:
    text = "# Title\nIt costs 3.5 euros. It is blue.\n- A point\n- Another one! Really?\n---"
    assert sentences(text) == ["It costs 3.5 euros.", "It is blue.", "A point", "Another one!", "Really?"]


@given(st.text())
def test_no_text_breaks_the_reading_of_words(text: str) -> None:
    assert not set(keywords(text)) & STOP_WORDS
    assert len(set(keywords(text))) == len(keywords(text))
    assert all(sentence.strip() for sentence in sentences(text))
    assert len(shortened(text, 50)) <= 50


@given(st.text())
def test_no_text_breaks_the_reading_of_figures(text: str) -> None:
    numbers(text)
    figures(text)
    assert all(any(sign in one for sign in "+-*/%") for one in expressions(text))


@given(st.text())
def test_no_output_breaks_the_reading_of_listings(text: str) -> None:
    is_empty(text)
    names(text)
    passages(text)
    tables(text)
    lengths = {len(row) for row in rows(text)}
    assert len(lengths) <= 1


@given(st.text())
def test_the_note_is_there_once_however_often_it_is_added(text: str) -> None:
    once = with_note(text)
    assert with_note(once) == once
    assert without_note(once) == without_note(text)


@given(st.text(alphabet=st.characters(blacklist_characters="<>&\r\n")))
def test_a_section_gives_back_what_was_put_in(text: str) -> None:
    assert section(f"before <task>\n{text}\n</task> after", "task") == text.strip()


def test_results_are_read_with_their_attributes_in_either_quotes() -> None:
    found = parts('<result task=\'a "b"\' worker="w" status="failed" builds_on="x y">\n1 &lt; 2\n</result>')
    assert [(one.task, one.worker, one.status, one.builds_on, one.text) for one in found] == [
        ('a "b"', "w", "failed", ("x", "y"), "1 < 2")
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("between 1,200 and 3.5 million euros", [1200.0, 3_500_000.0]),
        ("-5 degrees, 40% and €300", [-5.0, 40.0, 300.0]),
        ("2025-08-12 and T-1001 and C2", []),
    ],
)
def test_numbers_are_told_from_names_and_dates(text: str, found: list[float]) -> None:
    assert numbers(text) == found


@pytest.mark.parametrize(
    "text", ["from 2023 to 2024", "on 12/08/2025", "2025-08-12", "pages 3-5", "24/7", "no numbers"]
)
def test_dates_and_ranges_are_not_calculations(text: str) -> None:
    assert expressions(text) == []


def test_a_figure_knows_its_year_and_its_unit() -> None:
    first, second = figures("Revenue was 17.38 million euros in 2024 and 22.25 million euros in 2025.")
    assert (first.value, first.year, first.unit) == (17_380_000.0, 2024, "euros")
    assert (second.value, second.year, second.unit) == (22_250_000.0, 2025, "euros")


SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "string", "minLength": 3, "maxLength": 5},
            {"type": "integer", "minimum": 2, "maximum": 9},
            {"type": "number", "exclusiveMinimum": 1},
            {"type": "boolean"},
            {"type": "null"},
            {"enum": ["a", "b"]},
            {"const": 7},
            {"type": ["null", "integer"]},
        ]
    ),
    lambda inner: (
        inner.map(lambda one: {"type": "array", "items": one, "minItems": 2})
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(
            lambda known: {"type": "object", "properties": known, "required": sorted(known)}
        )
    ),
    max_leaves=6,
)


@given(SCHEMAS, st.text(max_size=20), st.lists(st.floats(-100, 100), max_size=3))
def test_input_made_for_a_schema_is_valid_by_it(schema: dict[str, Any], text: str, found: list[float]) -> None:
    assert valid(filled(schema, schema, Hints(text, found)), schema)


def valid(value: Any, schema: dict[str, Any]) -> bool:
    if "const" in schema:
        return value == schema["const"]
    if "enum" in schema:
        return value in schema["enum"]
    match schema["type"]:
        case "string":
            return isinstance(value, str) and schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 99)
        case "integer":
            return type(value) is int and schema["minimum"] <= value <= schema["maximum"]
        case "number":
            return isinstance(value, int | float) and value > schema["exclusiveMinimum"]
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "array":
            return len(value) >= 2 and all(valid(one, schema["items"]) for one in value)
        case "object":
            known = schema["properties"]
            return set(value) == set(known) and all(valid(value[name], known[name]) for name in known)
        case _:
            return value is None or isinstance(value, int)
