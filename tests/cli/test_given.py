import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.cli.plan_text import parse_plan
from protocol import codec
from protocol.errors import InvalidError
from protocol.messages import Plan, Task


def faults(data: bytes) -> tuple[str, ...]:
    with pytest.raises(InvalidError) as caught:
        parse_plan(data, "plan.json")
    return caught.value.faults


def test_every_part_that_does_not_fit_is_told_at_once() -> None:
    tasks = [{"id": 1}, {"id": "b", "worker": "w", "intent": "x", "depend_on": ["a"]}, 7]
    told = faults(json.dumps({"tasks": tasks, "strategy": "guess", "gaol": "x"}).encode())
    assert len(told) == 7
    for part in (
        "no field 'gaol'",
        "task 1: Expected `str`",
        "task 1: the field 'worker' is missing",
        "task 1: the field 'intent' is missing",
        "task 2: there is no field 'depend_on'",
        "task 3",
        "'guess'",
    ):
        assert any(part in fault for fault in told), (part, told)


def test_a_plan_with_a_field_that_does_not_fit_is_told_its_other_faults_too() -> None:
    first = {"id": "a", "worker": "w", "intent": "x", "budget": {"tokens": "many"}, "depends_on": 3}
    second = {"id": "b", "worker": "", "intent": "x", "depends_on": ["zz", "a"]}
    told = faults(json.dumps({"tasks": [first, second, second]}).encode())
    for part in ("$.budget.tokens", "$.depends_on", "'zz'", "worker", "'b'"):
        assert any(part in fault for fault in told), (part, told)
    assert not any("'a', which is not in the plan" in fault for fault in told)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"goal": "x",\n "tasks": [\n  {"id": "a" "worker": "w"}\n]}', "line 3, column 14"),
        ('{"goal": "é" "tasks": []}', "line 1, column 14"),
        ('{"tasks": [\n', "line 2, column 1"),
    ],
)
def test_a_mistake_in_json_is_told_with_its_line_and_column(text: str, place: str) -> None:
    (fault,) = faults(text.encode())
    assert place in fault


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff{}", "not JSON"),
        (b'{"goal": "\xff", "tasks": []}', "not JSON"),
        (b"[]", "must be an object"),
        (b"{}", 'no list of "tasks"'),
        (b'{"tasks": 3}', 'no list of "tasks"'),
        (b'{"tasks": ' + b"[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_plan_is_refused_in_one_sentence(data: bytes, part: str) -> None:
    (fault,) = faults(data)
    assert part in fault


def test_a_null_where_a_default_stands_is_the_default() -> None:
    task = {"id": "a", "worker": "w", "intent": "i", "success": None, "depends_on": None, "budget": None}
    plan = parse_plan(json.dumps({"tasks": [task], "strategy": None, "goal": None}).encode(), "plan.json")
    assert plan == Plan(tasks=(Task(id="a", worker="w", intent="i"),))


@given(
    st.lists(st.builds(Task, id=st.text(), worker=st.text(), intent=st.text(), depends_on=st.tuples(st.text()))),
    st.text(),
)
def test_whatever_is_written_as_a_plan_is_read_back_the_same(tasks: list[Task], goal: str) -> None:
    plan = Plan(goal=goal, tasks=tuple(tasks))
    assert parse_plan(codec.encode(plan), "plan.json") == plan
