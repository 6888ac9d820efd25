import io
import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from actors.cli.lines import facts
from actors.cli.progress import Progress, Row, State
from actors.cli.screen import MARKS, Screen, fold
from actors.record import Entry, Recorded
from actors.run.state import Limits
from protocol import subjects
from protocol.events import Finished, Planned, PlanRejected, Retrying, Skipped, Started, Waiting
from protocol.ids import RunId
from protocol.messages import Answer, Fault, Handoff, Plan, Request, Result, Task
from protocol.steps import ModelCalled, ToolCalled
from protocol.subjects import TaskAddress

RUN = RunId("a" * 32)


class Tape:
    """A run that happens as fast as it is written down: one second between messages."""

    def __init__(self, *tasks: Task) -> None:
        self.progress = Progress(Limits(attempts=2))
        self._ticks = itertools.count(1)
        self.now = 0.0
        self.log(Started(epoch=1, supervisor="s-1", request=Request(id=RUN, text="Why?", team="default")))
        self.log(Planned(plan=Plan(tasks=tasks)))

    def log(self, message: Entry, subject: str = subjects.log(RUN)) -> list[str]:
        self.now = float(next(self._ticks))
        entry = Recorded(seq=int(self.now), time=1000 + self.now, subject=subject, message=message)
        self.progress.take(entry, self.now)
        return facts(message, self.progress)

    def hand(self, name: str, attempt: int = 1) -> list[str]:
        return self.log(Handoff(run=RUN, task=name, attempt=attempt, from_agent="s", to_agent="w", intent="look"))

    def give(self, name: str, attempt: int = 1, error: str = "") -> list[str]:
        fault = Fault(kind="x", message=error, retryable=True) if error else None
        status = "failed" if error else "completed"
        result = Result(run=RUN, task=name, attempt=attempt, worker="w", instance="h-1", status=status, error=fault)
        return self.log(result)

    def step(self, name: str, step: ModelCalled | ToolCalled) -> None:
        self.log(step, TaskAddress(RUN, "default", "w", name, 1).steps)

    def row(self, name: str) -> Row:
        return next(row for row in self.progress.rows(self.now) if row.id == name)


def a_task(name: str, *needs: str) -> Task:
    return Task(id=name, worker="w", intent="look\n at it", depends_on=needs)


def turn(*tools: str) -> ModelCalled:
    uses = [{"type": "tool_use", "id": name, "name": name, "input": "x"} for name in tools]
    content = [{"type": "text", "text": "hm"}, *uses]
    return ModelCalled(model="m", content=msgspec.Raw(msgspec.json.encode(content)), stop_reason="tool_use")


def test_a_task_waits_runs_and_is_done() -> None:
    tape = Tape(a_task("a"), a_task("b", "a"))
    assert [row.state for row in tape.progress.rows(0)] == ["waiting", "waiting"]
    assert tape.hand("a") == ["a → w: look"]
    assert (tape.row("a").state, tape.row("b").state) == ("running", "waiting")
    assert tape.give("a") == ["a done by w-h-1 in 1.00s"]
    assert (tape.row("a").state, tape.row("a").seconds) == ("done", 1.0)


def test_a_running_task_counts_its_seconds() -> None:
    tape = Tape(a_task("a"))
    tape.hand("a")
    assert [row.seconds for row in tape.progress.rows(tape.now + 2.5)] == [2.5]


def test_what_a_task_does_at_the_moment_is_seen() -> None:
    tape = Tape(a_task("a"))
    tape.hand("a")
    assert tape.row("a").doing == ""
    tape.step("a", turn("search", "read"))
    assert tape.row("a").doing == "search"
    tape.step("a", ToolCalled(call="search", tool="search", output=""))
    assert (tape.row("a").doing, tape.row("a").tools) == ("read", 1)
    tape.step("a", ToolCalled(call="read", tool="read", output=""))
    assert (tape.row("a").doing, tape.row("a").tools) == ("thinking", 2)
    tape.give("a")
    assert (tape.row("a").doing, tape.row("a").tools) == ("", 2)
    assert tape.progress.tools("a") == {"search": 1, "read": 1}


