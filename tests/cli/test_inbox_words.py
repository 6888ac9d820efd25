"""What a person types in an inbox, and what they are shown."""

import msgspec
import pytest

from actors.cli.inbox_words import HELP, Typed, as_data, news, row, understand, whole
from actors.cli.waiting import how_to_answer
from actors.people.waits import OpenHandoff
from protocol.ids import RunId
from protocol.messages import Artifact, Context, Handoff
from protocol.subjects import TaskAddress

RUN = RunId("ab" * 16)
ITEM = OpenHandoff(
    address=TaskAddress(RUN, "default", "counsel", "nda", 2),
    handoff=Handoff(
        run=RUN,
        task="nda",
        attempt=2,
        from_agent="supervisor",
        to_agent="counsel",
        intent="May we show\nthe report?",
        success="yes or no",
        context=(Context(task="find", worker="researcher", output="It is secret.\n\nVery."),),
        artifacts=(Artifact(name="report.pdf", digest="SHA-256=x", size=1200),),
        deadline=220.0,
    ),
    since=90.0,
)


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("", Typed(verb="list")),
        ("  ", Typed(verb="list")),
        ("L", Typed(verb="list")),
        ("?", Typed(verb="help")),
        ("q", Typed(verb="quit")),
        ("12", Typed(verb="show", item="12")),
        ("abababab/nda", Typed(verb="show", item="abababab/nda")),
        ("a 3 yes,  of course ", Typed(verb="answer", item="3", text="yes,  of course")),
        ("a 3", Typed(verb="answer", item="3")),
        ("answer abababab/nda no", Typed(verb="answer", item="abababab/nda", text="no")),
        ("e 3", Typed(verb="edit", item="3")),
        ("d 3 not mine", Typed(verb="decline", item="3", text="not mine")),
        ("more 3 which one?", Typed(verb="ask", item="3", text="which one?")),
        ("a", None),
        ("d 3", None),
        ("m 3 ", None),
        ("yes", None),
        ("quit now", None),
    ],
)
def test_a_line_is_understood_or_not(line: str, typed: Typed | None) -> None:
    assert understand(line) == typed


def test_what_to_type_for_a_handoff_names_its_team() -> None:
    assert how_to_answer(ITEM) == "handoff inbox --as counsel --answer abababab/nda TEXT (or --decline, --ask)"
    elsewhere = msgspec.structs.replace(ITEM, address=TaskAddress(RUN, "legal", "counsel", "nda", 1))
    assert how_to_answer(elsewhere).startswith("handoff inbox --as counsel --team legal --answer abababab/nda TEXT")


def test_help_names_every_verb() -> None:
    for verb in ("a N TEXT", "e N", "d N REASON", "m N QUESTION", "q "):
        assert verb in HELP


def test_a_handoff_is_shown_with_everything_needed_to_answer() -> None:
    assert whole(ITEM, 100.0).splitlines() == [
        "── abababab/nda · from supervisor, attempt 2 · 2m00s left",
        "May we show",
        "the report?",
        "done when: yes or no",
        "┌ find (researcher) found:",
        "│ It is secret.",
        "│ ",
        "│ Very.",
        "artifact: report.pdf (1,200 bytes)",
    ]
    assert row(7, ITEM, 100.0) == ["7", "abababab/nda", "10s", "2m00s", "May we show the report?"]
    assert news(7, ITEM, 100.0) == "new: 7 · abababab/nda · 2m00s left · May we show the report?"


def test_a_handoff_for_a_program_has_its_reference_and_the_time_left() -> None:
    data = as_data(ITEM, 100.0)
    assert (data["ref"], data["left_s"], data["handoff"]) == ("abababab/nda", 120.0, ITEM.handoff)
