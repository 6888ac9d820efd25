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
from actors.run.limits import Limits
from protocol import subjects
from protocol.controls import Approve, Edit
from protocol.events import (
    Approved,
    Condensed,
    Finished,
    GaveUp,
    Judged,
    Planned,
    PlanRejected,
    Refined,
    ReplanFailed,
    Replanned,
    Rerouted,
    Retrying,
    Skipped,
    Started,
    Synthesized,
    Waiting,
)
from protocol.ids import RunId
from protocol.messages import Answer, Budget, Contradiction, Fault, Handoff, Plan, Request, Result, Task
from protocol.steps import ConfirmAsked, Confirmed, ModelCalled, Step, ToolCalled
from protocol.subjects import TaskAddress

RUN = RunId("a" * 32)


class Tape:
    """A run that happens as fast as it is written down: one second between messages."""

    def __init__(self, *tasks: Task, review: bool = False) -> None:
        self.progress = Progress(Limits(attempts=2))
        self._ticks = itertools.count(1)
        self.now = 0.0
        request = Request(id=RUN, text="Why?", team="default", review=review)
        self.log(Started(epoch=1, supervisor="s-1", request=request))
        self.told = self.log(Planned(plan=Plan(tasks=tasks)))

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

    def step(self, name: str, step: Step) -> None:
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
    assert tape.log(GaveUp(task="a", reason="no luck at all")) == ["a given up: no luck at all"]
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
    request = Request(budget=Budget(usd=1.0))
    taken = tape.log(Started(epoch=2, supervisor="s-2", request=request, prices="known"))
    assert taken == ["taken over by s-2 · ceiling $1.00"]


def test_a_task_in_other_words_or_for_somebody_else_is_told_and_shown() -> None:
    tape = Tape(a_task("a"))
    tape.hand("a")
    tape.give("a", error="too vague")
    assert tape.log(Refined(task="a", attempt=2, intent="count them", not_before=0, reason="too vague")) == [
        "a is asked in other words (attempt 2): count them"
    ]
    assert tape.row("a").intent == "count them"
    assert tape.log(Rerouted(task="a", attempt=2, worker="v", reason="w is out")) == ["a goes to v instead: w is out"]
    assert tape.row("a").worker == "v"


def test_a_revision_tells_what_it_changes_and_what_it_drops_is_gone() -> None:
    tape = Tape(a_task("a"), a_task("b"))
    tape.hand("a")
    tape.give("a")
    new = Plan(tasks=(a_task("a"), a_task("c")), revision=2)
    assert tape.log(Replanned(plan=new, reasons=("it is a config issue",))) == [
        "revision 2 of the plan: it is a config issue",
        "  - b (w): look at it",
        "  + c (w): look at it",
        "  = a",
    ]
    assert [(row.id, row.state) for row in tape.progress.rows(0)] == [("a", "done"), ("c", "waiting")]
    assert tape.log(Replanned(plan=Plan(tasks=(), revision=2), reasons=("late",))) == []
    assert tape.log(ReplanFailed(reasons=("r",), faults=("no such worker",))) == ["no new plan: no such worker"]


def test_how_the_answer_came_about_is_told() -> None:
    tape = Tape(a_task("a"))
    assert tape.log(Condensed(key="k", text="t")) == ["long results were condensed for the answer"]
    found = (
        Contradiction(tasks=("a", "b"), claim="it grew", resolution="a is right"),
        Contradiction(tasks=("a", "b"), claim="it rained"),
    )
    assert tape.log(Judged(contradictions=found)) == ["judged: it grew: a is right", "judged: it rained: open"]


def test_a_plan_under_review_says_how_to_approve_it_until_somebody_has() -> None:
    tape = Tape(a_task("a"), review=True)
    assert tape.told == [
        "planned 1 task",
        "waits for approval: handoff approve aaaaaaaa --asked 2 (or --reject COMMENT, or --edit FILE)",
    ]
    assert tape.progress.proposed is not None
    assert tape.log(Waiting(reason="the plan of 1 tasks waits for approval")) == []
    assert tape.log(Approve(), subjects.control(RUN)) == []
    assert tape.progress.proposed is None
    assert tape.log(Approved(control=1)) == ["plan approved"]
    assert [row.state for row in tape.progress.rows(0)] == ["waiting"]


