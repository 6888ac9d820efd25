import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.documents import format_document, make_table
from protocol.errors import ToolError


def section(heading: str, body: str = "Text.") -> dict[str, str]:
    return {"heading": heading, "body": body}


async def test_a_short_document_has_a_title_and_sections() -> None:
    sections = [section("Result", "  It grew.\n\n\n\nA lot.  \n"), section("Sources")]
    assert await format_document.call({"title": "Growth\nin 2025", "sections": sections}) == (
        "# Growth in 2025\n\n## Result\n\nIt grew.\n\nA lot.\n\n## Sources\n\nText.\n"
    )


async def test_more_than_three_sections_get_a_table_of_contents_with_working_anchors() -> None:
    headings = ["What happened?", "Cost", "Cost", "Next: steps"]
    document = await format_document.call({"title": "Report", "sections": [section(heading) for heading in headings]})
    assert document.startswith(
        "# Report\n\n- [What happened?](#what-happened)\n- [Cost](#cost)\n- [Cost](#cost-1)\n"
        "- [Next: steps](#next-steps)\n\n## What happened?\n"
    )
    three = await format_document.call({"title": "Report", "sections": [section(heading) for heading in headings[:3]]})
    assert "](#" not in three


async def test_a_heading_that_is_repeated_in_its_body_appears_once() -> None:
    document = await format_document.call({"title": "# T", "sections": [section("## Cost", "## Cost\n\nHigh.")]})
    assert document == "# T\n\n## Cost\n\nHigh.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        {"title": " ", "sections": [section("A")]},
        {"title": "T", "sections": []},
        {"title": "T", "sections": [section(" # ")]},
        {"title": "T", "sections": [{"heading": "A"}]},
        {"title": "T", "sections": [{"heading": "A", "body": "B", "level": 2}]},
        {"title": "T", "sections": "A"},
    ],
)
async def test_a_document_without_title_sections_or_headings_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ToolError):
        await format_document.call(arguments)


async def test_a_table_is_aligned_with_figures_to_the_right() -> None:
    table = await make_table.call({"columns": ["region", "growth"], "rows": [["Europe", "9%"], ["Asia", "60%"]]})
    assert table == "| region | growth |\n| ------ | -----: |\n| Europe |     9% |\n| Asia   |    60% |\n"


async def test_cells_cannot_break_the_table() -> None:
    table = await make_table.call({"columns": ["a", "b"], "rows": [["x|y", "two\nlines"]]})
    assert table.splitlines()[2] == r"| x\|y | two lines |"


async def test_a_row_of_the_wrong_length_is_named() -> None:
    with pytest.raises(ToolError, match="row 2 has 1 cells, but there are 2 columns"):
        await make_table.call({"columns": ["a", "b"], "rows": [["1", "2"], ["3"]]})
    with pytest.raises(ToolError, match="at least one column"):
        await make_table.call({"columns": [], "rows": []})


@given(st.lists(st.lists(st.text(max_size=12), min_size=2, max_size=2), max_size=6))
def test_a_table_always_has_one_line_per_row(rows: list[list[str]]) -> None:
    table: str = make_table.function(columns=["a", "b"], rows=rows)
    assert len(table.split("\n")) == len(rows) + 3
