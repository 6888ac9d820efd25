"""Live tracing: which spans go out, with which ids, below which parents."""

import asyncio
import threading
from collections.abc import Iterator, Sequence

import pytest
from collector import Collector, Received
from opentelemetry import baggage, trace
from opentelemetry.context import get_current
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from run_records import RUN, Tape, eventful

from observability import live, span_ids
from observability.context import current_traceparent
from observability.endpoint import Process, collector, is_wanted
from observability.run_spans import spans_of, told_elsewhere
from observability.telemetry import Telemetry
from observability.tracing import Tracing, nobody
from protocol.ids import new_run_id
from protocol.subjects import TaskAddress

PROCESS = Process(service="handoff-worker", instance="w-1")
ADDRESS = TaskAddress(RUN, "default", "reader", "a", 1)


class Kept:
    """An exporter that keeps what it is given."""

    def __init__(self) -> None:
        self.theirs: list[ReadableSpan] = []
        self.ours: list[Received] = []
        self.sent = threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.theirs += spans
        self.sent.set()
        return SpanExportResult.SUCCESS

    def export_request(self, request: bytes) -> bool:
        found = Collector()
        found.take("/v1/traces", {}, request)
        self.ours += found.spans
        return True

    def shutdown(self) -> None:
        pass


class World:
    """A process that is listened to; `call` is what the SDK does when a model is asked."""

    def __init__(self, process: Process = PROCESS, *, every_s: float = 0.005) -> None:
        self.kept = Kept()
        self.tracing = Tracing(self.kept, process, every_s=every_s)
        self._telemetry = Telemetry(self.tracing, None)
        self._tracer = self.tracing.provider.get_tracer("com.anthropic.sdk.python")
        live.listen(self._telemetry)

    def call(self, model: str = "m") -> None:
        told = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model}
        self._tracer.start_span("anthropic.messages.create", attributes=told).end()

    def own_code(self, name: str = "mine") -> None:
        self._tracer.start_span(name).end()

    def end(self) -> list[ReadableSpan]:
        """What the library was given to send, once all is sent."""
        self._telemetry.close()
        return self.kept.theirs


@pytest.fixture
def world() -> Iterator[World]:
    found = World()
    yield found
    found.end()


def ids(spans: list[ReadableSpan]) -> list[str]:
    return [f"{span.context.span_id:016x}" for span in spans if span.context]


def parents(spans: list[ReadableSpan]) -> list[str]:
    return [f"{span.parent.span_id:016x}" if span.parent else "" for span in spans]


def test_a_call_of_a_worker_has_the_id_that_its_record_gives_it(world: World) -> None:
    with live.executing(ADDRESS, 2):
        for turn in range(2):
            with live.asking(turn):
                world.call()
        live.result_stored()
    spans = world.end()
    execution = span_ids.execution(RUN, "a", 1, 2)
    assert ids(spans) == [span_ids.chat(execution, 0, 0), span_ids.chat(execution, 1, 0)]
    assert parents(spans) == [execution] * 2
    assert [span.name for span in spans] == ["chat m"] * 2
    assert [span.resource.attributes["service.name"] for span in spans] == ["handoff-worker-reader"] * 2


def test_a_call_that_is_made_again_is_another_span_and_the_last_has_the_id_of_the_record(world: World) -> None:
    with live.executing(ADDRESS, 0), live.asking(3):
        live.asked_again()
        for _ in range(2):
            world.call("vain")
            live.asked_again()
        world.call()
        live.result_stored()
    spans = world.end()
    assert len(set(ids(spans))) == 3
    assert [span.name for span in spans] == ["chat vain", "chat vain", "chat m"]
    assert ids(spans)[-1] == span_ids.chat(span_ids.execution(RUN, "a", 1, 0), 3, 0)


def test_the_calls_of_a_worker_that_stored_no_result_are_left_to_others(world: World) -> None:
    with live.executing(ADDRESS, 0), live.asking(0):
        world.call()
    assert world.end() == []


def test_the_calls_of_a_worker_are_sent_as_soon_as_nobody_else_would_tell_them() -> None:
    world = World(every_s=60)
    with live.executing(ADDRESS, 0), live.asking(0):
        world.call()
        live.result_stored()
    assert world.kept.sent.wait(5)
    world.end()


def test_somebodys_own_spans_in_a_tool_are_below_the_tool(world: World) -> None:
    with live.executing(ADDRESS, 0), live.calling_tool(3, "u1"):
        world.own_code()
    (span,) = world.end()
    execution = span_ids.execution(RUN, "a", 1, 0)
    assert parents([span]) == [span_ids.tool(execution, 3, "u1")]
    assert span.name == "mine"


def test_code_in_a_task_finds_its_execution_as_the_current_span_and_can_build_on_it(world: World) -> None:
    with live.executing(ADDRESS, 0):
        execution = int(span_ids.execution(RUN, "a", 1, 0), 16)
        assert trace.get_current_span().get_span_context().span_id == execution
        inner = baggage.set_baggage("who", "me")
        assert trace.get_current_span(inner).get_span_context().span_id == execution
        assert baggage.get_baggage("who", inner) == "me"
        assert len(get_current()) == len(list(get_current())) == 1
    assert not trace.get_current_span().get_span_context().is_valid


