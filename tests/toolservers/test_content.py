"""What a model is told of what a server gave back."""

import pytest

from actors.toolservers.content import Block, text_of


def test_texts_are_joined_in_order() -> None:
    assert text_of([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]) == "one\ntwo"


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ({"type": "image", "data": "A" * 4000, "mimeType": "image/png"}, "[image, image/png, about 3,000 bytes: not"),
        ({"type": "audio", "data": "", "mimeType": "audio/wav"}, "[audio, audio/wav, about 0 bytes: not shown]"),
        ({"type": "resource_link", "name": "log", "uri": "file:///log"}, "[resource log file:///log: not read]"),
        ({"type": "resource", "resource": {"uri": "file:///a", "text": "hi"}}, "[resource file:///a]\nhi"),
        (
            {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAAA", "mimeType": "application/zip"}},
            "[resource file:///b, application/zip, about 3 bytes: not shown]",
        ),
        ({"type": "hologram"}, "[hologram: not shown]"),
    ],
)
def test_what_is_not_text_is_named_and_not_dumped(block: Block, told: str) -> None:
    assert text_of([block]).startswith(told)


def test_an_object_alone_is_told_as_json_and_nothing_is_said_to_be_nothing() -> None:
    assert text_of([], {"rain": 3}) == '{"rain":3}'
    assert text_of([{"type": "text", "text": "3 mm"}], {"rain": 3}) == "3 mm"
    assert text_of([{"type": "text", "text": ""}]) == "(no output)"
