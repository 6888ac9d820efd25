"""Charts as SVG text: bars or lines, with nothing in them that could be run."""

import math
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from actors.tools.figures import shown
from actors.tools.tool import tool
from protocol.errors import ToolError

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 40, 60
MOST_VALUES = 200
MOST_LABEL = 24
MOST_LABELS = 20
TICKS = 5
LEAST_SPAN = 1e-200

_COLOUR = "#2b6cb0"
_FONT = 'font-family="sans-serif"'


class Scale(NamedTuple):
    """The span of the values, with 0 in it and a round step, and what it means in points."""

    low: float
    high: float
    step: float

    def height(self, value: float) -> float:
        """Where a value is drawn, from the top."""
        return TOP + (HEIGHT - TOP - BOTTOM) * (self.high - value) / (self.high - self.low)


@tool
def draw_chart(kind: Literal["bar", "line"], title: str, labels: list[str], values: list[float]) -> str:
    """Draw a chart and get it as SVG, to be put into a file or a document as it is.

    Args:
        kind: bar for comparing things, line for a development
        title: what is shown, with its unit
        labels: one for each value, such as the quarters
        values: the figures, in the order of the labels
    """
    if len(labels) != len(values) or not 1 <= len(values) <= MOST_VALUES:
        raise ToolError(f"give one label for each value, 1 to {MOST_VALUES} (got {len(labels)} and {len(values)})")
    if not all(abs(value) < 1e300 for value in values):
        raise ToolError("every value must be finite")
    scale = _scale(values)
    drawn = _bars(values, scale) if kind == "bar" else _line(values, scale)
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label={quoteattr(_clean(title))}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{WIDTH / 2}" y="22" {_FONT} font-size="15" text-anchor="middle">{escape(_clean(title))}</text>',
        *_grid(scale),
        *drawn,
        *_labels(labels),
        "</svg>",
    ]
    return "\n".join(lines)


def _scale(values: Sequence[float]) -> Scale:
    low, high = min(0.0, *values), max(0.0, *values)
    if high - low < LEAST_SPAN:
        low, high = 0.0, 1.0
    size = 10.0 ** math.floor(math.log10((high - low) / TICKS))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor * TICKS >= (high - low) * 0.999)
    return Scale(math.floor(low / step) * step, math.ceil(high / step) * step, step)


def _grid(scale: Scale) -> Iterator[str]:
    for tick in range(round((scale.high - scale.low) / scale.step) + 1):
        value = scale.low + scale.step * tick
        y = scale.height(value)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>'
        yield _text(LEFT - 6, y + 4, _figure(0.0 if abs(value) < scale.step / 2 else value), "end")
    zero = scale.height(0)
    yield f'<line x1="{LEFT}" y1="{zero:.1f}" x2="{WIDTH - RIGHT}" y2="{zero:.1f}" stroke="#333"/>'


def _figure(value: float) -> str:
    return f"{value:,.9g}" if abs(value) < 1e9 else f"{value:.3g}"


def _bars(values: Sequence[float], scale: Scale) -> Iterator[str]:
    width = _step(values) * 0.7
    for place, value in enumerate(values):
        top, bottom = sorted((scale.height(value), scale.height(0)))
        x = _middle(place, values) - width / 2
        box = f'x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{bottom - top:.1f}"'
        yield f'<rect {box} fill="{_COLOUR}"><title>{shown(value)}</title></rect>'


def _line(values: Sequence[float], scale: Scale) -> Iterator[str]:
    points = [(_middle(place, values), scale.height(value)) for place, value in enumerate(values)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    yield f'<polyline points="{path}" fill="none" stroke="{_COLOUR}" stroke-width="2"/>'
    for (x, y), value in zip(points, values, strict=True):
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_COLOUR}"><title>{shown(value)}</title></circle>'


def _labels(labels: Sequence[str]) -> Iterator[str]:
    # Where there are many, only every so-manieth is written, so that none lies over another.
    every = math.ceil(len(labels) / MOST_LABELS)
    slanted = len(labels) > 6 or any(len(label) > 10 for label in labels)
    for place, label in enumerate(labels):
        if place % every == 0:
            x, y = _middle(place, labels), HEIGHT - BOTTOM + 16
            turn = f' transform="rotate(-35 {x:.1f} {y})"' if slanted else ""
            yield _text(x, y, label, "end" if slanted else "middle", turn)


def _step(values: Sequence[object]) -> float:
    return (WIDTH - LEFT - RIGHT) / len(values)


def _middle(place: int, values: Sequence[object]) -> float:
    return LEFT + _step(values) * (place + 0.5)


def _text(x: float, y: float, text: str, anchor: str, turn: str = "") -> str:
    short = _clean(text)
    short = short if len(short) <= MOST_LABEL else f"{short[: MOST_LABEL - 1]}…"
    return f'<text x="{x:.1f}" y="{y:.1f}" {_FONT} font-size="11" text-anchor="{anchor}"{turn}>{escape(short)}</text>'


def _clean(text: str) -> str:
    """One line, without what XML cannot hold."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:200]
