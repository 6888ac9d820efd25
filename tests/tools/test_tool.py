import asyncio
import contextlib
import threading
from typing import Annotated, Any

import msgspec
import pytest
from waiting import LIMIT_S

from actors.tools import attempt
from actors.tools.given import CallKey, FromSetting
from actors.tools.tool import Tool, prefixed, tool
from actors.worker.definition import Worker
from protocol.errors import InvalidError, ToolError


class Point(msgspec.Struct, forbid_unknown_fields=True):
    x: int
    y: int = 0


@tool
async def shout(text: str, times: int = 1) -> str:
    """Say something loudly,
    over and over.

    This is for the reader of the source.

    Args:
        text: what to say,
            in any language
        times (int): how often

    Returns:
        text: the noise
    """
    return text.upper() * times


@tool
def move(points: list[Point], by: Annotated[int, msgspec.Meta(ge=1)] = 1) -> list[Point]:
    """Move points to the right."""
    return [Point(point.x + by, point.y) for point in points]


async def test_an_async_function_is_called_with_its_arguments_and_defaults() -> None:
    assert await shout.call({"text": "ho", "times": 2}) == "HOHO"
    assert await shout.call({"text": "ho"}) == "HO"


async def test_nested_arguments_become_their_types_and_other_results_become_json() -> None:
    assert await move.call({"points": [{"x": 1}], "by": 2}) == '[{"x":3,"y":0}]'


def test_name_and_texts_come_from_the_function() -> None:
    assert shout.name == "shout"
    assert shout.description == "Say something loudly, over and over."
    assert shout.schema["properties"]["text"]["description"] == "what to say, in any language"
    assert shout.schema["properties"]["times"]["description"] == "how often"


def test_the_schema_is_an_object_that_takes_nothing_unknown() -> None:
    assert shout.schema["type"] == "object"
    assert shout.schema["required"] == ["text"]
    assert shout.schema["additionalProperties"] is False
    assert "$ref" not in shout.schema


def test_nested_types_stay_behind_references_that_resolve() -> None:
    reference = move.schema["properties"]["points"]["items"]["$ref"]
    assert move.schema["$defs"][reference.removeprefix("#/$defs/")]["required"] == ["x"]
    assert move.schema["properties"]["by"] == {"type": "integer", "minimum": 1, "default": 1}


def test_a_function_without_arguments_has_an_empty_schema() -> None:
    @tool
    def ping() -> str:
        """Answer."""
        return "pong"

    assert ping.schema["properties"] == {}
    assert ping.schema["additionalProperties"] is False


def test_options_are_kept_and_the_function_stays_usable() -> None:
    @tool(name="send-mail", timeout_s=2.5, output_limit=9, effect=True, confirm=True)
    def send(to: str) -> str:
        """Send a mail."""
        return f"sent to {to}"

    assert (send.name, send.timeout_s, send.output_limit) == ("send-mail", 2.5, 9)
    assert (send.effect, send.confirm) == (True, True)
    assert (shout.effect, shout.confirm, shout.output_limit) == (False, False, None)
    assert send.function(to="ann") == "sent to ann"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "missing required field `text`"),
        ({"text": 1}, "Expected `str`, got `int` - at `$.text`"),
        ({"text": "a", "times": "2"}, "Expected `int`, got `str` - at `$.times`"),
        ({"text": "a", "loud": True}, "unknown field `loud`"),
        (["a"], "Expected `object`, got `array`"),
    ],
)
async def test_bad_arguments_are_refused_with_what_is_wrong_and_what_is_expected(arguments: Any, reason: str) -> None:
    with pytest.raises(ToolError) as caught:
        await shout.call(arguments)
    assert reason in str(caught.value)
    assert "Expected: text (string), times (integer, optional)" in str(caught.value)


async def test_the_function_does_not_run_on_bad_arguments() -> None:
    ran: list[int] = []

    @tool
    def note(number: int) -> str:
        """Note a number."""
        ran.append(number)
        return ""

    with pytest.raises(ToolError):
        await note.call({"number": "one"})
    assert ran == []


async def test_a_constraint_in_the_annotation_is_enforced() -> None:
    with pytest.raises(ToolError, match="Expected `int` >= 1"):
        await move.call({"points": [], "by": 0})


