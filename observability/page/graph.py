"""The plan as a picture: tasks in columns by what they need, drawn as SVG."""

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

import msgspec

from observability.page.markup import Markup, element, join
from observability.run_view import TaskView
from observability.wording import count, seconds

WIDTH, HEIGHT = 176, 44
ACROSS, DOWN = 48, 12
TALLEST = 14
"""How many tasks stand in one column; a level with more is broken into several."""

MARGIN = 12
LONGEST_NAME = 20


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a task stands, its upper left corner."""

    x: float
    y: float


def drawing(tasks: Sequence[TaskView]) -> Markup:
    """The tasks and what they need."""
    places = laid_out({task.id: task.task.depends_on for task in tasks})
    width = max((place.x for place in places.values()), default=0) + WIDTH + MARGIN
    height = max((place.y for place in places.values()), default=0) + HEIGHT + MARGIN
    edges = [
        _edge(places[need], places[task.id], task.id, need)
        for task in tasks
        for need in task.task.depends_on
        if need in places
    ]
    nodes = [_node(task, places[task.id]) for task in tasks]
    return element(
        "svg",
        element("g", edges, class_="edges"),
        element("g", nodes, class_="nodes"),
        class_="graph",
        width=width,
        height=height,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_label=f"{count(len(tasks), 'task')} and what they need",
    )


def laid_out(needs: Mapping[str, Sequence[str]]) -> dict[str, Place]:
    """A place for each task: right of everything it needs, as near as may be to the height of that."""
    places: dict[str, Place] = {}
    x = float(MARGIN)
    tallest = max((min(TALLEST, len(level)) for level in levels(needs)), default=0)
    for level in levels(needs):
        ordered = sorted(level, key=lambda name: _height(needs[name], places))
        for first in range(0, len(ordered), TALLEST):
            column = ordered[first : first + TALLEST]
            top = MARGIN + (tallest - len(column)) * (HEIGHT + DOWN) / 2
            for row, name in enumerate(column):
                places[name] = Place(x=x, y=top + row * (HEIGHT + DOWN))
            x += WIDTH + (ACROSS if first + TALLEST >= len(ordered) else DOWN)
    return places


def levels(needs: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The tasks by how long a chain they need; those of a circle, which no plan that ran has, come last."""
    known = {name: [need for need in wanted if need in needs] for name, wanted in needs.items()}
    depth: dict[str, int] = {}
    try:
        for name in TopologicalSorter(known).static_order():
            depth[name] = max((depth[need] + 1 for need in known[name]), default=0)
    except CycleError:
        depth = dict.fromkeys(needs, 0)
    deepest = max(depth.values(), default=-1)
    return [[name for name in needs if depth[name] == level] for level in range(deepest + 1)]


def _height(needed: Sequence[str], places: Mapping[str, Place]) -> float:
    found = [places[need].y for need in needed if need in places]
    return sum(found) / len(found) if found else 0.0


def _edge(start: Place, end: Place, task: str, need: str) -> Markup:
    x1, y1 = start.x + WIDTH, start.y + HEIGHT / 2
    x2, y2 = end.x, end.y + HEIGHT / 2
    bend = max(20.0, (x2 - x1) / 2)
    curve = f"M{x1:g} {y1:g} C{x1 + bend:g} {y1:g} {x2 - bend:g} {y2:g} {x2:g} {y2:g}"
    return element("path", d=curve, data_from=need, data_to=task)


def _node(task: TaskView, place: Place) -> Markup:
    name = task.id if len(task.id) <= LONGEST_NAME else task.id[: LONGEST_NAME - 1] + "…"
    took = seconds((task.end_ns - task.start_ns) / 1e9) if task.tries else task.status
    tried = f" · {len(task.tries)} attempts" if len(task.tries) > 1 else ""
    box = element("rect", x=place.x, y=place.y, width=WIDTH, height=HEIGHT, rx=7)
    words = join(
        element("text", name, x=place.x + 12, y=place.y + 18, class_="name"),
        element("text", f"{task.worker[:14]} · {took}{tried}", x=place.x + 12, y=place.y + 34, class_="fact"),
        element("title", f"{task.id}: {task.status}"),
    )
    return element("a", box, words, href=f"#task-{task.id}", class_=f"node {task.status}", data_task=task.id)