async def test_tasks_side_by_side_do_not_mix(world: World) -> None:
    async def work(name: str) -> None:
        address = TaskAddress(RUN, "default", "reader", name, 1)
        with live.executing(address, 0), live.asking(0):
            await asyncio.sleep(0)
            world.call(name)
            await asyncio.sleep(0)
            live.result_stored()

    await asyncio.gather(*(work(name) for name in ("a", "b", "c")))
    spans = world.end()
    expected = {f"chat {name}": span_ids.execution(RUN, name, 1, 0) for name in ("a", "b", "c")}
    assert dict(zip([span.name for span in spans], parents(spans), strict=True)) == expected


def test_the_calls_of_a_supervisor_are_told_by_it_once_the_answer_is_stored(world: World) -> None:
    with live.holding_run(RUN):
        with live.thinking("plan", 1, epoch=1):
            world.call()
        live.run_answered(RUN)
    plan = span_ids.thought(RUN, "plan", 1)
    assert ids(world.end()) == [span_ids.chat(plan, 1, 0)]


def test_the_calls_of_a_supervisor_that_lost_the_run_are_left_to_others(world: World) -> None:
    with live.holding_run(RUN), live.thinking("plan", 1, epoch=1):
        world.call()
    assert world.end() == []


def test_a_run_that_ended_is_told_but_for_what_others_tell() -> None:
    world = World(Process(service="handoff-supervisor", instance="sup-2"))
    entries = eventful().entries
    live.run_ended(RUN, entries, nobody)
    world.end()
    spans = spans_of(RUN, entries)
    assert {span.id for span in world.kept.ours} == {span.id for span in spans} - told_elsewhere(spans, "sup-2")
    assert {span.service for span in world.kept.ours} == {span.service for span in spans}


def test_a_story_longer_than_a_batch_comes_whole() -> None:
    world = World()
    tape = Tape().start()
    for number in range(600):
        tape.hand(f"t{number}").result(f"t{number}")
    live.run_ended(RUN, tape.finish().entries, nobody)
    world.end()
    assert len({span.id for span in world.kept.ours}) == 2 + 2 * 600


def test_who_waits_for_a_story_is_told_when_it_was_sent() -> None:
    world, told = World(), threading.Event()
    live.run_ended(RUN, eventful().entries, told.set)
    assert told.wait(5)
    assert world.kept.ours, "not before"
    world.end()


def test_nobody_waits_for_a_run_that_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    world, told = World(every_s=60), threading.Event()
    live.run_ended(RUN, eventful().entries, told.set)
    assert told.is_set()
    world.end()
    assert world.kept.ours == []


@pytest.mark.parametrize("sampler", ["traceidratio", "parentbased_traceidratio"])
def test_a_sampler_takes_its_share_of_the_runs_and_each_of_them_whole(
    monkeypatch: pytest.MonkeyPatch, sampler: str
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", sampler)
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
    world, other = World(), World()
    runs = [new_run_id() for _ in range(400)]
    chosen = {run for run in runs if world.tracing.sampled(run)}
    assert 120 < len(chosen) < 280
    assert {run for run in runs if other.tracing.sampled(run)} == chosen, "every process chooses alike"
    for run in runs:
        with live.executing(TaskAddress(run, "default", "reader", "a", 1), 0), live.asking(0):
            world.call()
            live.result_stored()
        live.run_ended(run, Tape(run).start().hand("a").result("a").finish().entries, nobody)
    world.end()
    other.end()
    assert {span.trace for span in other.kept.ours} == chosen
    assert {f"{span.context.trace_id:032x}" for span in world.kept.theirs if span.context} <= chosen


def test_the_environment_has_the_first_word_on_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "my-own")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
    world = World()
    with live.executing(ADDRESS, 0), live.asking(0):
        world.call()
        live.result_stored()
    (span,) = world.end()
    assert span.resource.attributes["service.name"] == "my-own"
    assert span.resource.attributes["deployment.environment"] == "test"
    assert span.resource.attributes["service.instance.id"] == "w-1"


def test_a_supervisor_that_was_named_tells_its_own_part_of_a_run_by_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "my-own")
    world = World(Process(service="handoff-supervisor", instance="sup-1"))
    live.run_ended(RUN, Tape().start().hand("a").result("a").finish().entries, nobody)
    world.end()
    assert {span.service for span in world.kept.ours} == {"handoff-client", "my-own", "handoff-worker-reader"}


def test_nothing_is_begun_unless_somebody_wants_to_know() -> None:
    assert not is_wanted({}, PROCESS)
    assert not is_wanted({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": " TRUE "}, PROCESS)
    assert is_wanted({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, PROCESS)
    assert is_wanted({}, Process(service="s", instance="i", metrics_port=9464))
    assert collector({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_TRACES_EXPORTER": "none"}, "TRACES") == ""


def test_while_nobody_listens_nothing_is_changed() -> None:
    live.listen(None)
    before = trace.get_current_span()
    with live.executing(ADDRESS, 0), live.asking(0), live.calling_tool(0, "u1"):
        assert trace.get_current_span() is before
        live.result_stored()
    with live.holding_run(RUN), live.thinking("plan", 1, epoch=1):
        assert trace.get_current_span() is before
    live.run_ended(RUN, [], nobody)
    assert not live.listening()


def test_a_request_made_within_somebodys_span_says_so(world: World) -> None:
    assert current_traceparent() == {}
    with world.tracing.provider.get_tracer("theirs").start_as_current_span("page") as span:
        made = span.get_span_context()
        expected = f"00-{made.trace_id:032x}-{made.span_id:016x}-01"
        assert current_traceparent() == {"traceparent": expected}
