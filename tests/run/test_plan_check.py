from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.run.plan_check import find_cycles, plan_faults, request_faults, unknown_workers
from protocol.messages import Plan, Request, Task


def task(name: str, *needs: str, worker: str = "w", intent: str = "do") -> Task:
    return Task(id=name, worker=worker, intent=intent, depends_on=needs)


@pytest.mark.parametrize(
    ("tasks", "fault"),
    [
        ((), "no tasks"),
        ((task("a"), task("a")), "used twice"),
        ((task("a", "ghost"),), "'ghost', which is not in the plan"),
        ((task("a", "a"),), "depends on itself"),
        ((task("a", "b"), task("b", "a")), "circle: a → b → a"),
        ((task("a.b"),), "not a valid id"),
        ((task("a", worker="w.>"),), "not a valid id"),
        ((task("a", intent="  "),), "no intent"),
        ((task("a", worker="ghost"),), "no such worker (known: w)"),
        ((task("b"), task("a", "b", "b")), "twice"),
        ((Task(id="a", worker="w", intent="x", optional=("b",)),), "does not depend on it"),
        (tuple(task(f"t{n}") for n in range(6)), "at most 5"),
    ],
)
def test_a_bad_plan_is_refused_with_the_reason(tasks: tuple[Task, ...], fault: str) -> None:
    faults = plan_faults(Plan(tasks=tasks), 5, {"w"})
    assert any(fault in found for found in faults), faults


def test_all_faults_are_told_at_once() -> None:
    faults = plan_faults(Plan(tasks=(task("a", "x"), task("a", worker="g h"), task("c", intent=""))), 5, {"w"})
    assert len(faults) >= 4


def test_a_circle_is_told_beside_all_other_faults() -> None:
    faults = plan_faults(Plan(tasks=(task("a", "b"), task("b", "a", "b", "x", worker="ghost"))), 5, {"w"})
    for told in ("circle: a → b → a", "'x', which is not in the plan", "depends on itself", "no such worker"):
        assert any(told in fault for fault in faults), (told, faults)


def test_a_plan_that_is_wrong_all_over_is_refused_in_few_words() -> None:
    tasks = tuple(task("x" * 5000, *(f"{n}.{m}" for m in range(50))) for n in range(900))
    faults = plan_faults(Plan(tasks=tasks), 1000, {"w"})
    assert sum(map(len, faults)) < 100_000
    assert faults[-1].startswith("and ")
    assert sum(map(len, unknown_workers(Plan(tasks=tasks), [f"worker{n}" for n in range(100)]))) < 100_000


def test_a_good_plan_has_no_faults() -> None:
    assert plan_faults(Plan(tasks=(task("a"), task("b", "a"))), 5, {"w"}) == []


names = st.sampled_from("abcdef")


@given(st.dictionaries(names, st.sets(names), min_size=1))
def test_circles_are_found_exactly_when_there_are_some_and_share_no_task(graph: dict[str, set[str]]) -> None:
    tasks = [task(name, *sorted(needs & set(graph) - {name})) for name, needs in graph.items()]
    needs = {t.id: set(t.depends_on) for t in tasks}
    circles = find_cycles(tasks)
    for circle in circles:
        assert all(other in needs[one] for one, other in pairwise(circle))
        assert circle[0] == circle[-1]
    members = [name for circle in circles for name in circle[:-1]]
    assert len(members) == len(set(members))
    done: set[str] = set()
    while free := {name for name, wants in needs.items() if name not in done and wants <= done}:
        done |= free
    assert bool(circles) == (done != set(needs))
    rest = {name: wants - set(members) for name, wants in needs.items() if name not in members}
    done = set()
    while free := {name for name, wants in rest.items() if name not in done and wants <= done}:
        done |= free
    assert done == set(rest), "no circle is left once those that were found are cut"


def test_a_bad_run_id_is_a_fault() -> None:
    assert "not a valid run id" in request_faults(Request(id="../x", text="t"))[0]
