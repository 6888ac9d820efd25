"""A secret gets into no log, span, event, export or dead letter; what was said is kept, and only as what was said."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from actor_processes import Stage, task, until
from collector import Collector, collector
from waiting import LIMIT_S

from actors.dead_letter import dead_letters
from observability.redaction import forget, learn
from observability.run_spans import spans_of
from protocol import codec, streams, subjects
from protocol.events import Finished, Planned
from protocol.messages import Handoff, Result
from protocol.steps import ModelCalled, ToolCalled

KEY = "canary-key-4f1d8a6c2e"
IN_PROMPT = "canary-prompt-77aa01"
IN_TOOL = "canary-tool-55bb02"
IN_HEADER = "canary-header-33cc03"
CANARIES = (KEY, IN_PROMPT, IN_TOOL, IN_HEADER)


def open_safe(number: int) -> dict[str, object]:
    """Ask for a safe; the second one fails, and says what lies in it."""
    return {"name": "open_safe", "input": {"number": number}}


PLAN = {
    "goal": "Read",
    "tasks": [
        {"id": "r", "worker": "keeper", "intent": "Open safe 1 and read the paper", "success": "The paper is read"}
    ],
}
SCRIPT: dict[str, object] = {
    "rules": [
        {"role": "planner", "plan": PLAN},
        {"role": "worker", "turns": 1, "tool_use": [open_safe(1), open_safe(2)]},
        {"role": "worker", "turns": 3, "text": "Read."},
    ]
}

FORMS = (("--format", "tree"), ("--format", "json"), ("--format", "otlp"), ("--format", "html", "--no-content"))


@pytest.fixture
def jaeger() -> Iterator[Collector]:
    with collector() as found:
        yield found


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    learn([KEY])
    yield
    forget()


def watched(stage: Stage, jaeger: Collector) -> None:
    stage.environment |= {
        "ANTHROPIC_API_KEY": KEY,
        "HANDOFF_LOG_LEVEL": "debug",
        "OTEL_EXPORTER_OTLP_ENDPOINT": jaeger.url,
        "OTEL_EXPORTER_OTLP_HEADERS": f"x-api-key={IN_HEADER}",
        "OTEL_BSP_SCHEDULE_DELAY": "50",
        "OTEL_METRIC_EXPORT_INTERVAL": "200",
    }


def found_in(text: str, *canaries: str) -> list[str]:
    return [canary for canary in canaries or CANARIES if canary in text]


async def test_a_canary_is_found_nowhere_but_in_what_was_said(stage: Stage, jaeger: Collector) -> None:
    await stage.model(SCRIPT)
    watched(stage, jaeger)
    stage.environment["CANARY"] = IN_TOOL
    await asyncio.gather(stage.supervisor(), stage.worker("keeper", "leaky"))
    run = await stage.ask(text=f"Read it; password={IN_PROMPT}")
    bad = await stage.ask(task("a", "leaky"))
    await stage.bus.publish(
        subjects.request("default"),
        b"not a request",
        headers={"authorization": f"Bearer {IN_HEADER}", "traceparent": f"Bearer {IN_HEADER}"},
    )
    assert (await asyncio.wait_for(run.answer(), LIMIT_S)).status == "complete"
    assert (await asyncio.wait_for(bad.answer(), LIMIT_S)).status == "failed"
    for one in (run, bad):
        expected = len(spans_of(one.id, await one.past()))
        await until(lambda one=one, expected=expected: len(jaeger.of(one.id)) >= expected)
    await until(lambda: bool(jaeger.metrics))

    async def buried() -> bool:
        return bool(await dead_letters(stage.bus))

    await until(buried)
    assert jaeger.headers[0]["x-api-key"] == IN_HEADER, "the standard headers are honoured"
    for body in jaeger.bodies:
        assert not found_in(body.decode(errors="replace"))
    for actor in stage.actors:
        if actor.name != stage.actors[0].name:  # the scripted model is asked by us: it may know what was said
            assert not found_in(actor.log.read_text()), actor.name
    for one in (run, bad):
        for form in FORMS:
            file = stage.directory / "trace"
            assert await stage.start("trace", one.id, *form, "-o", str(file)).ended() == 0
            assert not found_in(file.read_text()), form
    for entry in await run.past():
        text = codec.encode(entry.message).decode()
        assert not found_in(text, KEY, IN_HEADER)
        if not isinstance(entry.message, ToolCalled | ModelCalled | Handoff | Result):
            assert not found_in(text, IN_TOOL) or isinstance(entry.message, Finished | Planned)
    for entry in await bad.past():
        assert not found_in(codec.encode(entry.message).decode()), "a fault tells no secret"
    for stored in await stage.bus.read(streams.DEAD, subjects.DEAD):
        assert not found_in(stored.data.decode() + json.dumps(dict(stored.headers)))


async def test_content_is_told_only_to_who_asks_for_it(stage: Stage, jaeger: Collector) -> None:
    await stage.model(SCRIPT)
    watched(stage, jaeger)
    stage.environment |= {"CANARY": IN_TOOL, "HANDOFF_TRACE_CONTENT": "true"}
    await asyncio.gather(stage.supervisor(), stage.worker("keeper"))
    run = await stage.ask(text="Read it")
    assert (await asyncio.wait_for(run.answer(), LIMIT_S)).status == "complete"
    expected = len(spans_of(run.id, await run.past()))
    await until(lambda: len(jaeger.of(run.id)) >= expected)
    holding = {
        (span.name.split()[0], name)
        for span in jaeger.of(run.id)
        for name, value in span.attributes.items()
        if IN_TOOL in str(value)
    }
    assert holding == {("execute_tool", "gen_ai.tool.call.result")}
    assert not any(found_in(body.decode(errors="replace"), KEY) for body in jaeger.bodies)
