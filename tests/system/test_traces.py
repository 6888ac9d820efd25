"""One trace for each run, whole and linked, sent by real processes, whoever is killed on the way."""

import asyncio
import json
import time
from collections.abc import Iterator
from typing import cast

import pytest
from actor_processes import Stage, task, until
from collector import Collector, Received, collector
from waiting import LIMIT_S

from actors.remote_run import Run
from observability.run_spans import spans_of
from observability.span import Span
from protocol.events import Planned, Started
from protocol.steps import ToolCalled


@pytest.fixture
def jaeger() -> Iterator[Collector]:
    with collector() as found:
        yield found


def watched(stage: Stage, jaeger: Collector) -> None:
    """Have every actor that is started from now on tell the collector."""
    stage.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = jaeger.url
    stage.environment["OTEL_BSP_SCHEDULE_DELAY"] = "50"


PLAN = {
    "goal": "Read",
    "tasks": [
        {"id": "r", "worker": "reader", "intent": "Read 2 pages", "success": "Read"},
        {"id": "e", "worker": "echo", "intent": "Say it", "success": "Said", "depends_on": ["r"]},
    ],
}


def reading(delay_s: float = 0.1) -> dict[str, object]:
    """A planner, a worker that looks up two pages one by one, and a synthesizer."""
    turns = [
        {"role": "worker", "turns": 1 + 2 * n, "tool_use": [{"name": "look_up", "input": {"page": n + 1}}]}
        for n in range(2)
    ]
    end = {"role": "worker", "turns": 5, "text": "Both pages read."}
    return {"rules": [{"role": "planner", "plan": PLAN}, *turns, end], "delay_s": delay_s}


async def told(run: Run, jaeger: Collector) -> list[Received]:
    """All spans of the run, once as many have come as its record has."""
    expected = spans_of(run.id, await run.past())
    await until(lambda: len(jaeger.of(run.id)) >= len(expected))
    assert {span.trace for span in jaeger.spans} == {run.id}, "everything is in the trace of the run"
    return jaeger.of(run.id)


def assert_whole(spans: list[Received]) -> None:
    ids = {span.id for span in spans}
    assert len(ids) == len(spans), "a span was told twice"
    (root,) = [span for span in spans if not span.parent]
    assert (root.service, root.kind) == ("handoff-client", "producer")
    for span in spans:
        assert not span.parent or span.parent in ids, f"{span.name} has no parent"
        assert span.start_ns <= span.end_ns
        assert all(link in ids for link in span.links)
    by_id = {span.id: span for span in spans}
    for span in spans:
        above = by_id.get(span.parent)
        if span.name.startswith("send task "):
            below = [other for other in spans if other.parent == span.id]
            assert (span.kind, span.service) == ("producer", "handoff-supervisor")
            assert below
            assert {other.kind for other in below} == {"consumer"}
        if span.name.startswith("invoke_agent "):
            worker = span.name.removeprefix("invoke_agent ")
            assert (span.kind, span.service) == ("consumer", f"handoff-worker-{worker}")
        if span.name.startswith("execute_tool "):
            assert above
            assert above.name.startswith("invoke_agent ")
            assert span.service == above.service
        if span.kind == "client":
            assert above
            assert span.service == above.service


async def test_a_run_of_many_processes_is_one_whole_trace_that_agrees_with_its_record(
    stage: Stage, jaeger: Collector
) -> None:
    await stage.model(reading())
    watched(stage, jaeger)
    await asyncio.gather(stage.supervisor(), stage.worker("reader"), stage.worker("echo"), stage.worker("fail"))
    await stage.supervisor()
    run = await stage.ask(text="Read the book")
    assert (await asyncio.wait_for(run.answer(), LIMIT_S)).status == "complete"
    spans = await told(run, jaeger)
    assert_whole(spans)
    assert_agrees(spans, spans_of(run.id, await run.past()))
    assert await in_file(stage, run) == {(span.id, span.parent, span.name, span.service) for span in spans}
    scopes = {span.scope for span in spans if span.kind == "client"}
    assert scopes == {"com.anthropic.sdk.python"}, "the calls are told by the SDK itself"


async def in_file(stage: Stage, run: Run) -> set[tuple[str, str, str, str]]:
    """Id, parent, name and service of each span in the file that `handoff trace` writes for Jaeger."""
    file = stage.directory / "run.json"
    assert await stage.start("trace", run.id, "--format", "otlp", "-o", str(file)).ended() == 0
    return {
        (span["spanId"], span.get("parentSpanId", ""), span["name"], of["value"]["stringValue"])
        for process in json.loads(file.read_bytes())["resourceSpans"]
        for of in process["resource"]["attributes"]
        if of["key"] == "service.name"
        for span in process["scopeSpans"][0]["spans"]
    }


