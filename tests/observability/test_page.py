"""The page of a run: whole, readable by a parser, and inert whatever a model said."""

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from big_runs import HOSTILE, RUN, BigRun
from hypothesis import given
from hypothesis import strategies as st
from run_records import RUN as TAPED
from run_records import eventful

import observability.page
from observability import names
from observability.page import page_of
from observability.page.graph import HEIGHT, WIDTH, laid_out, levels
from observability.page.markup import element, inert
from observability.page.page import digest
from observability.page.waterfall import Scale, bar
from observability.run_view import RunView, view_of
from observability.span import Span

FOLDER = Path(observability.page.__file__).parent
VOID = {"meta", "input", "rect", "path"}
NUMBERS = [3, 12, 60]


class Reader(HTMLParser):
    """Reads a page: its elements, and whether each one that was opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.inside: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self.open and self.open[-1] in ("script", "style"):
            self.inside[self.open[-1]] = data

    def having(self, word: str) -> list[dict[str, str | None]]:
        """The elements of a class."""
        return [attributes for _, attributes in self.elements if word in (attributes.get("class") or "").split()]


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def big(tasks: int, *, hostile: bool = False, finish: bool = True) -> RunView:
    view = view_of(RUN, BigRun(tasks, hostile=hostile).play(finish=finish), content=True)
    assert view is not None
    return view


def assert_inert(reader: Reader) -> None:
    tags = [tag for tag, _ in reader.elements]
    assert tags.count("script") == tags.count("style") == 1
    assert not {"img", "iframe", "object", "embed", "link", "form", "base"} & set(tags)
    for tag, attributes in reader.elements:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "style")], tag
        assert (attributes.get("href") or "#").startswith("#")


@pytest.mark.parametrize("tasks", NUMBERS)
@pytest.mark.parametrize("hostile", [False, True])
def test_every_task_has_a_card_a_place_in_the_plan_and_a_row(tasks: int, hostile: bool) -> None:
    view = big(tasks, hostile=hostile)
    reader = read(page_of(view))
    assert_inert(reader)
    names = [task.id for task in view.tasks]
    assert [card["id"] for card in reader.having("task")] == [f"task-{name}" for name in names]
    assert sorted(node["data-task"] or "" for node in reader.having("node")) == sorted(names)
    rows = [row["data-task"] for row in reader.having("entry") if "task" not in (row["class"] or "").split()]
    assert rows == [task.id for task in view.tasks if task.tries]
    assert len(reader.having("edges")) == 1
    assert len(reader.having("attempt")) >= sum(len(task.tries) for task in view.tasks)


def test_what_a_hostile_model_said_is_text_and_nothing_else() -> None:
    page = page_of(big(12, hostile=True))
    reader = read(page)
    assert_inert(reader)
    assert "".join(reader.texts).count("A" * 200_000) == 1
    assert inert(HOSTILE) in "".join(reader.texts)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u0000\u001b]", page)
    assert "⟨U+202E⟩gnp.exe" in page


def test_a_hostile_page_is_built_like_a_harmless_one() -> None:
    hostile, harmless = read(page_of(big(12, hostile=True))), read(page_of(big(12)))
    kept = {"section", "svg", "rect", "path", "main", "header", "nav", "script", "style", "pre"}
    assert [tag for tag, _ in hostile.elements if tag in kept] == [tag for tag, _ in harmless.elements if tag in kept]


def test_the_policy_allows_exactly_the_script_and_the_style_that_are_in_it() -> None:
    reader = read(page_of(big(3)))
    (policy,) = [found["content"] for tag, found in reader.elements if tag == "meta" and "http-equiv" in found]
    assert policy == (
        f"default-src 'none'; style-src '{digest(reader.inside['style'])}'; "
        f"script-src '{digest(reader.inside['script'])}'; base-uri 'none'"
    )
    assert reader.inside["script"] == (FOLDER / "page.js").read_text()
    assert not re.search(r"https?://|innerHTML|eval\(|fetch\(|@import|url\(", page_of(big(3)))


def test_failures_and_retries_can_be_seen_and_filtered() -> None:
    reader = read(page_of(big(12)))
    cards = {str(card["data-task"]): str(card["data-state"]).split() for card in reader.having("task")}
    assert cards["t5-analyst"] == ["failed", "again", "wrong"]
    assert cards["t1-analyst"] == ["completed", "again", "wrong"]
    assert cards["t4-researcher"] == ["completed", "again", "wrong"]
    assert cards["t7-reviewer"] == ["skipped"]
    assert cards["t0-researcher"] == ["completed"]
    text = "".join(reader.texts)
    for told in (
        "failed after 3 attempts",
        "↻ refine: timed out again",
        "taken again",
        "the tool did not answer",
        "lost",
    ):
        assert told in text


@pytest.mark.parametrize(("outcome", "colour"), [("completed", "consumer"), ("declined", "consumer bad")])
def test_a_task_that_was_declined_is_not_drawn_as_one_that_went_well(outcome: str, colour: str) -> None:
    span = Span(
        name="s",
        kind="consumer",
        trace=RUN,
        id="1",
        start_ns=0,
        end_ns=5,
        service="w",
        attributes={names.OUTCOME: outcome},
    )
    drawn = read(str(bar([span], Scale(0, 10))))
    assert [attributes["class"] for tag, attributes in drawn.elements if tag == "rect"] == [colour]


def test_a_question_to_a_person_and_what_was_said_are_in_the_card() -> None:
    view = view_of(TAPED, eventful().entries, content=True)
    assert view is not None
    texts = read(page_of(view)).texts
    assert texts.index("confirm asked · send") < texts.index("confirmed · send · denied")


def test_without_content_no_word_of_it_is_there_and_the_figures_are() -> None:
    page = page_of(big(12, hostile=True), content=False)
    assert "owned" not in page
    assert "Which region" not in page
    assert "Find part" not in page
    assert "tool query returned" in page
    assert "1,050 tokens" in page


def test_a_run_that_goes_on_has_a_page_without_an_answer() -> None:
    text = "".join(read(page_of(big(12, finish=False))).texts)
    assert "so far" in text
    assert "Answer" not in text


@given(st.integers(1, len(eventful().entries)))
def test_a_run_that_was_cut_off_anywhere_has_a_page(length: int) -> None:
    view = view_of(TAPED, eventful().entries[:length], content=True)
    assert view is not None
    assert_inert(read(page_of(view)))


@given(st.text(), st.text())
def test_no_text_becomes_markup(inside: str, value: str) -> None:
    reader = read(element("p", inside, title=value))
    assert reader.elements == [("p", {"title": inert(value)})]
    assert "".join(reader.texts) == inert(inside)


@given(st.dictionaries(st.integers(0, 70), st.sets(st.integers(0, 70))))
def test_tasks_never_lie_on_each_other_and_stand_right_of_what_they_need(drawn: dict[int, set[int]]) -> None:
    needs = {str(name): [str(need) for need in sorted(wanted) if need < name] for name, wanted in drawn.items()}
    places = laid_out(needs)
    assert set(places) == set(needs)
    taken = sorted((place.x, place.y) for place in places.values())
    for (x, y), (right, down) in pairwise(taken):
        assert right >= x + WIDTH or down >= y + HEIGHT
    for name, wanted in needs.items():
        assert all(places[need].x + WIDTH < places[name].x for need in wanted if need in places)


def test_a_circle_which_no_plan_has_is_drawn_anyway() -> None:
    assert levels({"a": ["b"], "b": ["a"]}) == [["a", "b"]]
    assert levels({"a": ["gone"]}) == [["a"]]
    assert levels({}) == []
