"""`handoff inbox` and `handoff approve --task`: what they refuse before they look at any bus."""

import pytest

from tests.cli.running import Here


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["inbox", "--list"], "Say with --as whose inbox is meant"),
        (["inbox", "--answer", "a/b", "x"], "Say with --as whose inbox is meant"),
        (["inbox", "--as", "a.b"], "worker"),
        (["inbox", "--as", "a", "--list", "--decline", "a/b", "x"], "Only one of"),
        (["inbox", "--as", "a", "--answer", "a/b"], "requires 2 arguments"),
        (["inbox", "--as", "a", "--answer", "a/b", "  "], "a/b: say something"),
        (["inbox", "--as", "a", "--ask", "a/b", "-"], "a/b: say something"),
        (["approve", "abcdef", "--deny"], "say with --task"),
        (["approve", "abcdef", "--call", "c"], "say with --task"),
        (["approve", "abcdef", "--task", "t", "--reject", "no"], "--deny refuses it"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_to_do(here: Here, arguments: list[str], words: str) -> None:
    ended = here(*arguments)
    assert ended.code == 2
    assert words in ended.err


def test_without_a_bus_it_says_so(here: Here) -> None:
    for arguments in (["inbox"], ["inbox", "--as", "counsel"], ["inbox", "--as", "counsel", "--answer", "a/b", "x"]):
        ended = here(*arguments, "--timeout", "0.1")
        assert (ended.code, "no bus is running" in ended.err) == (3, True)
