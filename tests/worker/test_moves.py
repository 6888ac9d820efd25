"""What an agent does next follows from its steps alone."""

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.model.port import Block
from actors.worker.moves import (
    EMPTY,
    GO_ON,
    MAX_EMPTY,
    WRITE_TEXT,
    AskModel,
    CallTools,
    Done,
    call_place,
    follow_up,
    next_move,
    reply_of,
    spent,
    turns_taken,
)
from protocol.messages import Usage
from protocol.steps import Begun, ContextCut, CutResult, ModelCalled, Step, Taken, ToolCalled

BEGUN = Begun(system="You work.", prompt=msgspec.Raw(b'"task"'))
THINKING: Block = {"type": "thinking", "thinking": "", "signature": "s"}


def said(*blocks: Block, stop: str | None = "tool_use") -> ModelCalled:
    """A turn of the model as the worker stores it."""
    content = msgspec.Raw(msgspec.json.encode(list(blocks)))
    usage = Usage(model_calls=1, output_tokens=3)
    step = ModelCalled(model="m", content=content, stop_reason=stop, usage=usage)
    return msgspec.structs.replace(step, then=follow_up(reply_of(step)))


def use(name: str) -> Block:
    return {"type": "tool_use", "id": name, "name": "look", "input": {"page": 1}}


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def called(name: str, output: str = "found", *, failed: bool = False) -> ToolCalled:
    return ToolCalled(call=name, tool="look", output=output, failed=failed, seconds=0.5)


def test_at_first_the_model_is_asked() -> None:
    move = next_move(BEGUN, [])
    assert isinstance(move, AskModel)
    assert [(turn.role, turn.content) for turn in move.turns] == [("user", "task")]


def test_tools_are_called_and_those_already_called_are_not_called_again() -> None:
    steps: list[Step] = [said(use("a"), use("b")), called("b")]
    move = next_move(BEGUN, steps)
    assert isinstance(move, CallTools)
    assert [block["id"] for block in move.uses] == ["a"]


def test_all_results_go_back_in_the_order_of_the_calls() -> None:
    move = next_move(BEGUN, [said(use("a"), use("b")), called("b", "B", failed=True), called("a", "")])
    assert isinstance(move, AskModel)
    assert move.turns[-1].content == [
        {"type": "tool_result", "tool_use_id": "a", "content": "(no output)"},
        {"type": "tool_result", "tool_use_id": "b", "content": "B", "is_error": True},
    ]


def test_the_content_of_the_model_goes_back_unchanged() -> None:
    move = next_move(BEGUN, [said(THINKING, use("a")), called("a")])
    assert isinstance(move, AskModel)
    assert move.turns[1].content == [THINKING, use("a")]


def test_a_turn_without_tools_is_the_last_word() -> None:
    assert next_move(BEGUN, [said(text("done"), stop="end_turn")]) == Done("done", "end_turn")
    assert next_move(BEGUN, [said(text("no"), stop="refusal")]) == Done("no", "refusal")


def test_a_turn_that_was_cut_off_is_gone_on_with() -> None:
    cut = said(text("one "), stop="max_tokens")
    move = next_move(BEGUN, [cut])
    assert isinstance(move, AskModel)
    assert move.turns[-1].content == GO_ON
    assert next_move(BEGUN, [cut, said(text("two"), stop="end_turn")]) == Done("one two", "end_turn")


def test_a_paused_turn_is_sent_back_as_it_is() -> None:
    move = next_move(BEGUN, [said(text("wait"), stop="pause_turn")])
    assert isinstance(move, AskModel)
    assert move.turns[-1].role == "assistant"


def test_what_was_said_before_a_pause_belongs_to_the_answer() -> None:
    steps: list[Step] = [said(text("first "), stop="pause_turn"), said(text("then"), stop="end_turn")]
    assert next_move(BEGUN, steps) == Done("first then", "end_turn")


def test_a_call_that_was_cut_off_is_named_so_that_it_is_answered_unmade() -> None:
    cut = said(use("a"), use("b"), stop="max_tokens")
    move = next_move(BEGUN, [cut])
    assert isinstance(move, CallTools)
    assert [block["id"] for block in move.uses] == ["a", "b"]
    assert move.cut_off == "b"


def test_a_whole_call_before_a_text_that_was_cut_off_is_made() -> None:
    move = next_move(BEGUN, [said(use("a"), text("and th"), stop="max_tokens")])
    assert isinstance(move, CallTools)


@pytest.mark.parametrize("stop", ["refusal", "model_context_window_exceeded"])
def test_no_tool_is_called_for_a_model_that_stopped_for_good(stop: str) -> None:
    assert next_move(BEGUN, [said(text("no"), use("a"), stop=stop)]) == Done("no", stop)


