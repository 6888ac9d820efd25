from collections import Counter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_records import RUN, START, Tape, called, eventful, plan, turn

from actors.cli.tree import lines, tree
from actors.record import Recorded
from observability import names, span_ids
from observability.otlp_json import otlp_json
from observability.run_spans import spans_of, told_elsewhere
from observability.run_view import view_of
from observability.span import Span
from observability.trace_json import trace_of
from protocol.events import Approved, Cancelled, Planned, PlanRejected
from protocol.messages import Fault, Result
from protocol.steps import Confirmed, GivenBack, Taken


def one(spans: list[Span], **having: object) -> Span:
    (found,) = some(spans, **having)
    return found


def some(spans: list[Span], **having: object) -> list[Span]:
    return [span for span in spans if all(getattr(span, name) == value for name, value in having.items())]


def assert_whole(spans: list[Span]) -> None:
    ids = {span.id for span in spans}
    assert len(ids) == len(spans), Counter(span.name for span in spans)
    assert {span.trace for span in spans} <= {RUN}
    roots = [span for span in spans if not span.parent]
    assert len(roots) == (1 if spans else 0)
    for span in spans:
        assert not span.parent or span.parent in ids, span.name
        assert START - 1 <= span.start_ns / 1e9 <= span.end_ns / 1e9, span.name
        assert all(link.span in ids or link.trace != RUN for link in span.links), span.name


def test_a_run_in_which_everything_happens_is_one_whole_trace() -> None:
    spans = spans_of(RUN, eventful().entries)
    assert_whole(spans)
    assert Counter(span.name for span in spans) == {
        "send request default": 1,
        "invoke_workflow default": 1,
        "plan": 3,
        "chat p": 7,
        "chat m": 3,
        "chat s": 3,
        "chat j": 1,
        "send task reader": 5,
        "send task weak": 2,
        "invoke_agent reader": 5,
        "invoke_agent weak": 2,
        "execute_tool look_up": 2,
        "execute_tool gone": 1,
        "refine": 1,
        "retry": 1,
        "reroute": 1,
        "replan": 2,
        "condense": 1,
        "judge": 1,
        "synthesize": 2,
    }


@given(st.integers(0, len(eventful().entries)))
def test_a_run_that_was_cut_off_anywhere_is_a_whole_trace_too(length: int) -> None:
    entries = eventful().entries[:length]
    spans = spans_of(RUN, entries)
    assert_whole(spans)
    if 0 < length < len(eventful().entries):
        root = one(spans, name="invoke_workflow default")
        assert root.attributes[names.OPEN] is True
        assert root.end_ns == round(entries[-1].time * 1e9)


@given(st.sets(st.integers(2, len(eventful().entries))))
def test_messages_that_nobody_could_read_leave_no_hole(missing: set[int]) -> None:
    entries = [entry for entry in eventful().entries if entry.seq not in missing]
    spans = spans_of(RUN, entries)
    ids = {span.id for span in spans}
    assert all(span.parent in ids for span in spans if span.parent)


def test_the_order_in_which_the_record_is_read_does_not_matter() -> None:
    entries = eventful().entries
    assert spans_of(RUN, reversed(entries)) == spans_of(RUN, entries)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_whatever_a_worker_says_of_its_durations_no_span_ends_before_it_begins(turn_s: float, task_s: float) -> None:
    tape = Tape().start().hand("a").step("a", turn(("u1", "look_up"), seconds=turn_s))
    tape.step("a", msgspec.structs.replace(called("u1"), seconds=turn_s)).result("a", seconds=task_s).finish()
    spans = spans_of(RUN, tape.entries)
    assert_whole(spans)
    assert all(0 < span.start_ns <= span.end_ns < 1 << 63 for span in spans)


def test_a_worker_that_was_replaced_but_gave_its_result_first_is_the_one_that_counts() -> None:
    tape = Tape().start().hand("a").step("a", Taken(instance="reader-2", delivery=2)).result("a")
    stored = tape.entries[-1]
    assert isinstance(stored.message, Result)
    by_the_first = msgspec.structs.replace(stored.message, instance="reader-1")
    tape.entries[-1] = msgspec.structs.replace(stored, message=by_the_first)
    spans = spans_of(RUN, tape.hand("b", "reader", 1, "a").result("b").finish().entries)
    assert_whole(spans)
    first, second, _ = some(spans, name="invoke_agent reader")
    assert (first.instance, first.attributes[names.OUTCOME], first.status) == ("reader-1", "completed", "unset")
    assert (second.instance, second.attributes[names.OUTCOME], second.status) == ("reader-2", names.LOST, "error")
    assert [link.span for link in one(spans, id=span_ids.dispatch(RUN, "b", 1)).links] == [first.id]


