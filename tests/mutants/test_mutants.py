"""The list of mutants fits the code: each bug can still be planted, and its tests exist."""

import ast

import msgspec
import pytest
from mutants.catalogue import MUTANTS
from mutants.mutant import Mutant, MutantError, mutated
from mutants.plant import ROOT

EACH = pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)


@EACH
def test_a_mutant_can_be_planted_and_is_python(mutant: Mutant) -> None:
    source = (ROOT / mutant.file).read_text()
    assert ast.dump(ast.parse(mutated(mutant, ROOT))) != ast.dump(ast.parse(source))


@EACH
def test_the_tests_of_a_mutant_exist(mutant: Mutant) -> None:
    assert mutant.tests
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert (ROOT / file).is_file(), test
        assert not name or f"def {name}(" in (ROOT / file).read_text(), test


def test_names_are_used_once() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("old", ["this text is in no file", "import"])
def test_a_mutant_that_does_not_fit_the_code_once_is_an_error(old: str) -> None:
    mutant = msgspec.structs.replace(MUTANTS[0], old=old)
    with pytest.raises(MutantError, match=mutant.file):
        mutated(mutant, ROOT)
