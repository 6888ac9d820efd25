"""Whatever a tool does, the worker lives on and the model is told."""

import asyncio
from typing import Annotated

import msgspec
import pytest
from at_work import RUN, SETTINGS, Desk, Done, agent, use
from structlog.testing import capture_logs

from actors.model.port import Block
from actors.tools.given import CallKey, FromSetting
from actors.tools.tool import Tool, tool
from actors.worker import agent as agent_module
from actors.worker import outputs
from actors.worker.definition import Worker
from actors.worker.moves import MAX_LOSSES
from protocol.errors import TooLargeError
from protocol.messages import Usage
from protocol.steps import ModelCalled, Step, Taken


@tool
def say(text: str) -> str:
    """Say it."""
    return text


@tool(effect=True)
def keyed(text: str, key: CallKey) -> str:
    """Say it, with the key."""
    return f"{text} {key}"


def talker(size: int, **options: int) -> Tool:
    @tool(**options)  # pyright: ignore[reportArgumentType]
    def talk() -> str:
        """Talk a lot."""
        return "x" * size

    return talk


def failing(error: BaseException) -> Tool:
    @tool
    async def fail() -> str:
        """Fail."""
        raise error

    return fail


def asked(*uses: Block) -> ModelCalled:
    content = msgspec.Raw(msgspec.json.encode(list(uses)))
    return ModelCalled(model="m", content=content, stop_reason="tool_use", usage=Usage(model_calls=1))


async def do(*tools: Tool, calls: list[Block]) -> Done:
    return await Desk(agent(*tools)).do(calls)


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), BaseException("odd"), asyncio.CancelledError(), ValueError("bad")]
)
async def test_an_async_tool_that_raises_anything_is_told_and_the_worker_goes_on(error: BaseException) -> None:
    done = await do(failing(error), say, calls=[use("fail"), use("say", text="still here")])
    assert done.result.status == "completed"
    failed, said = sorted(done.tools, key=lambda step: step.tool)
    assert failed.failed
    assert type(error).__name__ in failed.output
    assert not said.failed
    assert '"is_error":true' in done.told


async def test_a_tool_of_another_worker_is_denied_and_logged() -> None:
    with capture_logs() as logs:
        done = await do(say, calls=[use("wipe_disk")])
    (denied,) = done.tools
    assert denied.failed
    assert denied.output == "tool_denied: agent has no tool called wipe_disk; it has say"
    assert [(line["tool"], line["worker"]) for line in logs if line["event"] == "tool.denied"] == [
        ("wipe_disk", "agent")
    ]


@pytest.mark.parametrize("given", ["text", ["text"], 3, False, None])
async def test_arguments_that_are_no_object_are_told_to_the_model_and_the_next_call_works(given: object) -> None:
    done = await do(say, calls=[use("say") | {"input": given}, use("say", 1, text="still here")])
    assert done.result.status == "completed"
    assert sorted((step.failed, step.output[:17]) for step in done.tools) == [
        (False, "still here"),
        (True, "bad arguments for"),
    ]


@pytest.mark.parametrize("given", ["not mine", ["not mine"], {"reason": "not mine"}, {"reason": ["not mine"]}])
async def test_a_task_is_handed_back_however_the_model_says_so(given: object) -> None:
    done = await do(calls=[use("decline_task") | {"input": given}])
    assert done.result.status == "declined"
    assert "not mine" in done.result.output


async def test_short_output_is_passed_on_whole() -> None:
    done = await do(say, calls=[use("say", text="short")])
    assert (done.tools[0].output, done.tools[0].artifact) == ("short", None)


@pytest.mark.parametrize("limited", [{}, {"output_limit": 2_000}])
async def test_long_output_is_kept_whole_and_the_model_sees_its_head_and_where_it_is(limited: dict[str, int]) -> None:
    desk = Desk(agent(talker(300_000, **limited)))
    (called,) = (await desk.do([use("talk")])).tools
    assert called.artifact is not None
    assert called.artifact.size == 300_000
    assert called.artifact.name == f"{RUN}.t1.1.1.1.output"
    assert await desk.artifact(called.artifact.name) == "x" * 300_000
    assert len(called.output) <= limited.get("output_limit", SETTINGS.tool_output)
    assert called.output.startswith("xxx")
    for part in (called.artifact.name, called.artifact.digest, "300,000 bytes"):
        assert part in called.output


async def test_output_that_grows_when_it_is_written_down_still_fits() -> None:
    @tool
    def crackle() -> str:
        """Six bytes of JSON a character."""
        return "\x01" * 45_000

    done = await do(crackle, calls=[use("crackle")])
    assert done.result.status == "completed"
    assert done.tools[0].artifact is not None


