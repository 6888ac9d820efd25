import contextlib
import math
import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.figures import correlate_numbers, describe_numbers, find_percentile, fit_trend, measure_growth
from actors.tools.tool import Tool
from protocol.errors import ToolError

NUMBERS = st.lists(st.floats(-1e50, 1e50), max_size=20)


async def test_numbers_are_summed_up() -> None:
    assert (await describe_numbers.call({"numbers": [2, 4, 4, 4, 5, 5, 7, 9]})).splitlines() == [
        "count: 8",
        "sum: 40",
        "mean: 5",
        "median: 4.5",
        f"standard deviation (sample): {statistics.stdev([2, 4, 4, 4, 5, 5, 7, 9]):.12g}",
        "smallest: 2",
        "largest: 9",
        "lower quartile: 4",
        "upper quartile: 5.5",
    ]


async def test_one_number_has_no_deviation() -> None:
    assert "standard deviation (sample): not defined" in await describe_numbers.call({"numbers": [3.5]})


@pytest.mark.parametrize(("percent", "value"), [(0, "1"), (50, "2.5"), (100, "4"), (90, "3.7")])
async def test_a_percentile_lies_between_its_neighbours(percent: float, value: str) -> None:
    told = await find_percentile.call({"numbers": [4, 1, 3, 2], "percent": percent})
    assert told == f"percentile {percent} of 4 numbers: {value}"


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ([2, 4, 6], "1 (strong positive linear relation)"),
        ([3, 2, 1], "-1 (strong negative linear relation)"),
        ([1, 0, 1], "0 (no linear relation)"),
    ],
)
async def test_a_correlation_says_how_strong_it_is(second: list[float], told: str) -> None:
    assert await correlate_numbers.call({"first": [1, 2, 3], "second": second}) == f"correlation of 3 pairs: {told}"


async def test_a_trend_tells_slope_fit_and_what_comes_next() -> None:
    assert (await fit_trend.call({"values": [10, 12, 14, 16]})).splitlines() == [
        "change per step: 2",
        "value at 0: 8",
        "fit (r squared): 1",
        "next, at 5: 18 if the line goes on",
    ]
    assert "next, at 2026: 40" in await fit_trend.call({"values": [10, 20, 30], "positions": [2023, 2024, 2025]})
    assert "change per step: 0" in await fit_trend.call({"values": [5, 5, 5]})


async def test_growth_is_told_step_by_step_in_all_and_on_average() -> None:
    assert (await measure_growth.call({"values": [100, 110, 121]})).splitlines() == [
        "100 to 110: +10 %",
        "110 to 121: +10 %",
        "in all, 100 to 121: +21 %",
        "on average per step (compound): 10 %",
    ]
    told = await measure_growth.call({"values": [0, -5]})
    assert "0 to -5: -5 (no percentage from 0)" in told
    assert "compound): not defined" in told


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        (describe_numbers, {"numbers": []}, "give 1 to 100,000 numbers"),
        (describe_numbers, {"numbers": [1e200]}, "below 1e"),
        (describe_numbers, {"numbers": ["__import__('os')"]}, "Expected `float`, got `str`"),
        (find_percentile, {"numbers": [1], "percent": 101}, "<= 100"),
        (correlate_numbers, {"first": [1, 2], "second": [1]}, "of one length"),
        (correlate_numbers, {"first": [1, 1], "second": [1, 2]}, "not defined for these numbers"),
        (fit_trend, {"values": [1, 2], "positions": [3, 3]}, "not defined for these numbers"),
        (measure_growth, {"values": [1]}, "give 2 to 100,000 numbers"),
    ],
)
async def test_what_has_no_answer_is_refused_with_the_reason(
    tool: Tool, arguments: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ToolError, match=reason):
        await tool.call(arguments)


@given(NUMBERS)
def test_every_list_gives_figures_or_a_tool_error(numbers: list[float]) -> None:
    for tool in (describe_numbers, fit_trend, measure_growth):
        with contextlib.suppress(ToolError):
            name = "numbers" if tool is describe_numbers else "values"
            assert "nan" not in tool.function(**{name: numbers})
    with contextlib.suppress(ToolError):
        assert "nan" not in correlate_numbers.function(numbers, numbers[::-1])


@given(NUMBERS.filter(bool), st.floats(0, 100))
def test_a_percentile_is_within_the_numbers(numbers: list[float], percent: float) -> None:
    value = float(find_percentile.function(numbers, percent).rpartition(" ")[2])
    slack = 1e-9 * max(map(abs, numbers)) + math.ulp(1)
    assert min(numbers) - slack <= value <= max(numbers) + slack
