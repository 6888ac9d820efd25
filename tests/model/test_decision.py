"""Decisions and texts of a role: which way they are asked, and what each ending leads to."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from model_replies import decided, wrote

from actors.model.decision import decide
from actors.model.port import Call, Reply
from actors.model.role_model import Ask, RoleModel
from actors.model.writing import GO_ON, write
from actors.supervisor.roles.plan_schema import plan_schema
from actors.supervisor.roles.refiner import INTENT
from protocol.errors import ModelError
from protocol.messages import Usage

ASK = Ask(run="0" * 32, system="Be brief.", text="What now?")
GOOD = {"intent": "count apples per crate"}
NO_FORMAT = ModelError("invalid_request_error", "output_config.format: not supported by this model", retryable=False)
COMPLEX = ModelError("invalid_request_error", "Schema is too complex for compilation.", retryable=False)
CUT = ModelError("cut_off", "the answer broke off before its end", retryable=True)
THOUGHT: dict[str, Any] = {"type": "thinking", "thinking": "", "signature": "s"}


class Model:
    """Gives these replies in turn, the last one for ever; remembers the calls."""

    def __init__(self, *replies: Reply | ModelError) -> None:
        self._replies: Sequence[Reply | ModelError] = replies
        self.calls: list[Call] = []

    async def call(self, call: Call, *, said: Callable[[str], None] | None = None, ready: object = None) -> Reply:
        assert said is not None, "every role streams"
        reply = self._replies[min(len(self.calls), len(self._replies) - 1)]
        self.calls.append(call)
        if isinstance(reply, ModelError):
            raise reply
        return reply

    async def close(self) -> None:
        pass


def role(model: Model, name: str = "claude-sonnet-5-5", **more: Any) -> RoleModel:
    return RoleModel(model=model, role="refiner", name=name, **more)


def thought_only(stop_reason: str = "end_turn") -> Reply:
    return Reply(model="m", content=[THOUGHT], stop_reason=stop_reason, usage=Usage(model_calls=1))


def ways(model: Model) -> list[str]:
    return ["format" if call.format else "tool" if call.tools else "text" for call in model.calls]


async def test_a_decision_is_asked_for_by_format_and_no_tool_is_offered() -> None:
    model = Model(decided(GOOD))
    assert (await decide(role(model, effort="low"), ASK, INTENT)).found == GOOD
    (call,) = model.calls
    assert (ways(model), call.effort, call.max_tokens) == (["format"], "low", 32_000)


async def test_the_refusal_of_a_format_leads_to_a_tool_then_to_text_and_is_remembered() -> None:
    no_tool = ModelError("invalid_request_error", "this model does not support tools", retryable=False)
    model = Model(NO_FORMAT, no_tool, decided(GOOD))
    asked = role(model)
    assert (await decide(asked, ASK, INTENT)).found == GOOD
    assert ways(model) == ["format", "tool", "text"]
    await decide(asked, ASK, INTENT)
    assert ways(model)[3:] == ["text"], "the process remembers the way"


@pytest.mark.parametrize("error", [CUT, COMPLEX])
async def test_neither_a_cut_connection_nor_a_complex_schema_is_the_refusal_of_a_format(error: ModelError) -> None:
    model = Model(error)
    asked = role(model)
    assert (await decide(asked, ASK, INTENT)).kind == "failed"
    await decide(asked, ASK, INTENT)
    assert ways(model) == ["format", "format"]


async def test_a_schema_that_is_too_complex_is_replaced_by_a_simpler_one() -> None:
    model = Model(COMPLEX, decided(GOOD))
    assert (await decide(role(model), ASK, plan_schema(["a", "b"]), plan_schema(()))).found == GOOD
    first, second = (call.format.schema for call in model.calls if call.format)
    assert first != second
    assert "enum" not in second["properties"]["tasks"]["items"]["properties"]["worker"]


async def test_a_tool_or_an_enum_value_in_other_capitals_is_taken() -> None:
    use = {"type": "tool_use", "id": "u", "name": "Plan", "input": {"tasks": [{"worker": "ANALYST"}]}}
    model = Model(NO_FORMAT, Reply(model="m", content=[use], stop_reason="tool_use", usage=Usage()))
    found = (await decide(role(model), ASK, plan_schema(["analyst", "writer"]))).found
    assert found == {"tasks": [{"worker": "analyst"}]}


async def test_prose_is_sent_back_with_the_schema_a_bounded_number_of_times() -> None:
    model = Model(wrote("I would rather talk."))
    outcome = await decide(role(model), ASK, INTENT)
    assert (outcome.kind, len(model.calls), outcome.usage.model_calls) == ("prose", 3, 3)
    assert "JSON schema" in str(model.calls[1].turns[-1].content)


async def test_a_decision_that_was_cut_off_gets_twice_the_room_once() -> None:
    model = Model(wrote('{"intent": "cou', "max_tokens"), decided(GOOD))
    assert (await decide(role(model), ASK, INTENT)).found == GOOD
    assert [call.max_tokens for call in model.calls] == [32_000, 64_000]
    always = Model(wrote('{"intent": "cou', "max_tokens"))
    assert (await decide(role(always), ASK, INTENT)).kind == "cut"
    assert len(always.calls) == 2


async def test_thinking_without_an_answer_is_asked_again_and_never_sent_back() -> None:
    model = Model(thought_only(), decided(GOOD))
    assert (await decide(role(model), ASK, INTENT)).found == GOOD
    assert all(turn.role == "user" for call in model.calls for turn in call.turns)
    silent = Model(thought_only("max_tokens"))
    written = await write(role(silent), ASK)
    assert written.failed
    assert len(silent.calls) == 3
    assert all(turn.role == "user" for call in silent.calls for turn in call.turns)


async def test_a_refusal_is_said_with_its_category_and_not_tried_again() -> None:
    refusal = wrote("", "refusal", stop_details={"category": "cyber", "explanation": "not this"})
    model = Model(refusal)
    outcome = await decide(role(model), ASK, INTENT)
    assert (outcome.kind, len(model.calls)) == ("refused", 1)
    assert "cyber" in outcome.fault
    assert "cyber" in (await write(role(Model(refusal)), ASK)).failed


async def test_a_text_that_was_cut_off_is_continued_and_then_whole() -> None:
    model = Model(wrote("One, t", "max_tokens"), wrote("wo."))
    written = await write(role(model), ASK)
    assert (written.text, written.cut) == ("One, two.", "")
    assert [turn.role for turn in model.calls[1].turns] == ["user", "assistant", "user"]
    assert model.calls[1].turns[-1].content == GO_ON


@pytest.mark.parametrize(
    ("second", "calls"),
    [
        (wrote("more", "max_tokens"), 4),
        (wrote("more", "model_context_window_exceeded"), 2),
        (wrote("", "refusal"), 2),
        (CUT, 2),
    ],
)
async def test_a_text_whose_last_part_does_not_end_by_itself_is_cut(second: Reply | ModelError, calls: int) -> None:
    model = Model(wrote("One, ", "max_tokens"), second)
    written = await write(role(model), ASK)
    assert written.text.startswith("One, ".strip())
    assert written.cut
    assert len(model.calls) == calls


async def test_a_paused_turn_is_sent_back_as_it_is() -> None:
    model = Model(wrote("One, ", "pause_turn"), wrote("two."))
    assert (await write(role(model), ASK)).text == "One, two."
    assert [turn.role for turn in model.calls[1].turns] == ["user", "assistant"]


async def test_an_unknown_model_gets_no_effort_and_no_more_tokens_than_it_takes() -> None:
    model = Model(decided(GOOD))
    await decide(role(model, name="somebody-else", effort="high"), ASK, INTENT)
    assert (model.calls[0].effort, model.calls[0].max_tokens) == ("", 8_192)