def test_a_worker_that_gave_the_task_back_is_no_error_and_says_why() -> None:
    back = GivenBack(instance="reader-1", reason="the process stops")
    tape = Tape().start().hand("a").step("a", back, Taken(instance="reader-2", delivery=2)).result("a").finish()
    spans = spans_of(RUN, tape.entries)
    assert_whole(spans)
    first, second = some(spans, name="invoke_agent reader")
    assert (first.instance, first.attributes[names.OUTCOME], first.status) == ("reader-1", names.GIVEN_BACK, "unset")
    assert [moment.attributes[names.REASON] for moment in first.events] == ["the process stops"]
    assert (second.instance, second.attributes[names.OUTCOME]) == ("reader-2", "completed")


def test_two_calls_that_a_model_gives_the_same_id_are_two_spans() -> None:
    tape = Tape().start().hand("a").step("a", turn(("u1", "look_up"), ("u1", "look_up")), called("u1"), called("u1"))
    tape.step("a", turn()).result("a").finish()
    spans = spans_of(RUN, tape.entries)
    assert_whole(spans)
    assert len(some(spans, name="execute_tool look_up")) == 2


def test_nothing_gives_no_trace() -> None:
    assert spans_of(RUN, list[Recorded]()) == []


def test_the_clients_request_is_the_root_and_waits_until_there_is_an_answer() -> None:
    spans = spans_of(RUN, Tape().start().finish().entries)
    client, root = spans
    assert (client.kind, client.service, client.parent) == ("producer", "handoff-client", "")
    assert (root.kind, root.service, root.parent, root.instance) == (
        "internal",
        "handoff-supervisor",
        client.id,
        "sup-1",
    )
    assert client.start_ns == round((START - 1) * 1e9)
    assert client.end_ns == root.end_ns == round((START + 0.2) * 1e9)
    assert root.attributes[names.STATUS] == "complete"
    assert names.OPEN not in root.attributes


def test_a_request_that_comes_from_another_trace_links_to_it() -> None:
    foreign = f"00-{'c' * 32}-{'d' * 16}-01"
    client = spans_of(RUN, Tape().start(traceparent=foreign).entries)[0]
    assert [(link.trace, link.span) for link in client.links] == [("c" * 32, "d" * 16)]
    assert spans_of(RUN, Tape().start(traceparent="rubbish").entries)[0].links == ()
    own = f"00-{RUN}-{'d' * 16}-01"
    assert spans_of(RUN, Tape().start(traceparent=own).entries)[0].links == ()


def test_an_execution_is_a_consumer_below_its_handoff_at_its_worker() -> None:
    spans = spans_of(RUN, Tape().start().hand("a").result("a", seconds=0.04).entries)
    dispatch, execution = one(spans, kind="producer", name="send task reader"), one(spans, kind="consumer")
    assert dispatch.parent == span_ids.root(RUN)
    assert dispatch.id == span_ids.dispatch(RUN, "a", 1)
    assert (execution.parent, execution.service, execution.instance) == (
        dispatch.id,
        "handoff-worker-reader",
        "reader-1",
    )
    assert execution.seconds == pytest.approx(0.04, abs=1e-6)
    assert dispatch.attributes[names.QUEUE_WAIT_S] == pytest.approx(0.06, abs=1e-6)
    assert execution.status == "unset"


def test_what_no_worker_has_taken_has_no_execution() -> None:
    spans = spans_of(RUN, Tape().start().hand("a").entries)
    assert some(spans, kind="consumer") == []
    assert one(spans, name="send task reader").attributes[names.OUTCOME] == "open"
    over = spans_of(RUN, Tape().start().hand("a").finish().entries)
    assert one(over, name="send task reader").attributes[names.OUTCOME] == "abandoned"


def test_a_lost_execution_is_an_error_that_ends_when_the_next_one_begins() -> None:
    tape = Tape().start().hand("a").step("a", turn(("u1", "look_up")), called("u1"))
    tape.step("a", Taken(instance="reader-2", delivery=2), turn()).result("a", seconds=0.5)
    spans = spans_of(RUN, tape.entries)
    first, second = sorted(some(spans, kind="consumer"), key=lambda span: span.start_ns)
    assert (first.status, first.attributes[names.ERROR]) == ("error", "lost")
    assert (second.status, second.instance) == ("unset", "reader-2")
    assert first.end_ns == second.start_ns
    assert [link.span for link in second.links] == [first.id]
    assert [span.parent for span in some(spans, name="chat m")] == [first.id, second.id]
    assert one(spans, name="execute_tool look_up").parent == first.id


