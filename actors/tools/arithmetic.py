"""Arithmetic: expressions of numbers, worked out without running any code."""

import ast
import math
import operator
import statistics
from collections.abc import Callable, Mapping
from typing import Any, cast

from simpleeval import EvalWithCompoundTypes, InvalidExpression, OperatorNotDefined

from actors.tools.tool import tool
from protocol.errors import ToolError

MOST_CHARACTERS = 1_000
MOST_BITS = 1_024
MOST_DIGITS = 15

_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-"})  # noqa: RUF001 - as people type them
_NODES = (
    ast.UnaryOp,
    ast.BinOp,
    ast.Compare,
    ast.IfExp,
    ast.Call,
    ast.Constant,
    ast.Name,
    ast.List,
    ast.Tuple,
)
_FAULTS = (InvalidExpression, ArithmeticError, ValueError, TypeError, RecursionError, MemoryError)


@tool
def calculate(expression: str) -> str:
    """Work out an arithmetic expression exactly, so that no figure is guessed.

    Args:
        expression: such as (22250 - 17380) / 17380 * 100 or mean([4, 8, 15]). Operators + - * / // % **,
            comparisons, and the functions min, max, sum, mean (or avg), median, stdev, round, abs, sqrt,
            pct_change(old, new). Numbers have no thousands separators.
    """
    value = _evaluate(expression)
    if isinstance(value, tuple):
        raise ToolError("this is several values, not one: write 1200, not 1,200, and one expression at a time")
    if not isinstance(value, int | float):
        raise ToolError(f"the result is not a number but a {type(value).__name__}")
    return f"{expression.strip()} = {_number(value)}"


def _evaluate(expression: str) -> object:
    if len(expression) > MOST_CHARACTERS:
        raise ToolError(f"the expression has {len(expression):,} characters; the limit is {MOST_CHARACTERS:,}")
    if any(quote in expression for quote in "'\""):
        raise ToolError("text has no place in an expression; use numbers only")
    shown = repr(expression.strip()[:80])
    try:
        tree = ast.parse(expression.strip().translate(_SIGNS), mode="eval")
        return _evaluator().eval(expression, previously_parsed=tree.body)
    except SyntaxError as error:
        raise ToolError(f"{shown} is not an expression: {error.msg}") from error
    except (LookupError, OperatorNotDefined) as error:
        raise ToolError(f"{shown} uses an operator that is not available here; powers are written **") from error
    except _FAULTS as error:
        raise ToolError(f"{shown} cannot be worked out: {error or type(error).__name__}") from error


def _evaluator() -> Any:
    # Its source has no types, so it is used as Any.
    make = cast("Any", EvalWithCompoundTypes)
    evaluator = make(operators=dict(_OPERATORS), functions=dict(_FUNCTIONS), names=dict(_NAMES))
    # Only what arithmetic needs: no attributes, no subscripts, no comprehensions, no text.
    evaluator.nodes = {kind: handler for kind, handler in evaluator.nodes.items() if kind in _NODES}
    return evaluator


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        raise ToolError("the result is too large or not defined")
    # 0.1 + 0.2 is 0.3 for everybody but the machine.
    rounded = float(f"{value:.{MOST_DIGITS}g}")
    return str(int(rounded)) if rounded.is_integer() and abs(rounded) < 1e15 else repr(rounded)


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise ValueError("the number is out of range")
    if isinstance(value, complex):
        raise ValueError("the result is not a real number")
    return value


def _numeric(apply: Callable[..., Any]) -> Callable[..., Any]:
    """The same operator for numbers only: a list would be repeated or joined by it."""

    def applied(*values: Any) -> Any:
        if not all(isinstance(value, int | float) for value in values):
            raise TypeError("operators work on numbers; use sum, mean, max and so on for lists")
        return _bounded(apply(*values))

    return applied


def _power(base: float, exponent: float) -> Any:
    bits = abs(base).bit_length() - 1 if isinstance(base, int) and isinstance(exponent, int) else 0
    if abs(exponent) * bits > MOST_BITS:
        raise ValueError("the number is out of range")
    return base**exponent


def _divide(dividend: float, divisor: float) -> float:
    return dividend / divisor


def _floor_divide(dividend: float, divisor: float) -> float:
    return dividend // divisor


def _numbers(values: tuple[Any, ...]) -> list[Any]:
    single = cast("tuple[Any, ...]", tuple(values[0]) if len(values) == 1 and not _plain(values[0]) else values)
    if not single or not all(_plain(value) for value in single):
        raise TypeError("give it numbers, or one list of numbers")
    return list(single)


def _plain(value: object) -> bool:
    return isinstance(value, int | float)


def _of_many(apply: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    return lambda *values: _bounded(apply(_numbers(values)))


def _round(value: float, digits: int = 0) -> float:
    # Rounding an int to -10**9 digits would build that power first.
    if abs(digits) > MOST_DIGITS:
        raise ValueError(f"round takes at most {MOST_DIGITS} digits")
    return round(value, digits) if digits else round(value)


def _pct_change(old: float, new: float) -> float:
    if old == 0:
        raise ValueError("pct_change from 0 is not defined")
    return (new - old) / abs(old) * 100


_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: _numeric(operator.add),
    ast.Sub: _numeric(operator.sub),
    ast.Mult: _numeric(operator.mul),
    ast.Div: _numeric(_divide),
    ast.FloorDiv: _numeric(_floor_divide),
    ast.Mod: _numeric(operator.mod),
    ast.Pow: _numeric(_power),
    ast.USub: _numeric(operator.neg),
    ast.UAdd: _numeric(operator.pos),
    ast.Eq: _numeric(operator.eq),
    ast.NotEq: _numeric(operator.ne),
    ast.Lt: _numeric(operator.lt),
    ast.LtE: _numeric(operator.le),
    ast.Gt: _numeric(operator.gt),
    ast.GtE: _numeric(operator.ge),
}

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "min": _of_many(min),
    "max": _of_many(max),
    "sum": _of_many(sum),
    "avg": _of_many(statistics.mean),
    "mean": _of_many(statistics.mean),
    "median": _of_many(statistics.median),
    "stdev": _of_many(statistics.stdev),
    "round": _round,
    "abs": abs,
    "sqrt": math.sqrt,
    "pct_change": _pct_change,
}

_NAMES: Mapping[str, float] = {"pi": math.pi, "e": math.e}
