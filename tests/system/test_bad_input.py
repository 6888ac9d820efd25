"""Bad input gets a clear answer, and nothing is lost."""

# nats-py leaves some parameters untyped:
# pyright: reportUnknownMemberType=false

import asyncio
import json
from typing import Any

import nats
import pytest
from actor_processes import Stage, task, until
from waiting import LIMIT_S

from actors.dead_letter import DeadLetter, dead_letter, dead_letters, redrive
from protocol.errors import InvalidError
from protocol.events import Finished
from protocol.messages import Handoff, Plan, Task
from protocol.subjects import ALL_LOGS


async def publish(stage: Stage, data: bytes, subject: str = "handoff.request.default") -> None:
    nc = await nats.connect(stage.server.url)
    await nc.jetstream().publish(subject, data)
    await nc.close()


async def one_dead_letter(stage: Stage) -> DeadLetter:
    async def there() -> bool:
        return bool(await dead_letters(stage.bus))

    await until(there)
    (letter,) = await dead_letters(stage.bus)
    return letter


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"not json at all", "not a Request"),
        (b'{"text": 5}', "Expected `str`"),
        (b'{"text": "x", "plan": {"tasks": "none"}}', "Expected `array`"),
        (b'{"id": "../../etc", "text": "x"}', "not a valid run id"),
        (b"\xff\xfe\x00", "not a Request"),
        (b'{"x":' * 20_000, "not a Request"),
        (json.dumps({"text": "y" * 400_000}).encode(), "the limit is"),
    ],
    ids=["no-json", "wrong-type", "wrong-plan", "bad-id", "bytes", "deep", "large"],
)
async def test_what_cannot_be_read_is_a_dead_letter_with_the_reason(stage: Stage, data: bytes, reason: str) -> None:
    await stage.supervisor()
    await publish(stage, data)
    letter = await one_dead_letter(stage)
    assert reason in letter.reason
    assert letter.subject == "handoff.request.default"
    whole = await dead_letter(stage.bus, letter.number)
    assert whole is not None
    assert whole.data == data


async def test_a_dead_letter_can_be_put_back(stage: Stage) -> None:
    await stage.supervisor()
    await publish(stage, b"{")
    letter = await one_dead_letter(stage)
    await redrive(stage.bus, letter)

    async def again() -> bool:
        return [found.number for found in await dead_letters(stage.bus)] == [letter.number + 1]

    await until(again)


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        ({"text": "   "}, "neither a text nor a plan"),
        ({"plan": {"tasks": []}}, "no tasks"),
        (
            {
                "plan": {
                    "tasks": [{"id": n, "worker": "echo", "intent": "x", "depends_on": [m]} for n, m in ("ab", "ba")]
                }
            },
            "circle",
        ),
        ({"plan": {"tasks": [{"id": "a b", "worker": "echo", "intent": "x"}]}}, "not a valid id"),
        ({"plan": {"tasks": [{"id": "a", "worker": "ghost", "intent": "x"}]}}, "no such worker (known: echo"),
    ],
    ids=["empty", "no-tasks", "cycle", "bad-task-id", "unknown-worker"],
)
async def test_what_cannot_run_ends_in_a_failed_answer_with_the_reason(
    stage: Stage, request_: dict[str, Any], reason: str
) -> None:
    stage.environment["HANDOFF_CARD_TTL_S"] = "2"
    await stage.worker("echo")
    await stage.supervisor()
    answers: asyncio.Queue[Finished] = asyncio.Queue()

    def heard(stored: Any) -> None:
        from protocol import codec

        event = codec.decode_event(stored.data)
        if isinstance(event, Finished):
            answers.put_nowait(event)

    async with stage.bus.subscribe(ALL_LOGS, heard):
        await publish(stage, json.dumps(request_).encode())
        answer = (await asyncio.wait_for(answers.get(), LIMIT_S)).answer
    assert answer.status == "failed"
    assert reason in answer.text