def test_a_tool_call_tells_sizes_and_outcome_and_no_content() -> None:
    tape = Tape().start().hand("a").step("a", turn(("u1", "look_up"), ("u2", "gone")), called("u1"))
    tape.step("a", called("u2", "gone", failed=True)).result("a", seconds=0.5)
    spans = spans_of(RUN, tape.entries)
    good, bad = one(spans, name="execute_tool look_up"), one(spans, name="execute_tool gone")
    assert (good.attributes[names.ARGUMENT_BYTES], good.attributes[names.RESULT_BYTES]) == (len('{"page":1}'), 6)
    assert (good.status, bad.status, bad.attributes[names.ERROR]) == ("unset", "error", "tool_error")
    assert "a page" not in repr(spans)
    told = one(spans_of(RUN, tape.entries, content=True), name="execute_tool look_up")
    assert (told.attributes[names.TOOL_ARGUMENTS], told.attributes[names.TOOL_RESULT]) == ('{"page":1}', "a page")


def test_a_failed_task_is_an_error_with_its_kind_and_without_its_secrets() -> None:
    tape = Tape().start().hand("a").result("a", error=Fault(kind="broken", message="bad api_key=hunter22 here"))
    execution = one(spans_of(RUN, tape.entries), kind="consumer")
    assert (execution.status, execution.attributes[names.ERROR]) == ("error", "broken")
    assert execution.error == "bad api_key=[redacted] here"
    assert execution.events[0].name == "exception"


def test_the_same_call_id_in_two_turns_is_two_spans() -> None:
    tape = Tape().start().hand("a").step("a", turn(("u1", "look_up")), called("u1"), turn(("u1", "look_up")))
    spans = spans_of(RUN, tape.step("a", called("u1")).entries)
    assert len({span.id for span in some(spans, name="execute_tool look_up")}) == 2


def test_results_flow_together_in_links() -> None:
    tape = Tape().start().log(Planned(plan=plan("a", "c"))).hand("a").result("a").hand("c", "reader", 1, "a")
    spans = spans_of(RUN, tape.entries)
    assert [link.span for link in spans[-1].links] == [span_ids.execution(RUN, "a", 1, 0)]
    eventful_spans = spans_of(RUN, eventful().entries)
    last = some(eventful_spans, name="synthesize")[-1]
    read = {span_ids.execution(RUN, "a", 1, 1), span_ids.execution(RUN, "c", 1, 1)}
    assert {link.span for link in last.links} == read
    assert {link.span for link in one(eventful_spans, name="judge").links} == read


def test_calls_of_those_who_live_to_tell_are_told_by_them() -> None:
    spans = spans_of(RUN, eventful().entries)
    told = told_elsewhere(spans, "sup-2")
    by_parent = {span.id: span for span in spans}
    assert told
    for span in some(spans, kind="client"):
        parent = by_parent[span.parent]
        if parent.kind == "consumer":
            assert (span.id in told) == (parent.attributes[names.OUTCOME] != "lost")
        else:
            assert (span.id in told) == (parent.instance == "sup-2")


def test_a_question_to_a_person_is_a_moment_of_the_execution() -> None:
    first = one(spans_of(RUN, eventful().entries), id=span_ids.execution(RUN, "a", 1, 0))
    assert [(moment.name, moment.attributes.get(names.OUTCOME)) for moment in first.events] == [
        ("handoff.confirm_asked", None),
        ("handoff.confirmed", "denied"),
    ]


def test_who_decided_is_an_attribute_of_the_decision() -> None:
    tape = (
        Tape()
        .start()
        .log(
            Planned(plan=plan("a")),
            PlanRejected(faults=("no",), reviewed=True, by="eve"),
            Planned(plan=plan("a")),
            Approved(control=1, by="ada"),
        )
    )
    tape.hand("a").step("a", Confirmed(call="u", tool="send", granted=True, by="cleo"))
    tape.log(Cancelled(reason="enough", by="bob"))
    view = view_of(RUN, tape.entries)
    assert view is not None
    found = {moment.name: moment.attributes[names.BY] for span in view.spans for moment in span.events}
    assert found == {
        "handoff.plan_rejected": "eve",
        "handoff.approved": "ada",
        "handoff.confirmed": "cleo",
        "handoff.cancelled": "bob",
    }
    steps = {step.kind: step.attributes.get("handoff.by") for step in trace_of(view).steps}
    assert (steps["approved"], steps["cancelled"]) == ("ada", "bob")
    drawn = "\n".join(line.node.text for line in lines(tree(view)))
    assert all(f"by {name}" in drawn for name in ("eve", "ada", "bob"))
    assert b'"handoff.by"' in otlp_json(view.spans)


def test_a_run_that_failed_is_an_error() -> None:
    root = spans_of(RUN, Tape().start().finish("failed").entries)[1]
    assert (root.status, root.error) == ("error", "one")