async def test_half_a_surrogate_pair_does_no_harm() -> None:
    @tool
    def odd() -> str:
        """Return what cannot be written down."""
        return "a\ud800b"

    done = await do(odd, calls=[use("odd")])
    assert (done.result.status, done.tools[0].output) == ("completed", "a?b")


async def test_an_error_as_long_as_a_book_is_cut_like_any_output() -> None:
    done = await do(failing(ValueError("x" * 1_000_000)), calls=[use("fail")])
    assert done.result.status == "completed"
    assert done.tools[0].failed
    assert done.tools[0].artifact is not None


async def test_output_that_cannot_be_kept_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object) -> None:
        raise TooLargeError("the store", 300_000, 1_000)

    monkeypatch.setattr("actors.bus.memory.MemoryBus.put_artifact", refuse)
    done = await do(talker(300_000), calls=[use("talk")])
    assert done.result.status == "completed"
    assert done.tools[0].artifact is None
    assert "300,000 characters in all; they could not be kept" in done.tools[0].output


async def test_output_that_would_fill_the_store_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "MOST_KEPT", 100_000)
    done = await do(talker(100_001), calls=[use("talk")])
    assert done.tools[0].artifact is None
    assert "100,001 characters in all; more than 100,000 are not kept" in done.tools[0].output


async def test_the_key_names_run_task_attempt_turn_and_place() -> None:
    desk = Desk(agent(keyed))
    done = await desk.do([use("keyed", 1, text="a"), use("keyed", 2, text="b")], [use("keyed", 3, text="c")])
    assert sorted(step.output for step in done.tools) == [f"a {RUN}.t1.1.1.1", f"b {RUN}.t1.1.1.2", f"c {RUN}.t1.1.2.1"]


async def test_a_call_has_the_same_key_after_the_worker_was_lost() -> None:
    first, second = use("keyed", 1, text="a"), use("keyed", 2, text="b")
    done = await Desk(agent(keyed)).do([first, second], before=[asked(first, second)])
    assert sorted(step.output for step in done.tools) == [f"a {RUN}.t1.1.1.1", f"b {RUN}.t1.1.1.2"]
    assert sum(isinstance(step, ModelCalled) for step in done.steps) == 2


async def test_a_call_that_the_worker_did_not_survive_twice_is_not_made_again_but_told() -> None:
    call, other = use("say", 1, text="fatal"), use("say", 2, text="harmless")
    # The worker that comes now writes the second Taken itself.
    before: list[Step] = [asked(call, other), *[Taken(instance="gone")] * (MAX_LOSSES - 1)]
    done = await Desk(agent(say)).do([call, other], before=before)
    outputs = {step.call: step for step in done.tools}
    assert outputs[call["id"]].failed
    assert outputs[call["id"]].output == "say was not run again: the worker died 2 times while this ran"
    assert outputs[other["id"]].output == "harmless"
    assert done.result.status == "completed"


async def test_an_argument_can_come_from_the_settings_and_never_from_the_model() -> None:
    @tool
    def look(page: int, turns: Annotated[int, FromSetting("max_turns")] = 0) -> str:
        """Look."""
        return f"{page} of {turns}"

    done = await do(look, calls=[use("look", 1, page=1), use("look", 2, page=1, turns=99)])
    answers = {step.call: step.output for step in done.tools}
    assert answers["use-look-1"] == f"1 of {SETTINGS.max_turns}"
    assert "unknown field `turns`" in answers["use-look-2"]


async def test_calls_of_one_turn_run_at_once_but_never_more_than_eight() -> None:
    running = most = 0
    eight = asyncio.Event()

    @tool
    async def meet() -> str:
        """Meet the others."""
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 8:
            asyncio.get_running_loop().call_later(0.02, eight.set)  # a ninth would come now
        await eight.wait()
        running -= 1
        return ""

    done = await do(meet, calls=[use("meet", number) for number in range(20)])
    assert len(done.tools) == 20
    assert most == 8


async def test_a_tool_that_is_lent_while_its_call_waits_does_not_slip_past_the_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agent_module, "TOOLS_AT_ONCE", 1)
    ran: list[str] = []

    @tool(confirm=True)
    async def wipe() -> str:
        """Wipe the disk."""
        ran.append("wipe")
        return "wiped"

    @tool
    async def connect() -> str:
        """A tool server comes, and lends another tool."""
        tools.append(wipe)
        return "connected"

    tools = [connect]
    worker = Worker("agent", summary="Works.", prompt="Work.", tools=tools)
    done = await Desk(worker).do([use("connect"), use("wipe")])
    assert [(step.tool, step.output[:11]) for step in done.tools] == [("connect", "connected"), ("wipe", "tool_denied")]
    assert ran == []
