from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import streams, subjects
from protocol.ids import RunId, derived_run_id, is_run_id, is_token, new_run_id, span_id, token_fault
from protocol.subjects import TaskAddress

tokens = st.from_regex(r"[A-Za-z0-9_-]{1,32}", fullmatch=True)
runs = st.from_regex(r"[0-9a-f]{32}", fullmatch=True).map(RunId)


@given(runs, tokens, tokens, tokens, st.integers(1, 99))
def test_an_address_comes_back_from_its_subjects(run: RunId, team: str, worker: str, task: str, attempt: int) -> None:
    address = TaskAddress(run, team, worker, task, attempt)
    for subject, kind in ((address.handoff, "task"), (address.steps, "step"), (address.result, "result")):
        assert subjects.address_of(subject) == address
        assert subjects.kind_of(subject) == kind
        assert subjects.run_of(subject) == run
        assert subjects.run_of(subjects.stored(subject)) == run
        assert subjects.original(subjects.stored(subject)) == subject


def test_the_subjects_are_those_of_the_design() -> None:
    address = TaskAddress(RunId("a" * 32), "default", "analyst", "t1", 2)
    assert address.handoff == f"handoff.run.{'a' * 32}.task.default.analyst.t1.2"
    assert subjects.log("r") == "handoff.run.r.log"
    assert subjects.control("r") == "handoff.run.r.control"
    assert subjects.stored(subjects.log("r")) == "handoff.stored.r.log"
    assert subjects.request("default") == "handoff.request.default"
    assert subjects.tokens("r", "t") == "handoff.token.r.t"
    assert subjects.cancel("r") == "handoff.cancel.r"
    assert subjects.dead("HANDOFF_RUNS") == "handoff.dead.HANDOFF_RUNS"
    assert subjects.card("default", "analyst", "i1") == "default.analyst.i1"
    queue = streams.task_queue("default", "analyst", timedelta(seconds=5))
    assert (queue.name, queue.filter) == ("default-analyst", "handoff.run.*.task.default.analyst.>")


@pytest.mark.parametrize("text", ["", "a.b", "a b", "*", ">", "a" * 33, "ä", "a\n", "a/b"])
def test_what_would_break_a_subject_is_no_token(text: str) -> None:
    assert not is_token(text)
    assert "not a valid id" in (token_fault("task", text) or "")


@pytest.mark.parametrize("text", ["", "0" * 32, "A" * 32, "g" * 32, "a" * 31, "a" * 33])
def test_what_is_no_trace_id_is_no_run_id(text: str) -> None:
    assert not is_run_id(text)


def test_a_derived_id_is_the_same_for_a_redelivery_and_another_for_a_new_stream() -> None:
    one = derived_run_id("S", 1, 111)
    assert is_run_id(one)
    assert one == derived_run_id("S", 1, 111)
    assert one != derived_run_id("S", 1, 112)
    assert is_run_id(new_run_id())
    assert len(span_id("r", "t", 1)) == 16


@pytest.mark.parametrize(
    ("subject", "stream"),
    [
        ("handoff.request.default", streams.REQUESTS),
        ("handoff.request.default.more", None),
        ("handoff.request.", None),
        ("handoff.run.r.log", streams.RUNS),
        ("handoff.dead.HANDOFF_RUNS", streams.DEAD),
        ("$KV.handoff_breakers.default.analyst", streams.BREAKERS),
        ("handoff.cancel.r", None),
    ],
)
def test_the_stream_of_a_subject_is_the_one_that_stores_it(subject: str, stream: str | None) -> None:
    assert streams.stream_of(subject) == stream
