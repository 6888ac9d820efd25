"""A conversation is stored from its beginning and replayed byte for byte, whoever continues it."""

import msgspec
from at_work import SETTINGS, Desk, use

from actors.model.port import Block
from actors.tools.tool import tool
from actors.worker.definition import Worker
from protocol.messages import Usage
from protocol.steps import Begun, ModelCalled, OfferedTool, ToolCalled

THINKING: Block = {"type": "thinking", "thinking": "", "signature": "sig-1"}


@tool
def look(page: int) -> str:
    """Look at a page.

    Args:
        page: its number
    """
    return f"page {page}"


READER = Worker("reader", summary="Reads.", prompt="You read in the words of the new release.", tools=[look])
OLD = Begun(
    system="You read in the words of the old release.",
    prompt=msgspec.Raw(b'"do it as it was asked then"'),
    tools=(OfferedTool(name="peek", description="Peek.", schema=msgspec.Raw(b'{"type":"object","properties":{}}')),),
    model="claude-haiku-5-5",
    effort="low",
)


async def test_the_whole_beginning_is_stored_before_the_first_call() -> None:
    done = await Desk(READER).do([use("look", page=1)])
    begun = done.steps[0]
    assert isinstance(begun, Begun)
    assert begun.system == done.calls[0].system
    assert msgspec.json.decode(begun.prompt) == done.calls[0].turns[0].content
    assert [(one.name, one.description) for one in begun.tools] == [
        (one.name, one.description) for one in done.calls[0].tools
    ]
    assert [msgspec.json.decode(one.schema) for one in begun.tools] == [one.schema for one in done.calls[0].tools]
    assert begun.system.count("Today is ") == 1


async def test_a_worker_of_another_release_sends_the_stored_beginning_and_turns() -> None:
    content: list[Block] = [THINKING, use("look", 1, page=1)]
    turn = ModelCalled(
        model="m",
        content=msgspec.Raw(msgspec.json.encode(content)),
        stop_reason="tool_use",
        usage=Usage(model_calls=1),
    )
    called = ToolCalled(call=content[1]["id"], tool="look", output="page 1 of then")
    done = await Desk(READER).do(content, before=[OLD, turn, called])
    (call,) = done.calls
    assert (call.system, call.model, call.effort) == (OLD.system, OLD.model, OLD.effort)
    assert [one.name for one in call.tools] == ["peek"]
    assert call.turns[0].content == "do it as it was asked then"
    assert call.turns[1].content == content
    assert "page 1 of then" in str(call.turns[2].content)
    assert sum(isinstance(step, Begun) for step in done.steps) == 1


async def test_every_call_of_a_task_begins_with_the_one_before() -> None:
    done = await Desk(READER).do([THINKING, use("look", 1, page=1)], [THINKING, use("look", 2, page=2)])
    assert len(done.calls) == 3
    for earlier, later in zip(done.calls, done.calls[1:], strict=False):
        assert (later.system, later.tools) == (earlier.system, earlier.tools)
        assert list(later.turns[: len(earlier.turns)]) == list(earlier.turns)


async def test_a_tool_that_the_model_writes_in_other_capitals_is_called() -> None:
    done = await Desk(READER).do([use("Look", 1, page=7)])
    assert [(step.output, step.failed) for step in done.tools] == [("page 7", False)]


async def test_max_tokens_leave_room_for_thinking_unless_they_are_set() -> None:
    done = await Desk(READER).do()
    assert done.calls[0].max_tokens >= 8_192
    few = msgspec.structs.replace(SETTINGS, max_tokens=2_000)
    assert (await Desk(READER, few).do()).calls[0].max_tokens == 2_000
