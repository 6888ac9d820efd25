import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.cli.answer import tell_summary
from actors.cli.show import shortened, tell
from actors.cli.story import Story, story_of, tree_of
from actors.cli.workers import listed, row
from actors.record import Entry, Recorded
from actors.run.limits import Limits
from protocol import subjects
from protocol.controls import Approve, Cancel, Edit, Reject
from protocol.events import Approved, Cancelled, Finished, Planned, PlanRejected, Replanned, Started, Waiting
from protocol.ids import RunId
from protocol.messages import (
    Answer,
    Breaker,
    Card,
    Contradiction,
    Handoff,
    Plan,
    Request,
    Result,
    Task,
    Timing,
    Usage,
)
from protocol.steps import ConfirmAsked
from protocol.subjects import TaskAddress

RUN = "c" * 32


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


def a_task(name: str) -> Task:
    return Task(id=name, worker="w", intent=f"look at {name}")


def told(*messages: Entry) -> list[Recorded]:
    return [
        Recorded(seq=seq, time=float(seq), subject=subjects.log(RUN), message=message)
        for seq, message in enumerate(messages, 1)
    ]


def changed_run() -> list[Recorded]:
    """A run whose plan was changed once, with an answer that is in doubt."""
    found = (
        Contradiction(tasks=("a", "c"), claim="it grew", resolution="a is right"),
        Contradiction(tasks=("a", "c"), claim="it rained"),
    )
    spending = {"planner": Usage(input_tokens=900, output_tokens=100, model_calls=2), "w": Usage(tool_calls=3)}
    answer = Answer(
        run=RUN,
        status="complete",
        text="Well.",
        contradictions=found,
        confidence=0.72,
        revisions=2,
        spending=spending,
        timing=Timing(wall_s=2),
    )
    return told(
        Started(epoch=1, supervisor="s", request=Request(id=RUN, text="Why?", team="default")),
        Planned(plan=Plan(tasks=(a_task("a"), a_task("b")))),
        Handoff(run=RUN, task="a", attempt=1, from_agent="s", to_agent="w", intent="look"),
        Result(run=RUN, task="a", attempt=1, worker="w", status="completed", output="42"),
        Replanned(plan=Plan(tasks=(a_task("a"), a_task("c")), revision=2), reasons=("a config issue",)),
        Finished(answer=answer),
    )


def a_story(record: list[Recorded]) -> Story:
    story = story_of(RUN, record, Limits())
    assert story is not None
    return story


def test_a_changed_plan_is_told_with_its_reasons_and_what_was_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    story = a_story(changed_run())
    assert {task.id: task.status for task in story.tasks} == {"a": "done", "b": "dropped", "c": "stopped"}
    (revision,) = story.revisions
    assert (revision.number, revision.reasons) == (2, ("a config issue",))
    tell(story, full=False)
    lines = capsys.readouterr().out.splitlines()
    assert next(line.split()[:3] for line in lines if line.startswith("b ")) == ["b", "w", "dropped"]
    at = lines.index("revision 2: a config issue")
    assert lines[at + 1 : at + 4] == ["  - b (w): look at b", "  + c (w): look at c", "  = a"]


def test_doubts_and_spending_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    tell(a_story(changed_run()), full=False)
    lines = capsys.readouterr().out.splitlines()
    assert "contradiction (a, c): it grew: a is right" in lines
    assert "contradiction (a, c): it rained: open" in lines
    assert "confidence 72% · 2 revisions of the plan" in lines
    assert next(line.split()[:4] for line in lines if line.startswith("planner")) == ["planner", "1,000", "2", "0"]
    assert next(line.split()[:4] for line in lines if line.startswith("w ")) == ["w", "0", "0", "3"]


def test_a_summary_names_doubts_and_nothing_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    story = a_story(changed_run())
    assert story.answer is not None
    tell_summary(story.answer)
    said = capsys.readouterr().err
    assert "contradiction (a, c): it rained: open" in said
    assert "confidence 72% · 2 revisions of the plan" in said
    tell_summary(Answer(run=RUN, status="complete", revisions=1))
    said = capsys.readouterr().err
    assert not any(word in said for word in ("confidence", "revision", "contradiction"))


def test_a_plan_that_waits_for_approval_says_how_to_give_it(capsys: pytest.CaptureFixture[str]) -> None:
    request = Request(id=RUN, text="Why?", team="default", review=True)
    planned = Planned(plan=Plan(tasks=(a_task("a"),)))
    record = told(Started(epoch=1, supervisor="s", request=request), planned)
    assert a_story(record).status == "review"
    tell(a_story(record), full=False)
    out = capsys.readouterr().out
    assert f"handoff approve {RUN[:8]}" in out
    assert "look at a" in out
    assert a_story([*record, *told(Cancel())]).status == "planning"


