"""What a run does with tasks of a worker whose circuit breaker is open, and which failures count for a breaker."""

import pytest
from run.folding import RUN, a_task, followed, result_of, running

from actors.run.blame import is_own_fault
from actors.run.decide import decide
from actors.run.decisions import Append, Dispatch
from actors.run.react import View
from actors.run.state import RunState
from protocol.events import GaveUp, Rerouted, Retrying
from protocol.messages import Fault, Handoff, Result, Task

PROBE_AT = 120.0
OPEN = View(shunned=frozenset({"weak"}), probe_at={"weak": PROBE_AT})


def failed(kind: str, *, retryable: bool = False) -> Result:
    error = Fault(kind=kind, message="m", retryable=retryable)
    return Result(run=RUN, task="a", attempt=1, worker="w", status="failed", error=error)


def given_up(state: RunState, view: View = OPEN) -> list[str]:
    events = [d.event for d in decide(state, 103.0, view) if isinstance(d, Append)]
    return [event.task for event in events if isinstance(event, GaveUp)]


def with_a_result(*tasks: Task) -> RunState:
    """A run whose task `a` is completed, beside these."""
    state = running(a_task("a"), *tasks)
    state.fold(result_of("a", "done"), 102.0)
    return state


def test_a_task_of_an_open_worker_is_given_up_once_all_else_is_done_and_there_is_a_result() -> None:
    state = with_a_result(a_task("b", worker="weak"), a_task("c", worker="weak"))
    assert given_up(state) == ["b", "c"]


def test_a_run_of_one_task_waits_for_the_probe() -> None:
    state = running(a_task("b", worker="weak"))
    assert given_up(state) == []
    assert [d.worker for d in decide(state, 103.0, OPEN) if isinstance(d, Dispatch)] == ["weak"]


def test_without_any_result_a_run_waits_for_the_probe() -> None:
    state = running(a_task("b", worker="weak"), a_task("c", worker="weak"))
    assert given_up(state) == []


def test_while_something_else_is_under_way_the_task_of_an_open_worker_waits() -> None:
    state = with_a_result(a_task("b", worker="weak"), a_task("o", worker="other"))
    assert given_up(state) == [], "o is ready"
    state.fold(Handoff(run=RUN, task="o", attempt=1, from_agent="s", to_agent="other", intent="x"), 103.0)
    assert given_up(state) == [], "o is with its worker"
    error = Fault(kind="x", message="m", retryable=True)
    state.fold(Result(run=RUN, task="o", attempt=1, worker="other", status="failed", error=error), 103.0)
    assert given_up(state) == [], "o is about to be tried again"
    state.fold(Retrying(task="o", attempt=2, not_before=500.0, reason="m"), 103.0)
    assert given_up(state) == [], "o rests"
    state.fold(GaveUp(task="o", reason="m"), 104.0)
    assert given_up(state) == ["b"]


def test_a_probe_after_the_deadline_is_not_waited_for() -> None:
    state = running(a_task("b", worker="weak"))
    late = View(shunned=OPEN.shunned, probe_at={"weak": state.deadline + 1})
    assert given_up(state, late) == ["b"]


def test_a_task_of_an_open_worker_goes_to_its_fallback_first() -> None:
    state = running(a_task("a"), Task(id="b", worker="weak", intent="x", fallback="strong"))
    state.fold(result_of("a", "done"), 102.0)
    (event,) = followed(state, view=OPEN)
    assert isinstance(event, Rerouted)


@pytest.mark.parametrize(
    "kind",
    [
        "refusal",
        "context",
        "budget",
        "deadline",
        "missed",
        "authentication_error",
        "overloaded_error",
        "rate_limit_error",
        "unreachable",
        "timeout_error",
        "invalid_request_error",
        "request_too_large",
        "internal_server_error",
        "insufficient_quota",
        "configuration",
        "cancelled",
    ],
)
def test_a_fault_of_the_task_or_of_the_provider_does_not_count_against_the_worker(kind: str) -> None:
    assert not is_own_fault(failed(kind))


@pytest.mark.parametrize("kind", ["ValueError", "bad_outcome", "poison", "undecodable", "broken"])
def test_a_fault_of_the_worker_itself_counts(kind: str) -> None:
    assert is_own_fault(failed(kind))


def test_a_failure_without_a_reason_counts_and_declining_does_not() -> None:
    assert is_own_fault(Result(run=RUN, task="a", attempt=1, worker="w", status="failed"))
    assert not is_own_fault(Result(run=RUN, task="a", attempt=1, worker="w", status="declined"))
    assert not is_own_fault(None)
