"""What an agent does next follows from its steps alone."""

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.model.port import Block
from actors.worker.moves import (
    CUT_OFF,
    GO_ON,
    AskModel,
    CallTools,
    Done,
    call_place,
    next_move,
    spent,
    turns_taken,
)
from protocol.messages import Usage
from protocol.steps import ModelCalled, Step, Taken, ToolCalled


def said(*blocks: Block, stop: str | None = "tool_use") -> ModelCalled:
    content = msgspec.Raw(msgspec.json.encode(list(blocks)))
    return ModelCalled(model="m", content=content, stop_reason=stop, usage=Usage(model_calls=1, output_tokens=3))


def use(name: str) -> Block:
    return {"type": "tool_use", "id": name, "name": "look", "input": {"page": 1}}


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def called(name: str, output: str = "found", *, failed: bool = False) -> ToolCalled:
    return ToolCalled(call=name, tool="look", output=output, failed=failed, seconds=0.5)


def test_at_first_the_model_is_asked() -> None:
    move = next_move("task", [])
    assert isinstance(move, AskModel)
    assert [(turn.role, turn.content) for turn in move.turns] == [("user", "task")]


def test_tools_are_called_and_those_already_called_are_not_called_again() -> None:
    steps: list[Step] = [said(use("a"), use("b")), called("b")]
    move = next_move("task", steps)
    assert isinstance(move, CallTools)
    assert [block["id"] for block in move.uses] == ["a"]


def test_all_results_go_back_in_the_order_of_the_calls() -> None:
    move = next_move("task", [said(use("a"), use("b")), called("b", "B", failed=True), called("a", "")])
    assert isinstance(move, AskModel)
    assert move.turns[-1].content == [
        {"type": "tool_result", "tool_use_id": "a", "content": "(no output)"},
        {"type": "tool_result", "tool_use_id": "b", "content": "B", "is_error": True},
    ]


def test_the_content_of_the_model_goes_back_unchanged() -> None:
    thinking: Block = {"type": "thinking", "thinking": "hm", "signature": "s"}
    move = next_move("task", [said(thinking, use("a")), called("a")])
    assert isinstance(move, AskModel)
    assert move.turns[1].content == [thinking, use("a")]


def test_a_turn_without_tools_is_the_last_word() -> None:
    assert next_move("task", [said(text("done"), stop="end_turn")]) == Done("done", "end_turn")
    assert next_move("task", [said(text("no"), stop="refusal")]) == Done("no", "refusal")


def test_a_turn_that_was_cut_off_is_gone_on_with() -> None:
    cut = said(text("one "), stop="max_tokens")
    move = next_move("task", [cut])
    assert isinstance(move, AskModel)
    assert move.turns[-1].content == GO_ON
    assert next_move("task", [cut, said(text("two"), stop="end_turn")]) == Done("one two", "end_turn")


def test_a_paused_turn_is_sent_back_as_it_is() -> None:
    move = next_move("task", [said(text("wait"), stop="pause_turn")])
    assert isinstance(move, AskModel)
    assert move.turns[-1].role == "assistant"


def test_what_was_said_before_a_pause_belongs_to_the_answer() -> None:
    steps: list[Step] = [said(text("first "), stop="pause_turn"), said(text("then"), stop="end_turn")]
    assert next_move("task", steps) == Done("first then", "end_turn")


def test_a_call_that_was_cut_off_is_not_made_but_told_to_the_model() -> None:
    cut = said(use("a"), use("b"), stop="max_tokens")
    move = next_move("task", [cut])
    assert isinstance(move, CallTools)
    assert [block["id"] for block in move.uses] == ["a"]
    move = next_move("task", [cut, called("a", "A")])
    assert isinstance(move, AskModel)
    assert move.turns[-1].content == [
        {"type": "tool_result", "tool_use_id": "a", "content": "A"},
        {"type": "tool_result", "tool_use_id": "b", "content": CUT_OFF, "is_error": True},
    ]


def test_a_whole_call_before_a_text_that_was_cut_off_is_made() -> None:
    move = next_move("task", [said(use("a"), text("and th"), stop="max_tokens")])
    assert isinstance(move, CallTools)


@pytest.mark.parametrize("stop", ["refusal", "model_context_window_exceeded"])
def test_no_tool_is_called_for_a_model_that_stopped_for_good(stop: str) -> None:
    assert next_move("task", [said(text("no"), use("a"), stop=stop)]) == Done("no", stop)


def test_a_turn_without_content_is_never_sent_back() -> None:
    move = next_move("task", [said(stop="max_tokens")])
    assert isinstance(move, AskModel)
    assert [turn.role for turn in move.turns] == ["user", "user"]


def test_what_was_spent_is_the_sum_of_the_steps() -> None:
    steps: list[Step] = [said(use("a")), called("a"), Taken(instance="i"), said(text("x"), stop="end_turn")]
    assert spent(steps) == Usage(model_calls=2, output_tokens=6, tool_calls=1, seconds=0.5)
    assert turns_taken(steps) == 2


@given(st.integers(), st.integers(1, 6))
def test_an_agent_that_is_replaced_at_any_step_ends_the_same_and_repeats_nothing(seed: int, turns: int) -> None:
    luck = random.Random(seed)
    steps: list[Step] = []
    asked = made = 0
    while not isinstance(move := next_move("task", steps), Done):
        if luck.random() < 0.3:
            steps.append(Taken(instance=f"i{len(steps)}"))  # somebody else goes on from here
        if isinstance(move, AskModel):
            asked += 1
            more = asked < turns
            uses = [use(f"{asked}-{n}") for n in range(luck.randrange(1, 4))]
            steps.append(said(*uses) if more else said(text("end"), stop="end_turn"))
        else:
            made += 1
            steps.append(called(luck.choice(move.uses)["id"]))
    uses_in_all = sum(isinstance(step, ToolCalled) for step in steps)
    assert asked == turns
    assert made == uses_in_all == len({step.call for step in steps if isinstance(step, ToolCalled)})


def test_after_a_loss_calls_are_made_one_at_a_time() -> None:
    turn = said(use("a"), use("b"), use("c"))
    assert next_move("task", [turn]) == CallTools([use("a"), use("b"), use("c")])
    assert next_move("task", [turn, Taken(instance="i")]) == CallTools([use("a")])
    assert next_move("task", [turn, Taken(instance="i"), called("a")]) == CallTools([use("b"), use("c")])


def test_the_place_of_a_call_stays_the_same_whatever_is_stored_after_its_turn() -> None:
    steps: list[Step] = [said(use("a")), called("a"), said(use("a"), use("b"))]
    assert call_place(steps, "b") == (2, 2)
    assert call_place([*steps, called("a"), Taken(instance="i")], "b") == (2, 2)
    assert call_place(steps, "a") == (2, 1)
