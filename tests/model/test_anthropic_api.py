"""The adapter, through the real SDK, against the local server."""

import asyncio
import contextlib
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from waiting import LIMIT_S

from actors.model.anthropic_api import AnthropicModel, Endpoint, Provider
from actors.model.port import Call, Turn
from actors.model_server.scripted import Rule, Script, ScriptedTool
from actors.model_server.serve import offline_server
from protocol.errors import FencedError, ModelError
from tests.model.asking import RUN, QuickClock, asking, endpoint, lines, noted, question, spec

ROOT = Path(__file__).parents[2]
HELLO = "hello to you, and to everybody else who is listening to this"


def unheard(text: str) -> None:
    assert text


def script(*rules: Rule) -> Script:
    return Script(rules=list(rules))


async def test_a_call_comes_back_with_text_stop_reason_model_and_usage() -> None:
    async with offline_server(script=script(Rule(text=HELLO))) as url, asking(url) as model:
        reply = await model.call(question("hi"))
    assert [block["type"] for block in reply.content] == ["thinking", "text"]
    assert reply.text == HELLO
    assert reply.stop_reason == "end_turn"
    assert reply.model == "offline-rules-1"
    assert reply.usage.model_calls == 1
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0
    assert reply.usage.usd == 0.0


async def test_a_streamed_call_is_heard_while_it_is_written_and_ends_in_the_same_reply() -> None:
    heard: list[str] = []
    async with offline_server(script=script(Rule(text=HELLO))) as url, asking(url) as model:
        streamed = await model.call(question("hi"), said=heard.append)
        plain = await model.call(question("hi"))
    assert len(heard) > 1
    assert "".join(heard) == HELLO
    assert streamed == plain


@pytest.mark.parametrize("streamed", [False, True])
async def test_tool_uses_come_back_whole_and_their_blocks_can_be_sent_back(streamed: bool) -> None:
    wanted = {"query": "ünïcode {braces}", "limit": 3, "deep": {"list": [1, None]}}
    rules = script(
        Rule(turns=1, text="Looking.", tool_use=[ScriptedTool(name="look", input=wanted)]), Rule(text="done")
    )
    said = unheard if streamed else None
    async with offline_server(script=rules) as url, asking(url) as model:
        first = await model.call(question("find", tools=[spec("look", query="string")]), said=said)
        use = first.tool_uses[0]
        assert use["input"] == wanted
        assert first.text == "Looking."
        assert first.stop_reason == "tool_use"
        turns = [
            Turn(role="user", content="find"),
            Turn(role="assistant", content=first.content),
            Turn(role="user", content=[{"type": "tool_result", "tool_use_id": use["id"], "content": "here"}]),
        ]
        again = Call(run=RUN, role="w", system="", turns=turns, tools=[spec("look", query="string")])
        assert (await model.call(again, said=said)).text == "done"


async def test_the_price_goes_by_the_model_that_answered() -> None:
    rules = script(Rule(contains="dear", text="x", model="claude-haiku-5-5"), Rule(text="x", model="my-local-model"))
    async with offline_server(script=rules) as url, asking(url) as model:
        dear = await model.call(question("dear"))
        unknown = await model.call(question("other"))
    assert dear.usage.usd is not None
    assert dear.usage.usd > 0
    assert unknown.usage.usd is None


@pytest.mark.parametrize("reason", ["refusal", "max_tokens", "pause_turn", "model_context_window_exceeded"])
async def test_an_unusual_stop_reason_is_not_an_error(reason: str) -> None:
    async with offline_server(script=script(Rule(text="no", stop_reason=reason))) as url, asking(url) as model:
        assert (await model.call(question("hi"))).stop_reason == reason
        assert (await model.call(question("hi"), said=unheard)).stop_reason == reason


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
    ],
)
async def test_an_error_that_stays_is_raised_at_once(status: int, kind: str, tmp_path: Path) -> None:
    clock = QuickClock()
    rules = script(Rule(status=status, message="because"))
    async with offline_server(script=rules, log=tmp_path / "log") as url, asking(url, clock=clock) as model:
        with pytest.raises(ModelError, match="because") as caught:
            await model.call(question("hi"))
    assert caught.value.kind == kind
    assert not caught.value.retryable
    assert clock.waits == []
    assert len([line for line in lines(tmp_path / "log") if line["event"] == "asked"]) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