async def test_the_client_refuses_before_anything_is_sent(stage: Stage) -> None:
    circle = Plan(tasks=(task("a", "echo", "b"), task("b", "echo", "a")))
    odd = ({"text": 5}, {"text": "half \ud83d"}, {"text": "x", "deadline_s": "soon"})
    for faulty in ({"text": ""}, {"text": "x" * 2_000_000}, {"plan": circle}, {"text": "x", "team": "no.team"}, *odd):
        with pytest.raises(InvalidError):
            await stage.client.ask(**faulty)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="dead"):
        await stage.client.ask("x", dead=1)  # pyright: ignore[reportCallIssue]
    assert await stage.bus.read("HANDOFF_REQUESTS", "handoff.request.*") == []


async def test_a_request_for_a_team_nobody_serves_is_kept_until_somebody_does(stage: Stage) -> None:
    run = await stage.client.ask(
        plan=Plan(tasks=(task("a", "echo"),)), synthesis=False, team="later", check_served=False
    )
    stage.environment["HANDOFF_TEAM"] = "later"
    stage.start("supervisor")
    stage.start("worker", "system.workers_for_tests:echo")
    assert (await asyncio.wait_for(run.answer(), LIMIT_S)).status == "complete"


async def test_a_result_that_cannot_be_read_is_a_failed_attempt_not_a_hang(stage: Stage) -> None:
    stage.environment["HANDOFF_ATTEMPTS"] = "1"
    await stage.worker("nap")
    await stage.supervisor()
    run = await stage.ask(task("a", "nap", intent="30"))
    handoff = (await stage.stored(run, Handoff)).message
    assert isinstance(handoff, Handoff)
    await publish(stage, b"garbage", handoff.return_to)
    answer = await asyncio.wait_for(run.answer(), LIMIT_S)
    assert answer.status == "failed"
    assert "cannot be read" in answer.text


async def test_an_output_too_big_for_a_message_travels_as_an_artifact(stage: Stage) -> None:
    await stage.worker("big", "echo")
    await stage.supervisor()
    run = await stage.ask(task("a", "big"), Task(id="b", worker="echo", intent="got", depends_on=("a",)))
    answer = await asyncio.wait_for(run.answer(), LIMIT_S)
    assert answer.status == "complete"
    assert "700,000 bytes, is the artifact" in answer.text
    name = answer.text.partition("is the artifact ")[2].partition(",")[0]
    assert await stage.bus.get_artifact(name) == b"x" * 700_000


async def test_a_worker_that_is_not_there_is_waited_for(stage: Stage) -> None:
    await stage.supervisor()
    worker = await stage.worker("echo")
    worker.kill()
    run = await stage.ask(task("a", "echo", intent="late"))
    await stage.stored(run, Handoff)
    await stage.worker("echo")
    assert (await asyncio.wait_for(run.answer(), LIMIT_S)).text == "late"


async def test_failing_and_declining_workers_leave_the_rest_alone(stage: Stage) -> None:
    await stage.worker("fail", "decline", "echo")
    await stage.supervisor()
    run = await stage.ask(
        task("a", "fail"), task("b", "decline"), task("c", "echo", intent="fine"), task("d", "echo", "a")
    )
    answer = await asyncio.wait_for(run.answer(), LIMIT_S)
    assert answer.status == "partial"
    assert "fine" in answer.text
    assert [gap.partition(" ")[0] for gap in answer.gaps] == ["a", "b", "d"]
    assert "it is broken" in answer.gaps[0]
    assert "not my kind of work" in answer.gaps[1]
    assert "needs a (failed)" in answer.gaps[2]


async def test_a_cancel_reaches_what_is_running(stage: Stage) -> None:
    worker = await stage.worker("nap")
    await stage.supervisor()
    run = await stage.ask(task("a", "nap", intent="3600"))
    await stage.stored(run, Handoff)
    await run.cancel("enough")
    answer = await asyncio.wait_for(run.answer(), LIMIT_S)
    assert answer.status == "cancelled"
    await until(lambda: b"task.cancelled" in worker.log.read_bytes())


async def test_at_the_deadline_there_is_a_partial_answer(stage: Stage) -> None:
    await stage.worker("nap", "echo")
    await stage.supervisor()
    run = await stage.ask(task("a", "nap", intent="3600"), task("b", "echo", intent="in time"), deadline_s=1.0)
    answer = await asyncio.wait_for(run.answer(), LIMIT_S)
    assert answer.status == "partial"
    assert answer.text == "in time"
    assert "not finished before the deadline" in answer.gaps[0]
