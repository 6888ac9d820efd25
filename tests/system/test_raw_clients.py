"""Any NATS client can ask, watch and work: docs/PROTOCOL.md is enough."""

# nats-py leaves some parameters untyped:
# pyright: reportUnknownMemberType=false

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import nats
from actor_processes import Stage, task, until
from waiting import LIMIT_S

PLAN = {"goal": "g", "tasks": [{"id": "e", "worker": "echo", "intent": "hello there", "success": "said"}]}


async def test_a_bare_text_published_by_any_client_becomes_a_run(stage: Stage) -> None:
    await stage.model({"rules": [{"role": "planner", "plan": PLAN}, {"role": "synthesizer", "text": "It said hello."}]})
    await stage.worker("echo")
    await stage.supervisor()
    nc = await nats.connect(stage.server.url)
    events: list[dict[str, Any]] = []

    async def heard(message: Any) -> None:
        events.append(json.loads(message.data))

    await nc.subscribe("handoff.stored.*.log", cb=heard)
    await nc.flush()
    ack = await nc.jetstream().publish("handoff.request.default", b'{"text": "Say hello"}')
    assert ack.stream == "HANDOFF_REQUESTS"
    await until(lambda: any(event["type"] == "finished" for event in events))
    await nc.close()
    assert [event["type"] for event in events] == ["started", "planned", "synthesized", "reported", "finished"]
    answer = events[-1]["answer"]
    assert answer["status"] == "complete"
    assert answer["text"] == "It said hello."
    assert len(answer["run"]) == 32
    assert events[0]["request"]["text"] == "Say hello"


async def test_the_run_id_is_the_trace_id_in_the_headers(stage: Stage) -> None:
    await stage.worker("echo")
    await stage.supervisor()
    nc = await nats.connect(stage.server.url)
    sub = await nc.subscribe("handoff.stored.*.task.>")
    await nc.flush()
    run = await stage.ask(task("a", "echo"))
    message = await sub.next_msg(timeout=LIMIT_S)
    await nc.close()
    version, trace, span, flags = (message.headers or {})["traceparent"].split("-")
    assert (version, trace, flags) == ("00", run.id, "01")
    assert len(span) == 16


async def test_a_worker_without_our_code_takes_handoffs_and_returns_results(stage: Stage, tmp_path: Path) -> None:
    await stage.worker("echo")
    await stage.supervisor()
    with (tmp_path / "raw.log").open("wb") as log:
        program = str(Path(__file__).parent / "raw_worker.py")
        raw = await asyncio.create_subprocess_exec(sys.executable, program, stage.server.url, stdout=log, stderr=log)
    try:

        async def listed() -> bool:
            return any(key.startswith("default.shouter.") for key in await stage.bus.cards())

        await until(listed)
        run = await stage.ask(task("a", "echo", intent="quiet"), task("b", "shouter", "a", intent="say"))
        answer = await asyncio.wait_for(run.answer(), LIMIT_S)
        assert (answer.status, answer.text) == ("complete", "SAY QUIET")
    finally:
        raw.kill()
        await raw.wait()


async def test_two_stores_and_one_delivery_per_task(stage: Stage) -> None:
    await stage.worker("noop")
    await stage.supervisor()
    run = await stage.ask(*(task(f"t{n}", "noop") for n in range(50)))
    assert (await run.answer()).status == "complete"
    nc = await nats.connect(stage.server.url)
    js = nc.jetstream()
    info = await js.stream_info("HANDOFF_RUNS", subjects_filter=f"handoff.run.{run.id}.>")
    kinds = [subject.split(".")[3] for subject in info.state.subjects or {}]
    assert (kinds.count("task"), kinds.count("result"), kinds.count("step")) == (50, 50, 0)
    assert info.state.messages == 50 + 50 + 3, "beside the tasks: started, planned, finished"

    async def settled() -> bool:
        return (await js.consumer_info("HANDOFF_RUNS", "default-noop")).num_ack_pending == 0

    await until(settled)
    consumer = await js.consumer_info("HANDOFF_RUNS", "default-noop")
    assert consumer.delivered is not None
    assert consumer.delivered.consumer_seq == 50
    assert (consumer.num_redelivered, consumer.num_pending) == (0, 0)
    await nc.close()
