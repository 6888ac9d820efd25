import time

import pytest

from actors.tools.differences import diff_texts
from protocol.errors import ToolError


async def test_lines_that_came_and_went_are_shown_with_their_surroundings() -> None:
    told = await diff_texts.call({"before": "a\nb\nc\nd\n", "after": "a\nB\nc\nd\n"})
    assert told.splitlines() == [
        "1 lines came, 1 went.",
        "--- before",
        "+++ after",
        "@@ -1,4 +1,4 @@",
        " a",
        "-b",
        "+B",
        " c",
        " d",
    ]


@pytest.mark.parametrize(
    ("after", "told"), [("a\nb", "The texts are the same."), ("a\r\nb", "The texts differ in line endings only.")]
)
async def test_texts_without_a_difference_are_said_to_be_the_same(after: str, told: str) -> None:
    assert await diff_texts.call({"before": "a\nb", "after": after}) == told


async def test_texts_that_would_take_for_ever_are_refused_and_the_longest_allowed_are_quick() -> None:
    with pytest.raises(ToolError, match="compare parts"):
        await diff_texts.call({"before": "x\n" * 3_001, "after": ""})
    began = time.process_time()
    await diff_texts.call({"before": "x\ny\n" * 1_500, "after": "y\nx\n" * 1_500})
    assert time.process_time() - began < 20