def assert_agrees(sent_spans: list[Received], recorded: list[Span]) -> None:
    live = {span.id: span for span in sent_spans}
    record = {span.id: span for span in recorded}
    assert live.keys() == record.keys()
    for name, span in record.items():
        sent = live[name]
        assert (sent.name, sent.kind, sent.parent, sent.service) == (span.name, span.kind, span.parent, span.service)
        assert sent.error == (span.status == "error")
        assert {link.span for link in span.links} == set(sent.links)
        told_here = {key: list(v) if isinstance(v, tuple) else v for key, v in span.attributes.items()}
        differing = {key: (value, sent.attributes.get(key)) for key, value in told_here.items()}
        assert not {key: pair for key, pair in differing.items() if pair[0] != pair[1]}, span.name


async def test_all_that_a_supervisor_thinks_of_is_told_live_as_in_the_record(stage: Stage, jaeger: Collector) -> None:
    echo = {"id": "e", "worker": "echo", "intent": "say hello to Ada", "success": "hello is said"}
    picky = {"id": "p", "worker": "picky", "intent": "count the apples", "success": "counted"}
    other = {"id": "d", "worker": "decline", "intent": "fix the bug in billing", "success": "fixed"}
    report = {"contradictions": [{"tasks": ["e", "f"], "claim": "Ada comes or goes"}]}
    verdicts = {"verdicts": [{"number": 1, "resolution": "She goes."}]}
    submitted = {"name": "submit_intent", "input": {"intent": "count apples per crate"}}
    rules: list[dict[str, object]] = [
        {"role": "planner", "plan": {"tasks": [echo | {"depends_on": ["e"]}]}, "times": 1},
        {"role": "planner", "contains": "<why>", "plan": {"tasks": [echo, picky, echo | {"id": "f"}]}},
        {"role": "planner", "plan": {"tasks": [echo, picky, other]}},
        {"contains": "<error>", "tool_use": [submitted]},
        {"contains": "<disputed>", "tool_use": [{"name": "submit_verdicts", "input": verdicts}]},
        {"role": "synthesizer", "text": "Ada."},
        {"role": "report", "tool_use": [{"name": "report", "input": report}]},
    ]
    await stage.model({"rules": rules})
    watched(stage, jaeger)
    await asyncio.gather(stage.supervisor(), stage.worker("echo", "picky", "decline"))
    run = await stage.ask(text="Say hello to Ada")
    await asyncio.wait_for(run.answer(), LIMIT_S)
    spans = await told(run, jaeger)
    assert_whole(spans)
    assert_agrees(spans, spans_of(run.id, await run.past()))
    names = {span.name for span in spans}
    assert {"plan", "refine", "replan", "judge", "synthesize"} <= names
    assert [span.error for span in spans if span.name == "plan"].count(True) == 1


async def test_calls_that_a_provider_failed_are_told_beside_those_of_the_record(
    stage: Stage, jaeger: Collector
) -> None:
    script = reading(0.0)
    failing = [
        {"role": "planner", "status": 529, "times": 2},
        {"role": "worker", "turns": 1, "cut": True, "times": 1},
        {"role": "worker", "turns": 3, "status": 500, "times": 1},
        {"role": "synthesizer", "status": 400},
    ]
    await stage.model(script | {"rules": [*failing, *cast("list[object]", script["rules"])]})
    watched(stage, jaeger)
    await asyncio.gather(stage.supervisor(), stage.worker("reader", "echo"))
    run = await stage.ask(text="Read the book")
    await asyncio.wait_for(run.answer(), LIMIT_S)
    recorded = spans_of(run.id, await run.past())
    await until(lambda: len(jaeger.of(run.id)) >= len(recorded) + 4)
    spans = jaeger.of(run.id)
    assert_whole(spans)
    known = {span.id for span in recorded}
    assert_agrees([span for span in spans if span.id in known], recorded)
    vain = [span for span in spans if span.id not in known]
    assert len(vain) == 4
    assert {span.kind for span in vain} == {"client"}


async def test_failures_are_marked(stage: Stage, jaeger: Collector) -> None:
    watched(stage, jaeger)
    await asyncio.gather(stage.supervisor(), stage.worker("fail", "echo"))
    run = await stage.ask(task("a", "fail"), task("b", "echo"), task("c", "echo", "a"))
    await asyncio.wait_for(run.answer(), LIMIT_S)
    spans = await told(run, jaeger)
    assert_whole(spans)
    bad = [span for span in spans if span.error]
    assert {span.name for span in bad} == {"invoke_agent fail"}
    assert {span.attributes["error.type"] for span in bad} == {"broken"}


