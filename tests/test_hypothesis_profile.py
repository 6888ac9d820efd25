"""No test that hypothesis drives has a deadline: how long an example takes says how busy the machine is."""

import ast
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent


@pytest.mark.parametrize("profile", ["suite", "soak"])
def test_a_profile_has_no_deadline(profile: str) -> None:
    assert settings.get_profile(profile).deadline is None


def test_one_of_these_profiles_is_loaded() -> None:
    assert settings.default is not None
    assert settings.default.deadline is None


def test_no_test_sets_a_deadline_of_its_own() -> None:
    calls = [
        (path.name, node.lineno)
        for path in TESTS.rglob("*.py")
        if path.name != "conftest.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "settings"
        if any(keyword.arg == "deadline" for keyword in node.keywords)
    ]
    assert calls == []