def test_each_control_is_shown_with_who_said_it_and_what_it_came_to(capsys: pytest.CaptureFixture[str]) -> None:
    request = Request(id=RUN, text="Why?", team="default", review=True)
    planned = Planned(plan=Plan(tasks=(a_task("a"),)))
    record = told(
        Started(epoch=1, supervisor="s", request=request),
        planned,
        Reject(comment="no", asked=2, by="ada"),
        PlanRejected(faults=("no",), reviewed=True, by="ada"),
        Approve(asked=2, by="eve"),
        planned,
        Approve(asked=2, by="eve"),
        Waiting(reason="eve is late", control=1),
        Approve(asked=6, by="ada"),
        Approved(control=2, by="ada"),
        Edit(plan=planned.plan, asked=6, by="eve"),
        Cancel(reason="enough", by="bob"),
        Cancelled(reason="enough", by="bob"),
        Cancel(by="eve"),
    )
    story = a_story(record)
    assert [(one.kind, one.by, one.asked, one.effect) for one in story.controls] == [
        ("reject", "ada", 2, "applied"),
        ("approve", "eve", 2, "ignored"),
        ("approve", "eve", 2, "refused"),
        ("approve", "ada", 6, "applied"),
        ("edit", "eve", 6, "ignored"),
        ("cancel", "bob", 0, "applied"),
        ("cancel", "eve", 0, "ignored"),
    ]
    tell(story, full=False)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("told")]
    assert [name in line for name, line in zip(("ada", "eve", "eve", "ada", "eve", "bob", "eve"), lines, strict=True)]


def test_a_control_about_a_tool_is_shown_with_what_it_came_to() -> None:
    request = Request(id=RUN, text="Why?", team="default")
    asked = ConfirmAsked(call="c1", tool="send", arguments=msgspec.Raw(b"{}"), deadline=1e12)
    begun = told(Started(epoch=1, supervisor="s", request=request))[0]
    question = Recorded(seq=2, time=1.0, subject=TaskAddress(RunId(RUN), "default", "w", "t", 1).steps, message=asked)
    words = [
        Recorded(seq=seq, time=2.0, subject=subjects.control(RUN), message=control)
        for seq, control in (
            (3, Approve(task="t", call="c1", asked=1, by="eve")),
            (4, Reject(task="t", call="c1", asked=2, by="ada", comment="no")),
            (5, Approve(task="t", call="c1", by="eve")),
        )
    ]
    story = a_story([begun, question, *words])
    assert [(one.task, one.call, one.by, one.effect) for one in story.controls] == [
        ("t", "c1", "eve", "ignored"),
        ("t", "c1", "ada", "applied"),
        ("t", "c1", "eve", "ignored"),
    ]


def test_a_kind_that_nobody_trusts_is_listed_even_if_nobody_is_of_it() -> None:
    cards = [("t", Card(worker="b", instance="h-1")), ("t", Card(worker="a", instance="h-2", capacity=4))]
    breakers = {
        "t": {
            "a": Breaker(state="half_open", failures=3, since=70.0),
            "c": Breaker(state="open", failures=3, since=95.0),
            "d": Breaker(),
        }
    }
    rows = [row(one, 100.0) for one in listed(cards, breakers)]
    assert [[*cells[1:4], cells[6]] for cells in rows] == [
        ["a", "h-2", "0/4", "half open since 30s"],
        ["b", "h-1", "0/1", "closed"],
        ["c", "nobody alive", "", "open since 5s"],
    ]


def test_waits_are_shown_in_the_order_in_which_they_began() -> None:
    started = Started(epoch=1, supervisor="s", request=Request(id=RUN, text="x"), request_seq=1)
    events: list[Entry] = [started, *(Waiting(reason=reason) for reason in ("zebra", "ant", "zebra", "mole"))]
    record = [
        Recorded(subject=f"handoff.run.{RUN}.log", seq=number, time=float(number), message=event)
        for number, event in enumerate(events, 1)
    ]
    story = story_of(RUN, record, Limits())
    assert story is not None
    assert story.waits == ("zebra", "ant", "mole")


def test_a_run_of_which_only_the_end_is_kept_is_shown_with_its_answer(capsys: pytest.CaptureFixture[str]) -> None:
    usage = Usage(input_tokens=7)
    answer = Answer(run=RUN, status="complete", text="apples", usage=usage, timing=Timing(wall_s=20.0))
    end = Recorded(seq=9, time=1_000.0, subject=subjects.log(RUN), message=Finished(answer=answer))
    story = story_of(RUN, [end], Limits())
    assert story is not None
    assert (story.status, story.began, story.usage, story.answer) == ("complete", 980.0, usage, answer)
    tell(story, full=False)
    assert "apples" in capsys.readouterr().out
    assert story_of(RUN, [], Limits()) is None
