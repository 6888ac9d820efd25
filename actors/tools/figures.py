"""Statistics of a list of numbers, worked out by the standard library and never guessed."""

import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from typing import Annotated, ParamSpec, TypeVar

import msgspec

from actors.tools.tool import tool
from protocol.errors import ToolError

MOST_NUMBERS = 100_000
MOST = 1e60
"""Beyond this, squares and their products would overflow in silence."""

P = ParamSpec("P")
T = TypeVar("T")
Numbers = list[float]
Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]


@tool
def describe_numbers(numbers: Numbers) -> str:
    """Sum up a list of numbers: count, sum, mean, median, standard deviation, smallest, largest, quartiles.

    Args:
        numbers: such as [12, 15.5, 9]
    """
    values = _checked(numbers, least=1)
    lines = {
        "count": len(values),
        "sum": math.fsum(values),
        "mean": statistics.fmean(values),
        "median": statistics.median(values),
        "standard deviation (sample)": statistics.stdev(values) if len(values) > 1 else None,
        "smallest": min(values),
        "largest": max(values),
        "lower quartile": _percentile(values, 25),
        "upper quartile": _percentile(values, 75),
    }
    return "\n".join(f"{name}: {'not defined for one number' if v is None else shown(v)}" for name, v in lines.items())


@tool
def find_percentile(numbers: Numbers, percent: Percent) -> str:
    """Find the value that so many percent of the numbers do not exceed, interpolated between neighbours.

    Args:
        numbers: such as [12, 15.5, 9]
        percent: 0 to 100, such as 95
    """
    value = _percentile(_checked(numbers, least=1), percent)
    return f"percentile {shown(percent)} of {len(numbers):,} numbers: {shown(value)}"


@tool
def correlate_numbers(first: Numbers, second: Numbers) -> str:
    """Measure how closely two lists of numbers go together: Pearson's correlation, from -1 to 1.

    Args:
        first: one number per observation
        second: as many numbers, in the same order
    """
    one, other = _pair(first, second)
    value = _defined(statistics.correlation, one, other)
    strength = next(word for least, word in _STRENGTHS if abs(value) >= least)
    direction = "" if strength == "no" else " positive" if value > 0 else " negative"
    return f"correlation of {len(one):,} pairs: {shown(value)} ({strength}{direction} linear relation)"


@tool
def fit_trend(values: Numbers, positions: Numbers | None = None) -> str:
    """Fit a straight line through values by least squares: change per step, start, how well it fits, next value.

    Args:
        values: one after the other, such as revenue per quarter
        positions: where they stand, such as years; without it 1, 2, 3 and so on
    """
    places, heights = _pair(positions or [float(n) for n in range(1, len(values) + 1)], values)
    slope, start = _defined(statistics.linear_regression, places, heights)
    fit = 1.0 if min(heights) == max(heights) else _defined(statistics.correlation, places, heights) ** 2
    after = places[-1] + (places[-1] - places[0]) / (len(places) - 1)
    return "\n".join(
        [
            f"change per step: {shown(slope)}",
            f"value at 0: {shown(start)}",
            f"fit (r squared): {shown(fit)}",
            f"next, at {shown(after)}: {shown(start + slope * after)} if the line goes on",
        ]
    )


@tool
def measure_growth(values: Numbers) -> str:
    """Measure how values grew from each to the next, in all, and on average per step (compound).

    Args:
        values: in order of time, such as revenue per year
    """
    steps = _checked(values, least=2)
    lines = [f"{shown(old)} to {shown(new)}: {_change(old, new)}" for old, new in itertools.pairwise(steps)]
    first, last = steps[0], steps[-1]
    lines.append(f"in all, {shown(first)} to {shown(last)}: {_change(first, last)}")
    if first > 0 and last > 0:
        rate = _defined(math.pow, last / first, 1 / (len(steps) - 1)) - 1
        lines.append(f"on average per step (compound): {shown(rate * 100)} %")
    else:
        lines.append("on average per step (compound): not defined unless first and last value are above 0")
    return "\n".join(lines)


_STRENGTHS = ((0.7, "strong"), (0.4, "moderate"), (0.1, "weak"), (0.0, "no"))


def shown(value: float) -> str:
    """A figure without the noise of the machine: 0.3, not 0.30000000000000004."""
    if not math.isfinite(value):
        raise ToolError("the result is too large")
    return f"{value:.12g}" if not float(value).is_integer() or abs(value) >= 1e15 else str(int(value))


def _change(old: float, new: float) -> str:
    if old == 0:
        return f"{shown(new - old)} (no percentage from 0)"
    percent = (new - old) / abs(old) * 100
    return f"{'+' if percent > 0 else ''}{shown(percent)} %"


def _checked(numbers: Numbers, *, least: int) -> Numbers:
    if not least <= len(numbers) <= MOST_NUMBERS:
        raise ToolError(f"give {least} to {MOST_NUMBERS:,} numbers (got {len(numbers):,})")
    if not all(abs(number) < MOST for number in numbers):
        raise ToolError(f"every number must be finite and below {MOST:g}")
    return numbers


def _pair(first: Numbers, second: Numbers) -> tuple[Numbers, Numbers]:
    if len(first) != len(second):
        raise ToolError(f"both lists must be of one length (got {len(first):,} and {len(second):,})")
    return _checked(first, least=2), _checked(second, least=2)


def _percentile(values: Sequence[float], percent: float) -> float:
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    below, above = ordered[math.floor(place)], ordered[math.ceil(place)]
    return below + (above - below) * (place - math.floor(place))


def _defined(function: Callable[P, T], *numbers: P.args, **more: P.kwargs) -> T:
    try:
        return function(*numbers, **more)
    except (statistics.StatisticsError, ArithmeticError, ValueError) as error:
        raise ToolError(f"it is not defined for these numbers: {error}") from error
