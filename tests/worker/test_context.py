"""What gives way when a conversation outgrows the context of the model."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from actors.model.port import Block, Call
from actors.worker.allowance import asked_tokens
from actors.worker.context import FITS, HEAD, cut_to_fit
from actors.worker.moves import AskModel, next_move
from protocol.steps import Begun, ContextCut, ModelCalled, Step, ToolCalled

ROOM = 4_000
LIMIT = 5_000
"""With an answer of 1,000 tokens this leaves 4,000 for the question, about 10,000 characters."""

Count = Callable[[Call], Awaitable[int]]


def steps(*sizes: int, at_once: int = 1) -> list[Step]:
    """Tool results of these sizes, `at_once` of them in each turn."""
    found: list[Step] = []
    names = [f"call-{number}" for number in range(len(sizes))]
    for start in range(0, len(sizes), at_once):
        together = names[start : start + at_once]
        uses: list[Block] = [{"type": "tool_use", "id": name, "name": "look", "input": {}} for name in together]
        content = msgspec.Raw(msgspec.json.encode([{"type": "thinking", "thinking": "", "signature": "s"}, *uses]))
        found.append(ModelCalled(model="m", content=content, stop_reason="tool_use"))
        found += [
            ToolCalled(call=name, tool="look", output="x" * size)
            for name, size in zip(together, sizes[start : start + at_once], strict=True)
        ]
    return found


def builder(prompt: str = "task") -> Callable[[Sequence[Step]], Call]:
    begun = Begun(system="s", prompt=msgspec.Raw(msgspec.json.encode(prompt)))

    def build(taken: Sequence[Step]) -> Call:
        move = next_move(begun, taken)
        assert isinstance(move, AskModel)
        return Call(run="r", role="w", system=begun.system, turns=move.turns, max_tokens=1_000)

    return build


def counting(times: float = 1.0) -> tuple[Count, list[int]]:
    counted: list[int] = []

    async def count(asked: Call) -> int:
        counted.append(int(asked_tokens(asked) * times))
        return counted[-1]

    return count, counted


async def cut(taken: Sequence[Step], count: Count, *, prompt: str = "task") -> ContextCut | None:
    return await cut_to_fit(taken, builder(prompt), LIMIT, count)


async def test_a_call_far_from_the_limit_is_not_even_counted() -> None:
    count, counted = counting()
    assert await cut(steps(1_000), count) is FITS
    assert counted == []


async def test_a_call_near_the_limit_is_counted_and_left_alone_if_it_fits() -> None:
    count, counted = counting()
    assert await cut(steps(7_000), count) is FITS
    assert len(counted) == 1


async def test_the_oldest_results_are_cut_first() -> None:
    count, counted = counting()
    found = await cut(steps(3_600, 3_600, 3_600), count)
    assert found is not None
    assert [(one.turn, one.call, one.keep) for one in found.results] == [(1, "call-0", HEAD)]
    assert counted[-1] <= ROOM


async def test_of_the_last_results_the_longest_are_cut_and_the_short_ones_stay() -> None:
    count, counted = counting()
    found = await cut(steps(60_000, 500, 30_000, at_once=3), count)
    assert found is not None
    assert {one.call for one in found.results} == {"call-0", "call-2"}
    assert len({one.keep for one in found.results}) == 1
    assert all(one.keep > 2_000 for one in found.results)
    assert counted[-1] <= ROOM


async def test_the_count_of_the_provider_decides_and_not_the_estimate() -> None:
    twice, counted = counting(2.0)
    found = await cut(steps(3_000, 3_000), twice)
    assert found is not None
    assert found.results
    assert counted[0] > ROOM >= counted[-1]


async def test_a_task_that_is_too_long_by_itself_does_not_fit() -> None:
    count, _ = counting()
    assert await cut([], count, prompt="x" * 100_000) is None
    assert await cut(steps(50_000), count, prompt="x" * 100_000) is None


async def test_a_result_that_was_cut_can_be_cut_once_more() -> None:
    count, _ = counting()
    first = await cut(steps(60_000), count)
    assert first is not None
    again = await cut([*steps(60_000), first, *steps(4_000, 4_000)], count)
    assert again is not None
    assert (1, "call-0", HEAD) in [(one.turn, one.call, one.keep) for one in again.results]


@given(st.lists(st.integers(0, 30_000), min_size=1, max_size=8), st.integers(1, 3))
async def test_after_a_cut_the_call_fits_and_every_earlier_request_stays_as_it_was(
    sizes: list[int], at_once: int
) -> None:
    count, _ = counting()
    taken = steps(*sizes, at_once=at_once)
    found = await cut(taken, count)
    if found is not None:
        assert await count(builder()([*taken, found])) <= ROOM
        before = builder()(taken)
        assert len(builder()([*taken, found]).turns) == len(before.turns)
