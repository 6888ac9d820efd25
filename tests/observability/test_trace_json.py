"""A trace as data: every step is there, in a shape that the page tells and that does not change."""

import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from big_runs import HOSTILE, BigRun
from big_runs import RUN as BIG
from run_records import RUN, Tape, eventful, plan

from observability.run_view import view_of
from observability.trace_json import FORMAT, Spent, Step, TaskSummary, Trace, trace_of
from protocol.events import Planned

PAGE = (Path(__file__).parents[2] / "docs" / "TRACES.md").read_text()


def told(tape: Tape, *, content: bool = False) -> Trace:
    view = view_of(RUN, tape.entries, content=content)
    assert view is not None
    return trace_of(view, content=content)


def test_every_step_of_a_run_is_in_it() -> None:
    kinds = Counter(step.kind for step in told(eventful()).steps)
    assert kinds == {
        "request": 1, "run": 1, "plan": 3, "replan": 2, "refine": 1, "retry": 1, "reroute": 1, "condense": 1,
        "judge": 1, "synthesize": 2, "dispatch": 7, "execution": 7, "model_call": 14, "tool_call": 3, "result": 5,
        "waiting": 1, "plan_rejected": 1, "approved": 1, "started": 1, "gave_up": 1, "skipped": 1, "expired": 1,
        "finished": 1, "confirm_asked": 1, "confirmed": 1, "judging": 1,
    }  # fmt: skip


def test_steps_come_in_the_order_in_which_they_began_and_hang_together() -> None:
    trace = told(eventful())
    assert [step.at for step in trace.steps] == sorted(step.at for step in trace.steps)
    spans = {step.span for step in trace.steps}
    assert [step.kind for step in trace.steps if not step.parent] == ["request"]
    assert all(step.parent in spans for step in trace.steps if step.parent)
    assert all(step.offset_s >= 0 and step.seconds >= 0 for step in trace.steps)


def test_a_step_tells_who_did_it_on_what_with_what_outcome_and_for_how_much() -> None:
    trace = told(eventful())
    lost, done = (step for step in trace.steps if step.kind == "execution" and step.task == "a")
    assert (lost.outcome, lost.who, lost.error[:5]) == ("lost", "handoff-worker-reader", "ended")
    assert (done.outcome, done.instance, done.attempt) == ("completed", "reader-2", 1)
    assert done.links == ({"span": lost.span, "why": "redelivery"},)
    (call, *_) = (step for step in trace.steps if step.kind == "model_call" and step.parent == lost.span)
    assert call.spent == Spent(input_tokens=10, output_tokens=5, usd=0.01)
    assert [task.status for task in trace.tasks] == ["completed", "failed", "completed", "unfinished"]


def test_a_question_to_a_person_is_a_step_of_the_task_it_was_asked_in() -> None:
    asked, said = (step for step in told(eventful()).steps if step.kind.startswith("confirm"))
    assert (asked.task, asked.attempt, asked.attributes["gen_ai.tool.name"]) == ("a", 1, "send")
    assert (said.task, said.outcome, said.parent) == ("a", "denied", said.span)


def test_a_run_that_goes_on_has_no_end() -> None:
    trace = told(Tape().start().log(Planned(plan=plan("a"))).hand("a"))
    assert (trace.status, trace.ended, trace.answer) == ("running", None, None)
    assert [task.status for task in trace.tasks] == ["running"]


def test_nothing_that_was_asked_or_said_is_in_it_unless_it_is_wanted() -> None:
    entries = BigRun(3, hostile=True).play()
    quiet, open_ = view_of(BIG, entries), view_of(BIG, entries, content=True)
    assert quiet is not None
    assert open_ is not None
    written = msgspec.json.encode(trace_of(quiet)).decode()
    assert "owned" not in written
    assert "Which region" not in written
    trace = trace_of(open_, content=True)
    assert HOSTILE in str(trace.request)
    assert trace.answer is not None
    assert any(HOSTILE in str(value) for step in trace.steps for value in step.attributes.values())
    said = [step.said for step in trace.steps if step.kind == "model_call" and step.task == "t0-researcher"]
    assert said[0] is not None
    assert b"owned" in bytes(said[0])


@pytest.mark.parametrize("shape", [Trace, TaskSummary, Step, Spent])
def test_the_page_names_every_field(shape: type[msgspec.Struct]) -> None:
    section = PAGE.partition(f"### {shape.__name__}\n")[2].partition("\n### ")[0].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(shape.__struct_fields__)


def test_the_page_names_the_format_and_every_kind_of_step() -> None:
    assert f"`{FORMAT}`" in PAGE
    kinds = {step.kind for step in told(eventful()).steps}
    assert not [kind for kind in kinds if f"`{kind}`" not in PAGE]