@pytest.mark.parametrize("streamed", [False, True])
async def test_an_error_that_may_pass_is_tried_again(status: int, streamed: bool) -> None:
    clock = QuickClock()
    rules = script(Rule(status=status, times=2), Rule(text=HELLO))
    async with offline_server(script=rules) as url, asking(url, clock=clock) as model:
        reply = await model.call(question("hi"), said=unheard if streamed else None)
    assert reply.text == HELLO
    assert clock.waits == [0.5, 1.0]
    assert reply.usage.seconds == 1.5


async def test_a_busy_provider_is_asked_until_the_patience_of_the_call_ends(tmp_path: Path) -> None:
    clock, log = QuickClock(), tmp_path / "log"
    rules = script(Rule(status=529, retry_after_s=3))
    call = msgspec.structs.replace(question("hi"), patience_s=7.0)
    async with offline_server(script=rules, log=log) as url, asking(endpoint(url, retries=0), clock=clock) as model:
        with pytest.raises(ModelError) as caught:
            await model.call(call)
    assert caught.value.kind == "overloaded_error"
    assert caught.value.retryable
    assert caught.value.retry_after_s == 3.0
    assert clock.waits == [3.0, 3.0]
    asked = [line for line in lines(log) if line["event"] == "asked"]
    assert len(asked) == 3, "the SDK must not retry by itself"


async def test_a_long_retry_after_is_waited_out_within_the_patience_of_the_call() -> None:
    clock = QuickClock()
    rules = script(Rule(status=429, retry_after_s=3600, times=1), Rule(text=HELLO))
    call = msgspec.structs.replace(question("hi"), patience_s=4000.0)
    async with offline_server(script=rules) as url, asking(url, clock=clock) as model:
        await model.call(call)
    assert clock.waits == [3600.0]


async def test_an_unexplained_error_is_asked_again_a_fixed_number_of_times() -> None:
    clock = QuickClock()
    async with (
        offline_server(script=script(Rule(status=500))) as url,
        asking(endpoint(url, retries=2), clock=clock) as model,
    ):
        with pytest.raises(ModelError) as caught:
            await model.call(question("hi"))
    assert caught.value.kind == "api_error"
    assert len(clock.waits) == 2


async def test_a_429_without_retry_after_ends_after_a_minute_as_a_spend_limit() -> None:
    clock = QuickClock()
    call = msgspec.structs.replace(question("hi"), patience_s=4000.0)
    async with offline_server(script=script(Rule(status=429))) as url, asking(url, clock=clock) as model:
        with pytest.raises(ModelError) as caught:
            await model.call(call)
    assert caught.value.kind == "billing_error"
    assert not caught.value.retryable
    assert 60 <= sum(clock.waits) <= 80


async def test_the_check_before_an_attempt_runs_after_each_wait_and_ends_the_call_unpaid(tmp_path: Path) -> None:
    clock, log = QuickClock(), tmp_path / "log"
    checks: list[float] = []

    async def ready() -> None:
        checks.append(clock.monotonic())
        if len(checks) == 2:
            raise FencedError("the task was taken over")

    rules = script(Rule(status=429, retry_after_s=30, times=1), Rule(text=HELLO))
    async with offline_server(script=rules, log=log) as url, asking(url, clock=clock) as model:
        with pytest.raises(FencedError):
            await model.call(question("hi"), ready=ready)
    assert checks == [0.0, 30.0]
    assert len([line for line in lines(log) if line["event"] == "asked"]) == 1