def failing(error: BaseException, *, in_thread: bool) -> Tool:
    async def fail() -> str:
        """Fail."""
        raise error

    def fail_in_thread() -> str:
        """Fail."""
        raise error

    return tool(fail_in_thread if in_thread else fail)


@pytest.mark.parametrize("in_thread", [True, False])
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("too big"), "ValueError: too big"),
        (StopIteration("end"), "StopIteration"),
        (TimeoutError("its own"), "TimeoutError: its own"),
        (SystemExit(3), "SystemExit"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (BaseException("odd"), "BaseException"),
        (asyncio.CancelledError(), "CancelledError"),
    ],
)
async def test_whatever_a_function_raises_is_told_as_a_tool_error(
    error: BaseException, text: str, in_thread: bool
) -> None:
    with pytest.raises(ToolError, match=text):
        await failing(error, in_thread=in_thread).call({})


async def test_a_tool_error_of_the_function_keeps_its_text() -> None:
    with pytest.raises(ToolError, match=r"^no such table$"):
        await failing(ToolError("no such table"), in_thread=True).call({})


async def test_a_result_that_is_no_json_is_a_tool_error() -> None:
    @tool
    def odd() -> object:
        """Return something odd."""
        return object()

    with pytest.raises(ToolError, match="not text or JSON"):
        await odd.call({})


async def test_calls_that_hang_do_not_pile_up_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt, "_places", threading.BoundedSemaphore(2))
    release = threading.Event()

    @tool(timeout_s=0.02)
    def hang() -> str:
        """Hang."""
        release.wait(30)
        return "free"

    for _ in range(2):
        with pytest.raises(ToolError, match="was given up"):
            await hang.call({})
    with pytest.raises(ToolError, match="calls of tools have not come to their end"):
        await hang.call({})
    hanging = [thread for thread in threading.enumerate() if thread.name == "tool-hang"]
    release.set()
    await asyncio.to_thread(lambda: [thread.join(LIMIT_S) for thread in hanging])
    assert await hang.call({}) == "free"


@pytest.mark.parametrize(("effect", "end"), [(True, "whether it was done is not known"), (False, "was given up")])
async def test_of_an_effect_that_took_too_long_nobody_knows_whether_it_was_done(effect: bool, end: str) -> None:
    @tool(timeout_s=0.02, effect=effect)
    async def hang() -> str:
        """Hang."""
        await asyncio.Event().wait()
        return "done"

    with pytest.raises(ToolError, match=f"{end}$"):
        await hang.call({})


async def test_an_async_function_that_hangs_is_given_up_and_cancelled() -> None:
    cancelled = asyncio.Event()

    @tool(timeout_s=0.02)
    async def hang() -> str:
        """Hang."""
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return ""

    with pytest.raises(ToolError, match=r"hang took longer than 0\.02 s"):
        await hang.call({})
    assert cancelled.is_set()


async def test_an_async_function_that_will_not_be_cancelled_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt, "PATIENCE_S", 0.02)
    release = asyncio.Event()

    @tool(timeout_s=0.02)
    async def stubborn() -> str:
        """Hang, whatever happens."""
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await release.wait()
        return ""

    with pytest.raises(ToolError, match=r"stubborn took longer than 0\.02 s"):
        await stubborn.call({})
    release.set()


async def test_a_plain_function_that_hangs_is_given_up_and_other_calls_go_on() -> None:
    release = threading.Event()

    @tool(timeout_s=0.02)
    def hang() -> str:
        """Hang."""
        release.wait()
        return ""

    try:
        hung = await asyncio.gather(*(hang.call({}) for _ in range(40)), return_exceptions=True)
        assert all(isinstance(error, ToolError) for error in hung)
        assert await move.call({"points": []}) == "[]"
    finally:
        release.set()


async def test_plain_functions_run_beside_the_loop_and_beside_each_other() -> None:
    meeting = threading.Barrier(2, timeout=LIMIT_S)

    @tool
    def meet() -> str:
        """Wait for another call."""
        meeting.wait()
        return threading.current_thread().name

    names = await asyncio.gather(meet.call({}), meet.call({}))
    assert threading.current_thread().name not in names


