from pathlib import Path

import pytest

from actors.teams.curriculum import tools
from protocol.errors import ToolError
from tests.teams.calling import call, data_of

DATA = data_of("curriculum")


def order(found: str) -> list[str]:
    return [line.split(". ", 1)[1].split(":")[0] for line in found.splitlines() if line[0].isdigit()]


async def test_what_a_topic_needs_is_taught_before_it() -> None:
    found = await call(tools.sequence, DATA, "sequence_topics", "what must be taught to reach Regression")
    assert order(found) == [
        "Spreadsheets",
        "Descriptive statistics",
        "Probability",
        "Python basics",
        "Data cleaning",
        "Regression",
    ]
    assert f"In all {6 + 8 + 8 + 12 + 9 + 12} hours, 10 weeks of 6 hours" in found


async def test_all_topics_are_ordered_where_none_is_named() -> None:
    assert len(order(await call(tools.sequence, DATA, "sequence_topics", "everything"))) == 10


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ("a,b,1,x\nb,a,1,x\n", "a needs b needs a, which is a circle"),
        ("a,c,1,x\n", "a needs 'c', which is not a topic"),
    ],
)
async def test_topics_that_cannot_be_ordered_are_told(tmp_path: Path, rows: str, fault: str) -> None:
    (tmp_path / "topics.csv").write_text("topic,prerequisites,hours,level\n" + rows)
    with pytest.raises(ToolError, match=fault):
        await call(tools.sequence, tmp_path, "sequence_topics", "all")


async def test_an_objective_without_assessment_is_named() -> None:
    found = await call(tools.objectives, DATA, "find_objectives", "objectives of Charts")
    assert "O-06, Charts: Name three ways in which a chart can lie (remember), not assessed [objectives.csv]" in found
    assert "Not assessed: O-06 [objectives.csv]" in found
    assert "O-07" not in found


async def test_every_gap_of_the_course_is_found() -> None:
    found = await call(tools.objectives, DATA, "find_objectives", "all")
    assert "Not assessed: O-06, O-11, O-17 [objectives.csv]" in found


async def test_materials_are_found_by_topic_and_kind() -> None:
    found = await call(tools.materials, DATA, "find_materials", "videos for Charts")
    assert found.splitlines() == [
        "Charts That Lie, video for Charts: 22 minutes, CC BY-NC, free [materials.csv]",
        "Number of materials: 1, cost in all 0 euros per learner [materials.csv]",
    ]


async def test_the_cost_and_the_lack_of_practice_are_told_for_the_whole_course() -> None:
    found = await call(tools.materials, DATA, "find_materials", "everything")
    assert f"Number of materials: 16, cost in all {12 + 24 + 18} euros per learner" in found
    assert "Topics without exercise or data set: Charts, Hypothesis testing, Data ethics [materials.csv]" in found