async def test_a_killed_supervisor_leaves_no_hole(stage: Stage, jaeger: Collector) -> None:
    await stage.model(reading())
    watched(stage, jaeger)
    await stage.worker("reader", "echo")
    both = {actor.pid: actor for actor in (await stage.supervisor(), await stage.supervisor())}
    run = await stage.ask(text="Read the book")
    started = (await stage.stored(run, Started)).message
    await stage.stored(run, Planned)
    assert isinstance(started, Started)
    both[int(started.supervisor.split("-")[-2])].kill()
    assert (await asyncio.wait_for(run.answer(), LIMIT_S)).status == "complete"
    spans = await told(run, jaeger)
    assert_whole(spans)
    assert_agrees(spans, spans_of(run.id, await run.past()))
    assert [span.name for span in spans].count("plan") == 1


async def test_a_supervisor_killed_right_after_the_answer_leaves_the_story_to_the_next(
    stage: Stage, jaeger: Collector
) -> None:
    await stage.model(reading())
    watched(stage, jaeger)
    await stage.worker("reader", "echo")
    stage.environment["OTEL_BSP_SCHEDULE_DELAY"] = "60000"
    silent = await stage.supervisor()
    run = await stage.ask(text="Read the book")
    assert (await asyncio.wait_for(run.answer(), LIMIT_S)).status == "complete"
    silent.kill()
    assert not [span for span in jaeger.of(run.id) if span.service == "handoff-supervisor"]
    watched(stage, jaeger)
    await stage.supervisor()
    spans = await told(run, jaeger)
    assert_whole(spans)
    assert_agrees(spans, spans_of(run.id, await run.past()))


async def test_a_killed_worker_leaves_no_hole_and_both_executions_show(stage: Stage, jaeger: Collector) -> None:
    await stage.model(reading(delay_s=0.3))
    watched(stage, jaeger)
    await asyncio.gather(stage.supervisor(), stage.worker("echo"))
    first = await stage.worker("reader")
    run = await stage.ask(text="Read the book")
    await stage.stored(run, ToolCalled)
    first.kill()
    await stage.worker("reader")
    assert (await asyncio.wait_for(run.answer(), LIMIT_S)).status == "complete"
    spans = await told(run, jaeger)
    assert_whole(spans)
    assert_agrees(spans, spans_of(run.id, await run.past()))
    executions = sorted((s for s in spans if s.name == "invoke_agent reader"), key=lambda span: span.start_ns)
    assert [span.error for span in executions] == [True, False]
    assert executions[0].id in executions[1].links


async def test_an_actor_that_is_told_to_stop_sends_what_is_left(stage: Stage, jaeger: Collector) -> None:
    await stage.model(reading())
    watched(stage, jaeger)
    stage.environment["OTEL_BSP_SCHEDULE_DELAY"] = "60000"
    actors = await asyncio.gather(stage.supervisor(), stage.worker("reader", "echo"))
    run = await stage.ask(text="Read the book")
    assert (await asyncio.wait_for(run.answer(), LIMIT_S)).status == "complete"
    for actor in actors:
        actor.process.terminate()
    assert [await actor.ended() for actor in actors] == [0, 0]
    spans = await told(run, jaeger)
    assert_whole(spans)
    assert_agrees(spans, spans_of(run.id, await run.past()))


async def test_a_collector_that_is_away_costs_nothing_but_one_line(stage: Stage) -> None:
    stage.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://user:hunter22@127.0.0.1:9"
    stage.environment |= {"OTEL_BSP_SCHEDULE_DELAY": "20", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    supervisor, _ = await asyncio.gather(stage.supervisor(), stage.worker("echo"))
    for _ in range(3):
        run = await stage.ask(task("a", "echo"))
        assert (await asyncio.wait_for(run.answer(), LIMIT_S)).status == "complete"
    await until(lambda: b"telemetry.undelivered" in supervisor.log.read_bytes())
    told_to_stop = time.monotonic()
    supervisor.process.terminate()
    assert await supervisor.ended() == 0
    assert time.monotonic() - told_to_stop < LIMIT_S / 2, "a last try of 1 s, on an idle machine"
    lines = supervisor.log.read_text()
    assert lines.count("telemetry.undelivered") == 1
    assert "hunter22" not in lines
    assert "Traceback" not in lines
