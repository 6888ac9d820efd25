"""What gives way when a conversation outgrows the context of the model."""

from collections.abc import Awaitable, Callable

import pytest

from actors.model.port import Block, Call, Turn
from actors.worker.allowance import asked_tokens
from actors.worker.context import fitted

ROOM = 4_000
LIMIT = 5_000
"""With an answer of 1,000 tokens this leaves 4,000 for the question, about 16,000 characters."""


def result(name: str, characters: int) -> Turn:
    block: Block = {"type": "tool_result", "tool_use_id": name, "content": name * characters}
    return Turn(role="user", content=[block])


def call(*results: Turn, prompt: str = "task") -> Call:
    turns = [Turn(role="user", content=prompt)]
    for turn in results:
        turns += [Turn(role="assistant", content=[{"type": "text", "text": "looking"}]), turn]
    return Call(run="r", role="w", system="s", turns=turns, max_tokens=1_000)


def lengths(found: Call | None) -> list[int]:
    """How long each tool result is."""
    assert found is not None
    blocks = [block for turn in found.turns if not isinstance(turn.content, str) for block in turn.content]
    return [len(block["content"]) for block in blocks if block["type"] == "tool_result"]


def counting(times: float = 1.0) -> tuple[Callable[[Call], Awaitable[int]], list[int]]:
    counted: list[int] = []

    async def count(asked: Call) -> int:
        counted.append(int(asked_tokens(asked) * times))
        return counted[-1]

    return count, counted


async def test_what_is_far_from_the_limit_is_not_even_counted() -> None:
    count, counted = counting()
    small = call(result("a", 1_000))
    assert await fitted(small, LIMIT, count) is small
    assert counted == []


async def test_what_is_near_the_limit_is_counted_and_left_alone_if_it_fits() -> None:
    count, counted = counting()
    near = call(result("a", 10_000))
    assert await fitted(near, LIMIT, count) is near
    assert len(counted) == 1


async def test_the_oldest_results_are_shortened_first() -> None:
    count, counted = counting()
    found = await fitted(call(*(result(name, 6_000) for name in "abc")), LIMIT, count)
    first, second, third = lengths(found)
    assert first < 400
    assert (second, third) == (6_000, 6_000)
    assert counted[-1] <= ROOM


async def test_a_shortened_result_says_so_and_what_to_do() -> None:
    count, _ = counting()
    found = await fitted(call(*(result(name, 6_000) for name in "abc")), LIMIT, count)
    assert found is not None
    assert "the first 200 of 6,000 characters; call the tool again" in str(found.turns[2].content)


async def test_the_last_result_alone_is_cut_to_what_fits() -> None:
    count, counted = counting()
    (left,) = lengths(await fitted(call(result("a", 60_000)), LIMIT, count))
    assert 8_000 < left < 16_000
    assert counted[-1] <= ROOM


async def test_the_count_of_the_provider_decides_and_not_the_estimate() -> None:
    twice, counted = counting(2.0)
    found = await fitted(call(result("a", 5_000), result("b", 5_000)), LIMIT, twice)
    assert lengths(found)[0] < 400
    assert counted[0] > ROOM >= counted[-1]


async def test_a_task_that_is_too_long_by_itself_does_not_fit() -> None:
    count, _ = counting()
    assert await fitted(call(prompt="x" * 100_000), LIMIT, count) is None
    assert await fitted(call(result("a", 50_000), prompt="x" * 100_000), LIMIT, count) is None


@pytest.mark.parametrize("size", [3_000, 9_000, 40_000])
async def test_the_call_of_the_caller_is_left_as_it_is(size: int) -> None:
    count, _ = counting()
    asked = call(result("a", size), result("b", size))
    before = lengths(asked)
    await fitted(asked, LIMIT, count)
    assert lengths(asked) == before == [size, size]