async def test_cancelling_a_call_is_not_turned_into_an_error() -> None:
    started = asyncio.Event()

    @tool
    async def hang() -> str:
        """Hang."""
        started.set()
        await asyncio.Event().wait()
        return ""

    call = asyncio.create_task(hang.call({}))
    await started.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


def test_a_thread_that_ends_after_its_loop_disturbs_nobody() -> None:
    release, ended = threading.Event(), threading.Event()

    @tool(timeout_s=0.01)
    def slow() -> str:
        """Come late."""
        release.wait()
        ended.set()
        return ""

    with pytest.raises(ToolError):
        asyncio.run(slow.call({}))
    release.set()
    assert ended.wait(LIMIT_S)
    for thread in threading.enumerate():
        if thread.name == "tool-slow":
            thread.join(LIMIT_S)


@tool(effect=True)
def pay(amount: int, key: CallKey) -> str:
    """Pay. Call shout before.

    Args:
        amount: as shout says
        key: names the call
    """
    return f"{amount} {key}"


async def test_a_call_key_is_hidden_from_the_model_and_given_by_the_worker() -> None:
    assert list(pay.schema["properties"]) == ["amount"]
    assert await pay.call({"amount": 1}, key=CallKey("k1")) == "1 k1"
    with pytest.raises(ToolError, match="unknown field `key`"):
        await pay.call({"amount": 1, "key": "forged"}, key=CallKey("k1"))


async def test_without_a_worker_every_call_has_a_key_of_its_own() -> None:
    assert await pay.call({"amount": 1}) != await pay.call({"amount": 1})


async def test_an_argument_from_a_setting_that_does_not_exist_is_told() -> None:
    @tool
    def odd(value: Annotated[int, FromSetting("no_such")] = 0) -> str:
        """Look."""
        return str(value)

    assert await odd.call({}) == "0"
    with pytest.raises(ToolError, match="a setting 'no_such'"):
        await odd.call({}, settings=object())


def test_an_argument_from_a_setting_needs_a_default() -> None:
    def odd(value: Annotated[int, FromSetting("max_turns")]) -> str:
        """Look."""
        return str(value)

    with pytest.raises(InvalidError, match="'value' comes from a setting and needs a default"):
        tool(odd)


async def test_prefixed_tools_are_copies_that_speak_of_each_other_by_their_new_names() -> None:
    loud, paid = prefixed([shout, pay], "legal")
    assert [loud.name, paid.name] == ["legal_shout", "legal_pay"]
    assert paid.description == "Pay. Call legal_shout before."
    assert paid.schema["properties"]["amount"]["description"] == "as legal_shout says"
    assert (paid.effect, shout.name, pay.description) == (True, "shout", "Pay. Call shout before.")
    assert await loud.call({"text": "ho"}) == "HO"


def test_an_argument_name_that_the_provider_refuses_is_refused_at_the_definition() -> None:
    def measure(größe: int) -> str:  # noqa: PLC2401
        """Measure."""
        return str(größe)

    with pytest.raises(InvalidError, match="größe"):
        tool(measure)


def test_a_prefix_that_makes_no_names_is_refused() -> None:
    with pytest.raises(InvalidError, match="not valid"):
        prefixed([shout], "two words")
    with pytest.raises(InvalidError, match="not valid"):
        prefixed([shout], "x" * 64)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"confrim": True}, "tool 'act': there is no option 'confrim'; did you mean 'confirm'?"),
        ({"x": 1}, "tool 'act': there is no option 'x'; there are: name, timeout_s, output_limit, effect, confirm"),
        ({"confirm": "yes"}, "tool 'act': confirm: Expected bool, got str"),
        ({"timeout_s": "10"}, "tool 'act': timeout_s: Expected float, got str"),
    ],
)
def test_an_option_that_is_none_is_told_and_not_passed_over(options: dict[str, Any], fault: str) -> None:
    def act() -> str:
        """Do something outside."""
        return "done"

    with pytest.raises(InvalidError) as caught:
        tool(**options)(act)
    assert list(caught.value.faults) == [fault]


def test_a_function_that_is_no_tool_is_told_with_what_to_do() -> None:
    def act() -> str:
        """Do something."""
        return "done"

    given: list[Any] = [act, shout]
    with pytest.raises(InvalidError, match="worker 'w': act is no tool: put @tool on the function"):
        Worker("w", summary="s", prompt="p", tools=given)
