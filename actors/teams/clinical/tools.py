"""Tools of the clinical team: charts, trends, medicines that do not go together, and a summary with a disclaimer."""

from pathlib import Path
from typing import NamedTuple

from actors.tools.documents import Section, format_document
from actors.tools.folder import files
from actors.tools.matching import mentioned
from actors.tools.records import Record, read_records
from actors.tools.tool import Tool, tool
from protocol.errors import ToolError

DISCLAIMER = "disclaimer.md"
_MEASURED = ("patient", "date", "test", "value", "unit")


class Series(NamedTuple):
    """The values of one test of one patient, in order of time."""

    patient: str
    test: str
    rows: list[Record]


def charts(folder: Path) -> list[Tool]:
    """`open_chart` over the records of a folder."""

    @tool
    def open_chart(patient: str) -> str:
        """Open the chart of patients: year of birth, allergies, conditions and the medicines taken with their doses.

        Args:
            patient: the name or number of the patient, such as Ada Quist or P-01; all of them if none is named
        """
        return "\n".join(line for one in _patients(folder, patient) for line in _chart(folder, one))

    return [open_chart]


def trends(folder: Path) -> list[Tool]:
    """`trend` over the measurements of a folder."""

    @tool
    def trend(measurement: str) -> str:
        """Work out the trend of lab values and blood pressure: first, last, change, and whether in the normal range.

        Args:
            measurement: the patient and the test, such as Ada Quist HbA1c; all tests of a patient if none is named
        """
        ranges = {
            row["test"]: (row.number("low"), row.number("high"))
            for row in read_records(folder, "reference_ranges.csv", ("test", "low", "high"))
        }
        return "\n".join(_trend(series, ranges) for series in _series(folder, measurement))

    return [trend]


def safety(folder: Path) -> list[Tool]:
    """`check_medicines` over the records of a folder."""

    @tool
    def check_medicines(patient: str) -> str:
        """Check the medicines of patients for allergies, interactions with each other, and limits of the kidneys.

        Args:
            patient: the name or number of the patient, such as Bram Oyelaran; all of them if none is named
        """
        return "\n".join(line for one in _patients(folder, patient) for line in _warnings(folder, one))

    return [check_medicines]


def summaries(folder: Path) -> list[Tool]:
    """`write_summary`, which never leaves out the disclaimer of the folder."""

    @tool
    async def write_summary(title: str, sections: list[Section]) -> str:
        """Lay out a clinical summary as a document; the disclaimer is added at the end by itself.

        Args:
            title: the title, in one line, with the name of the patient
            sections: heading and body of each section in order; bodies are Markdown
        """
        found = next((file for file in files(folder, (".md",)) if file.name == DISCLAIMER), None)
        if found is None:
            raise ToolError(f"there is no {DISCLAIMER} in the data folder, and no summary without it: add it")
        parts = [{"heading": section.heading, "body": section.body} for section in sections]
        closing = {"heading": "Disclaimer", "body": f"{found.text().strip()} [{DISCLAIMER}]"}
        return await format_document.call({"title": title, "sections": [*parts, closing]})

    return [write_summary]


def _patients(folder: Path, text: str) -> list[Record]:
    known = read_records(folder, "patients.csv", ("patient", "id", "born", "allergies", "conditions"))
    named = mentioned(text, [f"{one['patient']} {one['id']}" for one in known])
    numbered = mentioned(text, [one["id"] for one in known])
    chosen = [one for one in known if f"{one['patient']} {one['id']}" in named or one["id"] in numbered]
    return chosen or known


def _chart(folder: Path, patient: Record) -> list[str]:
    name = patient["patient"]
    about = f"allergies: {patient['allergies']}; conditions: {patient['conditions']}"
    lines = [f"{name} ({patient['id']}), born {patient['born']}, {about} [{patient.source}]"]
    return lines + [
        f"{name} takes {row['medicine']} {row['dose']} since {row['since']} [{row.source}]"
        for row in _medicines(folder, name)
    ]


def _medicines(folder: Path, name: str) -> list[Record]:
    rows = read_records(folder, "medications.csv", ("patient", "medicine", "dose", "since", "class"))
    return [row for row in rows if row["patient"] == name]


def _series(folder: Path, text: str) -> list[Series]:
    rows = sorted(read_records(folder, "measurements.csv", _MEASURED), key=lambda row: row["date"])
    tests = list(dict.fromkeys(row["test"] for row in rows))
    named = mentioned(text, tests)
    found = [
        Series(patient["patient"], test, own)
        for patient in _patients(folder, text)
        for test in named or tests
        if (own := [row for row in rows if row["patient"] == patient["patient"] and row["test"] == test])
    ]
    if not found:
        raise ToolError(f"nothing was measured for {text[:200]!r}. The tests are: {', '.join(tests)}")
    return found


def _trend(series: Series, ranges: dict[str, tuple[float, float]]) -> str:
    first, last = series.rows[0], series.rows[-1]
    change = last.number("value") - first.number("value")
    low, high = ranges.get(series.test, (float("-inf"), float("inf")))
    state = "below" if last.number("value") < low else "above" if last.number("value") > high else "within"
    told = f"{series.patient}, {series.test}: {last['value']} {last['unit']} on {last['date']}, {state} the range"
    bounds = f"{low:g} to {high:g}" if series.test in ranges else "that nobody has set"
    moved = (
        "measured once" if len(series.rows) == 1 else f"{_direction(change)} from {first['value']} on {first['date']}"
    )
    return f"{told} {bounds}, {moved}, {len(series.rows)} values [{last.source}, reference_ranges.csv]"


def _direction(change: float) -> str:
    return f"{'up' if change > 0 else 'down'} by {abs(change):.3g}" if change else "unchanged"


def _warnings(folder: Path, patient: Record) -> list[str]:
    name, taken = patient["patient"], _medicines(folder, patient["patient"])
    allergic = {word.strip().lower() for word in patient["allergies"].split(";")}
    lines = [
        f"Warning: {name} is allergic to {row['class']} and takes {row['medicine']} [patients.csv, {row.source}]"
        for row in taken
        if {row["class"].lower(), row["medicine"].lower()} & allergic
    ]
    own = {row["medicine"] for row in taken}
    lines += [
        f"Warning: {name} takes {row['first']} with {row['second']}, {row['severity']}: {row['effect']} [{row.source}]"
        for row in read_records(folder, "interactions.csv", ("first", "second", "severity", "effect"))
        if {row["first"], row["second"]} <= own
    ]
    lines += _kidneys(folder, name, own)
    return lines or [f"{name}: no warning among {len(own)} medicines [medications.csv, interactions.csv]"]


def _kidneys(folder: Path, name: str, own: set[str]) -> list[str]:
    values = [row for row in read_records(folder, "measurements.csv", _MEASURED) if row["patient"] == name]
    measured = sorted((row["date"], row.number("value")) for row in values if row["test"] == "eGFR")
    if not measured:
        return []
    day, latest = measured[-1]
    return [
        f"Warning: {name} takes {row['medicine']} with an eGFR of {latest:g} on {day}: {row['advice']} [{row.source}]"
        for row in read_records(folder, "kidney_limits.csv", ("medicine", "least_egfr", "advice"))
        if row["medicine"] in own and latest < row.number("least_egfr")
    ]
