"""`handoff inbox` and `handoff approve --task`: what they refuse, and a person in a team of files."""

from pathlib import Path

import pytest

from tests.cli.running import Here, Process, handoff


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
        (["approve", "abcdef", "--reject", ""], "--reject COMMENT"),
        (["approve", "abcdef", "--reject", "  "], "--reject COMMENT"),
        (["approve", "abcdef", "--asked", "0"], "--asked"),
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


TEAM = """
name = "office"
summary = "Answers by asking a lawyer."
samples = ["Is it fair?"]

[[workers]]
name = "legal-counsel"
summary = "Lawyer: contracts, liability, and whether something is fair."
person = true
"""


@pytest.mark.process
def test_a_person_of_a_team_file_answers_what_the_planner_hands_out(home: Path, tmp_path: Path) -> None:
    (tmp_path / "team.toml").write_text(TEAM)
    asking = Process(home, "ask", "--team", "./team.toml", "Is clause 4 of the contract fair?", cwd=tmp_path)
    try:
        line = asking.until_said("→ legal-counsel")
        assert handoff(home, "workers", "--json", cwd=tmp_path).data[0]["person"]
        own = ("inbox", "--as", "legal-counsel", "--team", "office")
        (item,) = handoff(home, *own, "--list", "--json").data
        assert "clause 4" in item["handoff"]["intent"], line
        given = handoff(home, *own, "--answer", item["ref"], "-", stdin=b"It is fair.")
        assert given.code == 0, given.err
        ended = asking.ended()
    finally:
        asking.close()
    assert (ended.code, "It is fair." in ended.out) == (0, True)