async def test_jitter_spreads_the_waits() -> None:
    clock = QuickClock()
    rules = script(Rule(status=500, times=1), Rule(text=HELLO))
    async with offline_server(script=rules) as url, asking(url, clock=clock, luck=lambda: 0.0) as model:
        await model.call(question("hi"))
    assert clock.waits == [0.25]


@pytest.mark.parametrize("cut", ["end", "drop"])
@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_that_breaks_off_is_asked_for_again(cut: str, streamed: bool) -> None:
    clock = QuickClock()
    rules = script(Rule(cut="drop" if cut == "drop" else "end", text=HELLO, times=1), Rule(text=HELLO))
    async with offline_server(script=rules) as url, asking(url, clock=clock) as model:
        reply = await model.call(question("hi"), said=unheard if streamed else None)
    assert reply.text == HELLO
    assert len(clock.waits) == 1


async def test_a_stream_that_always_breaks_off_ends_in_an_error() -> None:
    rules = script(Rule(cut=True, text=HELLO))
    async with offline_server(script=rules) as url, asking(endpoint(url, patience_s=3)) as model:
        with pytest.raises(ModelError) as caught:
            await model.call(question("hi"), said=unheard)
    assert caught.value.kind == "cut_off"
    assert caught.value.retryable


async def test_an_error_event_inside_a_stream_is_told_by_its_type() -> None:
    rules = script(
        Rule(contains="pass", error_event="overloaded_error", text=HELLO, times=1),
        Rule(contains="stay", error_event="invalid_request_error", text=HELLO),
        Rule(text=HELLO),
    )
    async with offline_server(script=rules) as url, asking(url) as model:
        assert (await model.call(question("pass"), said=unheard)).text == HELLO
        with pytest.raises(ModelError) as caught:
            await model.call(question("stay"), said=unheard)
    assert caught.value.kind == "invalid_request_error"
    assert not caught.value.retryable


@pytest.mark.parametrize("streamed", [False, True])
async def test_silence_is_a_timeout_and_may_pass(streamed: bool) -> None:
    rules = script(Rule(stall_s=30, text=HELLO))
    async with offline_server(script=rules) as url, asking(endpoint(url, retries=0, timeout_s=0.2)) as model:
        with pytest.raises(ModelError, match="nothing came") as caught:
            await model.call(question("hi"), said=unheard if streamed else None)
    assert caught.value.kind == "timeout_error"
    assert caught.value.retryable


async def test_an_address_that_was_never_reached_is_final_and_named() -> None:
    clock = QuickClock()
    async with offline_server() as url:
        pass
    async with asking(url, clock=clock) as model:
        with pytest.raises(ModelError, match=url) as caught:
            await model.call(question("hi"))
    assert caught.value.kind == "unreachable"
    assert not caught.value.retryable
    assert clock.waits == []


async def test_an_address_that_was_reached_once_is_waited_for() -> None:
    clock = QuickClock()
    async with contextlib.AsyncExitStack() as stack:
        async with offline_server(script=script(Rule(text=HELLO))) as url:
            model = await stack.enter_async_context(asking(endpoint(url, patience_s=5), clock=clock))
            await model.call(question("hi"))
        with pytest.raises(ModelError) as caught:
            await model.call(question("hi"))
    assert caught.value.kind == "unreachable"
    assert caught.value.retryable
    assert len(clock.waits) >= 2


async def test_cancelling_closes_a_stream_at_once(tmp_path: Path) -> None:
    log, heard = tmp_path / "log", asyncio.Event()
    rules = script(Rule(stall_s=60, text=HELLO * 5))
    async with offline_server(script=rules, log=log) as url, asking(url) as model:
        task = asyncio.create_task(model.call(question("hi"), said=lambda _: heard.set()))
        async with asyncio.timeout(LIMIT_S):
            await heard.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await noted(log, "gone"))["n"] == 1


async def test_cancelling_closes_a_call_that_has_no_answer_yet(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with offline_server(script=script(Rule(delay_s=60, text=HELLO)), log=log) as url, asking(url) as model:
        task = asyncio.create_task(model.call(question("hi")))
        await noted(log, "asked")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await noted(log, "gone"))["n"] == 1