def test_a_plan_that_was_edited_badly_still_waits() -> None:
    tape = Tape(a_task("a"), review=True)
    tape.log(Edit(plan=Plan(tasks=())), subjects.control(RUN))
    assert tape.log(Waiting(reason="the edited plan cannot run: it has no tasks", control=1)) == [
        "waiting: the edited plan cannot run: it has no tasks"
    ]
    assert tape.progress.proposed is not None
    edited = Plan(tasks=(a_task("x"), a_task("y")))
    assert tape.log(Approved(plan=edited, control=2)) == ["approved another plan of 2 tasks"]


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


def test_a_screen_of_a_run_that_ended_before_its_plan_was_approved_says_how() -> None:
    tape = Tape(a_task("a"), review=True)
    screen, console = screen_of(tape, 80, 24)

    def text() -> str:
        return "".join(segment.text for line in console.render_lines(screen.drawn()) for segment in line)

    assert "waiting for approval ·" in text()
    tape.log(Finished(answer=Answer(run=RUN, status="cancelled")))
    assert ("cancelled ·" in text(), "planning" in text()) == (True, False)


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


def seen(screen: Screen, console: Console) -> list[str]:
    return ["".join(part.text for part in line).rstrip() for line in console.render_lines(screen.drawn())]


def test_a_screen_notes_what_changes_the_plan_on_one_line() -> None:
    tape = Tape(a_task("a"))
    screen, console = screen_of(tape, 60, 24)
    event = Replanned(plan=Plan(tasks=(a_task("b"),), revision=2), reasons=("a config issue",))
    screen.take(Recorded(seq=9, time=1, subject=subjects.log(RUN), message=event))
    lines = seen(screen, console)
    (note,) = (line for line in lines if "revision 2" in line)
    assert note.startswith("revision 2 of the plan: a config issue; ")
    assert any(line.split()[:2] == [".", "b"] or line.split()[:2] == ["·", "b"] for line in lines)
    assert not any(line.split()[1:2] == ["a"] for line in lines[2:])


@pytest.mark.parametrize(("height", "most"), [(24, 5), (12, 2), (8, 0)])
def test_a_screen_shows_the_end_of_an_answer_that_is_being_written(height: int, most: int) -> None:
    tape = Tape(*(a_task(f"task-{number}") for number in range(30)))
    screen, console = screen_of(tape, 40, height)
    for number in range(100):
        screen.hear(f"sentence {number} of the answer\x1b[2J, which goes on for a while.\n")
    lines = seen(screen, console)
    assert len(lines) < height
    assert sum("sentence" in line or "for a while" in line for line in lines) == most
    assert ("while." in lines[-2]) == bool(most)
    assert not any("\x1b" in line for line in lines)
    screen.take(Recorded(seq=9, time=1, subject=subjects.log(RUN), message=Synthesized(text="x")))
    assert not any("while." in line for line in seen(screen, console))


def test_a_screen_that_waits_for_approval_says_so_and_steps_aside() -> None:
    tape = Tape(a_task("a"), review=True)
    screen, console = screen_of(tape, 120, 24)
    screen.open()
    assert any("waiting for approval" in line for line in seen(screen, console))
    screen.pause()
    before = console.file.getvalue() if isinstance(console.file, io.StringIO) else ""
    screen.tick()
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == before
    screen.resume()
    after = console.file.getvalue().removeprefix(before)
    assert "waiting for approval" in after
    assert "\x1b[1A" not in after, "it drew over what was said meanwhile"
    screen.close()


def test_a_call_that_waits_for_a_person_is_what_a_task_is_seen_to_do() -> None:
    tape = Tape(Task(id="a", worker="w", intent="look"))
    tape.hand("a")
    uses = b'[{"type":"tool_use","id":"c1","name":"look"},{"type":"tool_use","id":"c2","name":"send"}]'
    tape.step("a", ModelCalled(model="m", content=msgspec.Raw(uses), stop_reason="tool_use"))
    tape.step("a", ConfirmAsked(call="c2", tool="send", arguments=msgspec.Raw(b"{}"), deadline=2e9))
    assert tape.progress.rows(tape.now)[0].doing == "send?"
    tape.step("a", Confirmed(call="c2", tool="send", granted=True))
    assert tape.progress.rows(tape.now)[0].doing == "send"