@pytest.mark.parametrize("content", [[], [THINKING]])
def test_a_reply_of_thinking_only_that_ran_out_of_room_is_asked_for_again_as_it_was(content: list[Block]) -> None:
    move = next_move(BEGUN, [said(*content, stop="max_tokens")])
    assert isinstance(move, AskModel)
    assert [turn.role for turn in move.turns] == ["user"]
    assert move.empty == 1


def test_a_reply_without_text_that_ended_is_asked_for_its_text() -> None:
    step = said(THINKING, stop="end_turn")
    move = next_move(BEGUN, [step])
    assert isinstance(move, AskModel)
    assert [turn.content for turn in move.turns] == ["task", WRITE_TEXT]
    assert next_move(BEGUN, [step, said(text("done"), stop="end_turn")]) == Done("done", "end_turn")


def test_the_note_behind_a_cut_result_is_sent_as_it_was_stored() -> None:
    cut = ContextCut(results=(CutResult(turn=1, call="a", keep=3, note="in the words of another release"),))
    move = next_move(BEGUN, [said(use("a")), called("a", "x" * 1000), cut])
    assert isinstance(move, AskModel)
    assert move.turns[-1].content == [
        {"type": "tool_result", "tool_use_id": "a", "content": "xxx\nin the words of another release"}
    ]


def test_replies_without_text_end_the_task_after_a_few() -> None:
    steps: list[Step] = [said(THINKING, stop="end_turn")] * MAX_EMPTY
    assert isinstance(next_move(BEGUN, steps), AskModel)
    assert next_move(BEGUN, [*steps, said(THINKING, stop="max_tokens")]) == Done("", EMPTY)


def test_no_turn_of_the_model_that_is_sent_back_ends_in_thinking() -> None:
    move = next_move(BEGUN, [said(THINKING, text("one "), THINKING, stop="max_tokens")])
    assert isinstance(move, AskModel)
    assert move.turns[1].content == [THINKING, text("one ")]


def test_what_a_worker_added_behind_a_turn_is_sent_as_it_was_stored() -> None:
    step = msgspec.structs.replace(said(text("one "), stop="max_tokens"), then="in other words of another release")
    move = next_move(BEGUN, [step])
    assert isinstance(move, AskModel)
    assert move.turns[-1].content == "in other words of another release"


def test_a_cut_shortens_its_results_and_strips_the_thinking_that_followed_them_for_good() -> None:
    turns: list[Step] = []
    for name in "abc":
        turns += [said(THINKING, use(name)), called(name, name * 1000)]
    cut = ContextCut(results=(CutResult(turn=1, call="a", keep=10),))
    later: list[Step] = [said(THINKING, use("d")), called("d", "d" * 1000)]
    move = next_move(BEGUN, [*turns, cut, *later])
    assert isinstance(move, AskModel)
    sent = [block for turn in move.turns[1:] for block in turn.content if isinstance(block, dict)]
    texts = [block["content"] for block in sent if block["type"] == "tool_result"]
    assert [len(one) < 100 for one in texts] == [True, False, False, False]
    thinks = [turn.content[0] == THINKING for turn in move.turns if turn.role == "assistant"]
    assert thinks == [True, False, False, True], "kept before the cut text, and in turns that came after the cut"


def test_what_was_spent_is_the_sum_of_the_steps() -> None:
    steps: list[Step] = [said(use("a")), called("a"), Taken(instance="i"), said(text("x"), stop="end_turn")]
    assert spent(steps) == Usage(model_calls=2, output_tokens=6, tool_calls=1, seconds=0.5)
    assert turns_taken(steps) == 2


@given(st.integers(), st.integers(1, 6))
def test_an_agent_that_is_replaced_at_any_step_ends_the_same_and_repeats_nothing(seed: int, turns: int) -> None:
    luck = random.Random(seed)
    steps: list[Step] = []
    asked = made = 0
    while not isinstance(move := next_move(BEGUN, steps), Done):
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
    assert next_move(BEGUN, [turn]) == CallTools([use("a"), use("b"), use("c")])
    assert next_move(BEGUN, [turn, Taken(instance="i")]) == CallTools([use("a")])
    assert next_move(BEGUN, [turn, Taken(instance="i"), called("a")]) == CallTools([use("b"), use("c")])


def test_the_place_of_a_call_stays_the_same_whatever_is_stored_after_its_turn() -> None:
    steps: list[Step] = [said(use("a")), called("a"), said(use("a"), use("b"))]
    assert call_place(steps, "b") == (2, 2)
    assert call_place([*steps, called("a"), Taken(instance="i")], "b") == (2, 2)
    assert call_place(steps, "a") == (2, 1)