async def test_tokens_are_counted_as_the_server_counts_them() -> None:
    async with offline_server() as url, asking(url) as model:
        few = await model.count(question("hi", tools=[spec("look", page="integer")]))
        many = await model.count(question("hi " * 4_000, tools=[spec("look", page="integer")]))
    assert 0 < few < 200
    assert 4_700 < many - few < 4_900


async def test_a_server_that_cannot_count_says_so_at_once() -> None:
    clock = QuickClock()
    async with offline_server() as url, asking(f"{url}/elsewhere", clock=clock) as model:
        with pytest.raises(ModelError) as caught:
            await model.count(question("hi"))
    assert caught.value.kind == "not_found_error"
    assert clock.waits == []


async def test_a_prompt_that_is_too_long_for_the_model_is_told_by_its_own_kind() -> None:
    rules = script(Rule(status=400, message="prompt is too long: 212000 tokens > 200000 maximum"))
    async with offline_server(script=rules) as url, asking(url) as model:
        with pytest.raises(ModelError, match="212000") as caught:
            await model.call(question("hi"))
    assert caught.value.kind == "context"
    assert not caught.value.retryable


def test_without_key_and_address_it_says_what_to_do() -> None:
    with pytest.raises(ModelError, match="ANTHROPIC_API_KEY") as caught:
        AnthropicModel(Endpoint(model="m"))
    assert not caught.value.retryable


@pytest.mark.parametrize(("provider", "variable"), [("bedrock", "AWS_REGION"), ("vertex", "CLOUD_ML_REGION")])
async def test_a_cloud_without_a_region_is_refused_with_the_name_of_the_variable(
    provider: Provider, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "CLOUD_ML_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    model = AnthropicModel(Endpoint(provider=provider), clock=QuickClock())
    with pytest.raises(ModelError, match=variable) as caught:
        await model.call(question("hi"))
    assert (caught.value.kind, caught.value.retryable) == ("configuration", False)


@pytest.mark.parametrize(
    ("provider", "variable", "client"),
    [("bedrock", "AWS_REGION", "AsyncAnthropicBedrock"), ("vertex", "CLOUD_ML_REGION", "AsyncAnthropicVertex")],
)
async def test_the_client_of_the_cloud_that_is_set_makes_the_calls(
    provider: Provider, variable: str, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "eu-west-1")
    asked: list[str] = []

    def refuse(*_: object, **__: object) -> None:
        asked.append(client)
        raise ValueError("made in a test")

    monkeypatch.setattr(f"anthropic.{client}", refuse)
    with pytest.raises(ModelError, match="made in a test"):
        await AnthropicModel(Endpoint(provider=provider), clock=QuickClock()).call(question("hi"))
    assert asked == [client]


def test_the_key_is_never_shown() -> None:
    assert "secret" not in repr(Endpoint(api_key="secret"))


async def test_many_calls_at_once_share_one_client() -> None:
    async with offline_server(script=script(Rule(text=HELLO))) as url, asking(url) as model:
        replies = await asyncio.gather(*(model.call(question(f"hi {n}")) for n in range(20)))
    assert {reply.text for reply in replies} == {HELLO}


async def test_the_span_of_the_sdk_carries_the_run_as_its_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    async with offline_server(script=script(Rule(text=HELLO))) as url, asking(url) as model:
        await model.call(question("hi"))
        await model.call(question("hi"), said=unheard)
    spans = exporter.get_finished_spans()
    assert [dict(span.attributes or {})["gen_ai.conversation.id"] for span in spans] == [RUN, RUN]
    provider.shutdown()


def test_importing_the_adapter_does_not_import_the_sdk() -> None:
    code = (
        "import sys, actors.model.anthropic_api, actors.model_server.serve\n"
        "sys.exit(bool({'anthropic', 'genai_prices'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
