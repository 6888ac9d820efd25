import random

from hypothesis import given
from hypothesis import strategies as st

from actors.cli.show import shortened
from actors.cli.story import tree_of
from protocol.messages import Plan, Task


def a_plan(size: int, seed: int) -> Plan:
    chance = random.Random(seed)
    tasks: list[Task] = []
    for number in range(size):
        needs = chance.sample([task.id for task in tasks], k=min(len(tasks), chance.randrange(3)))
        tasks.append(Task(id=f"t{number}", worker="w", intent="x", depends_on=tuple(needs)))
    chance.shuffle(tasks)
    return Plan(tasks=tuple(tasks))


@given(st.integers(1, 30), st.integers())
def test_a_tree_shows_each_task_once_and_below_what_it_needs(size: int, seed: int) -> None:
    plan = a_plan(size, seed)
    tree = tree_of(plan)
    assert sorted(name for _, name in tree) == sorted(task.id for task in plan.tasks)
    depth = {name: deep for deep, name in tree}
    for task in plan.tasks:
        assert depth[task.id] == max((depth[needed] + 1 for needed in task.depends_on), default=0)


def test_a_chain_of_a_thousand_is_drawn_too() -> None:
    tasks = [Task(id=f"t{n}", worker="w", intent="x", depends_on=(f"t{n - 1}",) if n else ()) for n in range(1000)]
    assert tree_of(Plan(tasks=tuple(reversed(tasks))))[-1] == (999, "t999")


def test_a_long_text_is_cut_and_says_so() -> None:
    assert shortened("short\n") == "short\n"
    assert shortened("a\n" * 20) == "a\n" * 5 + "a\n[29 characters more: --full]"
    assert shortened("x" * 1000).endswith("[400 characters more: --full]")
