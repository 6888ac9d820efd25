from pathlib import Path

import pytest

from actors.teams.clinical import tools
from protocol.errors import ToolError
from tests.teams.calling import call, data_of

DATA = data_of("clinical")


@pytest.mark.parametrize("asked", ["Ada Quist", "p-01", "what does quist take"])
async def test_a_chart_is_opened_by_name_or_number(asked: str) -> None:
    found = await call(tools.charts, DATA, "open_chart", asked)
    assert "Ada Quist (P-01), born 1958-04-12, allergies: penicillin" in found
    assert "Ada Quist takes metformin 1000 mg twice a day since 2019-02-01 [medications.csv]" in found
    assert "Bram" not in found


async def test_a_trend_tells_the_last_value_its_range_and_the_change() -> None:
    found = await call(tools.trends, DATA, "trend", "How did the HbA1c of Ada Quist develop?")
    assert found == (
        "Ada Quist, HbA1c: 8.9 % on 2026-03-16, above the range 4 to 7, up by 1.8 from 7.1 on 2025-03-10, 4 values"
        " [measurements.csv, reference_ranges.csv]"
    )


async def test_every_test_of_a_patient_is_shown_where_none_is_named() -> None:
    found = await call(tools.trends, DATA, "trend", "Bram Oyelaran")
    assert [line.split(":")[0] for line in found.splitlines()] == [
        f"Bram Oyelaran, {t}" for t in ("eGFR", "INR", "potassium")
    ]
    assert "measured once" in found.splitlines()[-1]


async def test_a_test_that_a_patient_never_had_is_told() -> None:
    with pytest.raises(ToolError, match="nothing was measured for 'Celia Moreau INR'"):
        await call(tools.trends, DATA, "trend", "Celia Moreau INR")


@pytest.mark.parametrize(
    ("patient", "warning"),
    [
        ("Ada Quist", "allergic to penicillin and takes amoxicillin"),
        ("Bram Oyelaran", "takes warfarin with ibuprofen, serious"),
        ("Bram Oyelaran", "takes metformin with an eGFR of 28 on 2026-04-08: stop below an eGFR of 30"),
        ("Dov Harlan", "takes atorvastatin with clarithromycin, serious"),
        ("Celia Moreau", "no warning among 1 medicines"),
    ],
)
async def test_the_planted_dangers_are_found(patient: str, warning: str) -> None:
    assert warning in await call(tools.safety, DATA, "check_medicines", patient)


async def test_a_patient_without_the_allergy_gets_no_warning_of_it() -> None:
    assert "allergic" not in await call(tools.safety, DATA, "check_medicines", "Bram Oyelaran")


async def test_a_summary_always_ends_with_the_disclaimer() -> None:
    (write,) = tools.summaries(DATA)
    found = await write.call({"title": "Ada Quist", "sections": [{"heading": "Now", "body": "HbA1c 8.9 %."}]})
    assert found.startswith("# Ada Quist\n\n## Now\n\nHbA1c 8.9 %.")
    assert found.rstrip().endswith((DATA / "disclaimer.md").read_text().strip() + " [disclaimer.md]")


async def test_there_is_no_summary_without_the_disclaimer(tmp_path: Path) -> None:
    (write,) = tools.summaries(tmp_path)
    with pytest.raises(ToolError, match="no summary without it"):
        await write.call({"title": "Ada Quist", "sections": [{"heading": "Now", "body": "x"}]})
