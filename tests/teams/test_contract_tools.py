from pathlib import Path

import pytest

from actors.teams.contract import tools
from protocol.errors import ToolError
from tests.teams.calling import call, data_of

DATA = data_of("contract")


async def test_a_clause_is_quoted_word_for_word_with_its_number_and_contract() -> None:
    found = await call(tools.clauses, DATA, "find_clauses", "What is the penalty in the Pellworth NDA?")
    assert found.splitlines()[0] == (
        "Pellworth NDA, clause 3.1 (Penalty): A party that breaks clause 1 pays 100,000 euros for each breach, "
        "whatever the damage. [contracts/pellworth-nda.md]"
    )


async def test_only_the_named_contract_is_searched() -> None:
    found = await call(tools.clauses, DATA, "find_clauses", "liability halcyon")
    assert "limited to 50 percent" in found
    assert "orrery" not in found.lower()


async def test_a_subject_of_no_clause_is_answered_with_the_topics() -> None:
    found = await call(tools.clauses, DATA, "find_clauses", "xylophone")
    assert found.startswith("No clause speaks of 'xylophone'. The topics are: Supply, ")


@pytest.mark.parametrize(
    ("contract", "broken"),
    [
        ("Halcyon supply agreement", {"R1", "R2", "R4"}),
        ("Orrery cloud subscription", {"R2", "R3", "R6", "R7"}),
        ("Pellworth NDA", {"R5", "R8", "R10"}),
    ],
)
async def test_the_planted_breaches_are_found_and_no_others(contract: str, broken: set[str]) -> None:
    found = await call(tools.rules, DATA, "check_rules", contract)
    assert {line.partition(" ")[0] for line in found.splitlines() if " broken (" in line} == broken


@pytest.mark.parametrize(
    ("contract", "points", "kind"), [("halcyon", 11, "red"), ("orrery", 16, "red"), ("pellworth", 9, "amber")]
)
async def test_the_risk_adds_the_points_of_the_broken_rules(contract: str, points: int, kind: str) -> None:
    assert f"{points} risk points, class {kind}" in await call(tools.risk, DATA, "score_risk", contract)


async def test_the_value_above_the_cap_follows_from_value_term_and_clause() -> None:
    found = await call(tools.risk, DATA, "score_risk", "risk of the Halcyon agreement")
    assert "total value 1,440,000 euros over 36 months" in found
    assert "1,200,000 euros of it lie above the cap of 240,000 euros" in found


async def test_every_contract_is_scored_where_none_is_named() -> None:
    assert (await call(tools.risk, DATA, "score_risk", "all")).count("risk points") == 3


@pytest.mark.parametrize("asked", ["R3", "wording for data protection"])
async def test_wording_is_found_by_rule_and_by_topic(asked: str) -> None:
    assert "within 72 hours" in (await call(tools.wording, DATA, "find_wording", asked)).splitlines()[0]


async def test_a_folder_without_the_contracts_is_told_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"there is no contract_values\.csv in the data folder: add it"):
        await call(tools.clauses, tmp_path, "find_clauses", "liability")
