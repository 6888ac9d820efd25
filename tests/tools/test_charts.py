import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.charts import HEIGHT, WIDTH, draw_chart
from protocol.errors import ToolError

SVG = "{http://www.w3.org/2000/svg}"
ALLOWED = {f"{SVG}{name}" for name in ("svg", "rect", "text", "line", "title", "polyline", "circle")}


def drawn(kind: str, labels: list[str], values: list[float], title: str = "Revenue, EUR") -> ET.Element:
    return ET.fromstring(draw_chart.function(kind, title, labels, values))


def test_a_bar_chart_has_a_bar_for_each_value_as_high_as_it_is() -> None:
    bars = [box for box in drawn("bar", ["a", "b", "c"], [10, 20, -5]).iter(f"{SVG}rect") if len(box)]
    heights = [float(bar.get("height", "")) for bar in bars]
    assert heights[1] == pytest.approx(2 * heights[0], abs=0.2)
    assert heights[2] == pytest.approx(heights[0] / 2, abs=0.2)
    assert [bar[0].text for bar in bars] == ["10", "20", "-5"]


def test_a_line_chart_has_a_point_for_each_value() -> None:
    chart = drawn("line", ["Q1", "Q2"], [1, 3])
    (line,) = chart.iter(f"{SVG}polyline")
    (_, first), (_, second) = (map(float, point.split(",")) for point in line.get("points", "").split())
    assert second < first, "higher values are further up"
    assert {"Revenue, EUR", "Q1", "Q2"} <= {text.text for text in chart.iter(f"{SVG}text")}


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([120.0, -30, 260], ["-100", "0", "100", "200", "300"]),
        ([0.3, 0.7], ["0", "0.2", "0.4", "0.6", "0.8"]),
        ([0.0], ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ([-4.0], ["-4", "-3", "-2", "-1", "0"]),
        ([5_000_000.0], ["0", "1,000,000", "2,000,000", "3,000,000", "4,000,000", "5,000,000"]),
    ],
)
def test_the_scale_has_round_steps_and_a_zero(values: list[float], ticks: list[str]) -> None:
    texts = drawn("bar", [""] * len(values), values).iter(f"{SVG}text")
    assert [text.text for text in texts if text.get("text-anchor") == "end"] == ticks


def test_many_labels_are_thinned_out_so_that_they_can_be_read() -> None:
    names = [f"day {n}" for n in range(200)]
    texts = [text.text for text in drawn("line", names, [1.0] * 200).iter(f"{SVG}text")]
    assert len([text for text in texts if text in names]) == 20


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"labels": ["a"], "values": [1, 2]}, "one label for each value"),
        ({"labels": [], "values": []}, "1 to 200"),
        ({"labels": ["a"] * 201, "values": [1] * 201}, "1 to 200"),
        ({"kind": "pie", "labels": ["a"], "values": [1]}, "Invalid enum value 'pie'"),
        ({"labels": ["a"], "values": [1e305]}, "must be finite"),
    ],
)
async def test_what_cannot_be_drawn_is_refused(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(ToolError, match=reason):
        await draw_chart.call({"kind": "bar", "title": "t"} | arguments)


EVIL = '"/><script>alert(1)</script><a href="javascript:x" onload=\'y\'>&\x00\x0b]]>'


@given(
    st.sampled_from(["bar", "line"]),
    st.lists(st.tuples(st.text(max_size=30) | st.just(EVIL), st.floats(-1e290, 1e290)), min_size=1, max_size=12),
    st.text(max_size=30) | st.just(EVIL),
)
def test_whatever_the_words_and_values_it_is_xml_that_only_draws(
    kind: str, points: list[tuple[str, float]], title: str
) -> None:
    chart = drawn(kind, [label for label, _ in points], [value for _, value in points], title)
    for element in chart.iter():
        assert element.tag in ALLOWED
        assert not [name for name in element.attrib if name.startswith("on") or "href" in name]
        for name, most in (("y", HEIGHT), ("x", WIDTH)):
            assert -1 <= float(element.get(name, "0")) <= most