def test_trouble_is_told_with_its_reason() -> None:
    tape = Tape(a_task("a"), a_task("b", "a"))
    tape.hand("a")
    assert tape.give("a", error="no\nluck") == ["a failed by w-h-1 in 1.00s: no luck"]
    assert tape.log(Retrying(task="a", attempt=2, not_before=0, reason="no luck")) == [
        "a is tried again (attempt 2): no luck"
    ]
    assert (tape.row("a").state, tape.row("a").attempt, tape.row("a").trouble) == ("retrying", 2, "no luck")
    assert tape.hand("a", 2) == ["a → w (attempt 2): look"]
    tape.give("a", 2, error="no luck at all")
    assert (tape.row("a").state, tape.row("a").trouble) == ("failed", "no luck at all")
    assert tape.log(Skipped(task="b", cause="needs a (failed)")) == ["b skipped: needs a (failed)"]
    assert (tape.row("b").state, tape.row("b").trouble) == ("skipped", "needs a (failed)")


def test_what_was_under_way_when_the_run_ended_has_stopped() -> None:
    tape = Tape(a_task("a"), a_task("b"))
    tape.hand("a")
    tape.log(Finished(answer=Answer(run=RUN, status="cancelled")))
    assert [row.state for row in tape.progress.rows(9)] == ["stopped", "stopped"]


def test_reasons_are_told_one_by_one() -> None:
    tape = Tape(a_task("a"))
    assert tape.log(PlanRejected(faults=("one", "two"))) == ["plan refused: one", "plan refused: two"]
    assert tape.log(Waiting(reason="no w is alive")) == ["waiting: no w is alive"]
    assert tape.log(Started(epoch=2, supervisor="s-2", request=Request())) == ["taken over by s-2"]


def a_row(number: int, state: State) -> Row:
    intent = "fetch the page and count its items " * 5
    return Row(id=f"t-{number}", worker="w", intent=intent, state=state, attempt=1, seconds=1.0, doing="", tools=0)


STATES: list[State] = list(MARKS)


@given(st.lists(st.sampled_from(STATES), max_size=60), st.integers(1, 40))
def test_rows_always_fit_and_none_is_forgotten(states: list[State], room: int) -> None:
    rows = [a_row(number, state) for number, state in enumerate(states)]
    shown, folded = fold(rows, room)
    kinds = len(set(states))
    assert len(shown) + len(folded) <= max(room, kinds)
    assert len(shown) + folded.total() == len(rows)
    assert shown == [row for row in rows if row in shown]


@given(st.lists(st.sampled_from(STATES), min_size=20, max_size=60))
def test_what_runs_stays_as_long_as_anything_done_could_go(states: list[State]) -> None:
    shown, folded = fold([a_row(number, state) for number, state in enumerate(states)], 18)
    if folded["running"]:
        assert not any(row.state in ("done", "waiting") for row in shown)


def screen_of(tape: Tape, width: int, height: int) -> tuple[Screen, Console]:
    console = Console(file=io.StringIO(), force_terminal=True, width=width, height=height, markup=False)
    return Screen(tape.progress, "Why is\x1b[2J it [so]?", console), console


@pytest.mark.parametrize(("tasks", "width", "height"), [(30, 80, 24), (1000, 80, 24), (3, 40, 10), (30, 200, 50)])
def test_a_screen_is_never_bigger_than_the_terminal(tasks: int, width: int, height: int) -> None:
    tape = Tape(*(a_task(f"task-{number}") for number in range(tasks)))
    for number in range(0, tasks, 2):
        tape.hand(f"task-{number}")
    for number in range(0, tasks, 4):
        tape.give(f"task-{number}")
    screen, console = screen_of(tape, width, height)
    lines = console.render_lines(screen.drawn(), pad=False)
    assert len(lines) < height
    assert all(sum(segment.cell_length for segment in line) <= width for line in lines)
    text = "".join(segment.text for line in lines for segment in line)
    assert "Why is[2J it [so]?" in text
    assert f"{tasks:,} tasks" in text


def test_a_screen_says_that_the_bus_is_away_until_it_is_back() -> None:
    tape = Tape(a_task("a"))
    screen, console = screen_of(tape, 80, 24)

    def text() -> str:
        return "".join(segment.text for line in console.render_lines(screen.drawn()) for segment in line)

    screen.open()
    screen.away(True)
    assert "the bus is away" in text()
    screen.away(False)
    assert "the bus is away" not in text()
    screen.close()
